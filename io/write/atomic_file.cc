// SPDX-License-Identifier: Apache-2.0
#include "io/write/atomic_file.h"

#include <cstring>
#include <random>
#include <unistd.h>
#include <utility>

#include <arrow/io/compressed.h>
#include <arrow/util/compression.h>
#include <arrow/util/io_util.h>

#include "io/text/text_input.h"

namespace xshards::io {
namespace {

// Two writers of the same file, in any processes, must not collide.
std::string HiddenName(const std::string& path) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::random_device random;
  std::string suffix = std::to_string(getpid()) + "-";
  for (int i = 0; i < 8; ++i) suffix += kDigits[random() % 16];
  const size_t slash = path.rfind('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, name) + "." + path.substr(name) + ".tmp-" + suffix;
}

// Arrow uploads in the background without a limit: this waits for it regularly, otherwise
// a file written faster than it is uploaded would be held in memory.
class PacedStream : public arrow::io::OutputStream {
 public:
  explicit PacedStream(std::shared_ptr<arrow::io::OutputStream> file)
      : file_(std::move(file)) {}

  arrow::Status Close() override { return file_->Close(); }
  arrow::Status Abort() override { return file_->Abort(); }
  bool closed() const override { return file_->closed(); }
  arrow::Result<int64_t> Tell() const override { return file_->Tell(); }
  arrow::Status Flush() override { return file_->Flush(); }

  arrow::Status Write(const void* data, int64_t num_bytes) override {
    ARROW_RETURN_NOT_OK(file_->Write(data, num_bytes));
    return Pace(num_bytes);
  }
  arrow::Status Write(const std::shared_ptr<arrow::Buffer>& data) override {
    ARROW_RETURN_NOT_OK(file_->Write(data));
    return Pace(data->size());
  }

 private:
  static constexpr int64_t kMaxUnderway = 32LL << 20;

  arrow::Status Pace(int64_t num_bytes) {
    underway_ += num_bytes;
    if (underway_ < kMaxUnderway) return arrow::Status::OK();
    underway_ = 0;
    return file_->Flush();
  }

  const std::shared_ptr<arrow::io::OutputStream> file_;
  int64_t underway_ = 0;
};

arrow::Result<std::shared_ptr<arrow::io::OutputStream>> Compress(
    const std::string& path, const std::shared_ptr<arrow::io::OutputStream>& file) {
  if (!IsCompressed(path)) return file;
  ARROW_ASSIGN_OR_RAISE(auto codec, MakeCodec(CompressionOf(path)));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::io::OutputStream> stream,
                        arrow::io::CompressedOutputStream::Make(codec.get(), file));
  // The deleter keeps the codec alive: the stream only borrows it.
  return std::shared_ptr<arrow::io::OutputStream>(
      stream.get(), [stream, kept = std::move(codec)](arrow::io::OutputStream*) mutable {
        stream.reset();
      });
}

}  // namespace

OutputFile::OutputFile(std::string path, Location location, std::string hidden)
    : path_(std::move(path)),
      location_(std::move(location)),
      hidden_(std::move(hidden)) {}

OutputFile::~OutputFile() {
  if (!done_) Remove();  // a failure cannot be reported here
}

arrow::Result<std::unique_ptr<OutputFile>> OutputFile::Open(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto location, Locate(path));
  return Open(path, std::move(location));
}

arrow::Result<std::unique_ptr<OutputFile>> OutputFile::Open(const std::string& path,
                                                            Location location) {
  std::string hidden = location.is_local ? HiddenName(location.path) : location.path;
  auto file = location.file_system->OpenOutputStream(hidden);
  if (!file.ok()) return WithPath(file.status(), "Could not write", path);
  std::unique_ptr<OutputFile> made(
      new OutputFile(path, std::move(location), std::move(hidden)));
  made->file_ = file.MoveValueUnsafe();
  if (!made->location_.is_local) {
    made->file_ = std::make_shared<PacedStream>(std::move(made->file_));
  }
  auto stream = Compress(made->location_.path, made->file_);
  if (!stream.ok()) return made->Abandon(stream.status());
  made->stream_ = stream.MoveValueUnsafe();
  return made;
}

arrow::Status OutputFile::Complete() {
  auto status = stream_->Close();
  if (status.ok() && !file_->closed()) status = file_->Close();
  if (status.ok() && hidden_ != location_.path) {
    status = location_.file_system->Move(hidden_, location_.path);
  }
  if (!status.ok()) return Abandon(status);
  done_ = true;
  return status;
}

arrow::Status OutputFile::Abandon(const arrow::Status& cause) {
  const std::string also = Remove();  // but the first error is reported
  const int code = arrow::internal::ErrnoFromStatus(cause);
  const std::string reason = code == 0 ? "" : std::string(": ") + std::strerror(code);
  return WithPath(cause.WithMessage(cause.message(), reason), "Could not write" + also,
                  path_);
}

std::string OutputFile::Remove() {
  done_ = true;
  if (!file_->closed() && !file_->Abort().ok()) return " (and could not close it)";
  if (hidden_ == location_.path) return "";  // gone with all of its JobOutput
  if (!location_.file_system->DeleteFile(hidden_).ok()) {
    return " (and could not remove '" + hidden_ + "')";
  }
  return "";
}

arrow::Status WriteWholeFile(const std::string& path, const FillFile& fill) {
  ARROW_ASSIGN_OR_RAISE(const auto file, OutputFile::Open(path));
  const auto status = fill(file->stream());
  return status.ok() ? file->Complete() : file->Abandon(status);
}

}  // namespace xshards::io
