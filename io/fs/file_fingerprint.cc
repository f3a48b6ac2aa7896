// SPDX-License-Identifier: Apache-2.0
#include "io/fs/file_fingerprint.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/stat.h>
#include <thread>

#include <arrow/io/file.h>
#include <arrow/util/io_util.h>
#include <arrow/util/key_value_metadata.h>
#include <arrow/util/value_parsing.h>

#include "io/fs/file_system.h"

namespace xshards::io {
namespace {

constexpr int64_t kNanoseconds = 1000000000;

struct FileState {
  int64_t num_bytes = 0;
  std::optional<int64_t> modified;  // in nanoseconds
  bool has_whole_seconds = false;
};

arrow::Result<FileState> StateOfLocal(const arrow::io::ReadableFile& file) {
  struct stat found{};
  if (fstat(file.file_descriptor(), &found) != 0) {
    return arrow::internal::IOErrorFromErrno(errno, "Could not stat the open file");
  }
  return FileState{
      .num_bytes = found.st_size,
      .modified = found.st_mtim.tv_sec * kNanoseconds + found.st_mtim.tv_nsec};
}

// The value that S3 returned when the file was opened.
arrow::Result<FileState> StateOfRemote(arrow::io::RandomAccessFile& file) {
  FileState state{.has_whole_seconds = true};
  ARROW_ASSIGN_OR_RAISE(state.num_bytes, file.GetSize());
  ARROW_ASSIGN_OR_RAISE(const auto metadata, file.ReadMetadata());
  const int at = metadata == nullptr ? -1 : metadata->FindKey("Last-Modified");
  if (at < 0) return state;
  const std::string& text = metadata->value(at);
  int64_t seconds = 0;
  bool has_zone = false;
  const auto parser = arrow::TimestampParser::MakeISO8601();
  if ((*parser)(text.data(), text.size(), arrow::TimeUnit::SECOND, &seconds, &has_zone)) {
    state.modified = seconds * kNanoseconds;
  }
  return state;
}

arrow::Result<FileState> StateOf(arrow::io::RandomAccessFile& file) {
  const auto* local = dynamic_cast<const arrow::io::ReadableFile*>(&file);
  return local == nullptr ? StateOfRemote(file) : StateOfLocal(*local);
}

bool IsSameTime(int64_t noted, const FileState& now) {
  if (noted < 0 || !now.modified.has_value()) return true;
  return now.has_whole_seconds ? noted / kNanoseconds == *now.modified / kNanoseconds
                               : noted == *now.modified;
}

// The state of a file being read. A write sets the mtime of a local file before its size:
// a file with a new mtime and its old size may be about to grow, so it is polled for a
// while.
arrow::Result<FileState> SettledState(const Split& split,
                                      arrow::io::RandomAccessFile& file) {
  constexpr auto kPause = std::chrono::milliseconds(1);
  constexpr int kMaxPauses = 50;
  for (int i = 0;; ++i) {
    ARROW_ASSIGN_OR_RAISE(const FileState now, StateOf(file));
    const bool is_settled = now.has_whole_seconds || now.num_bytes != split.file_bytes ||
                            IsSameTime(split.file_modified, now);
    if (is_settled || i == kMaxPauses) return now;
    std::this_thread::sleep_for(kPause);
  }
}

// FNV-1a.
uint64_t HashOn(uint64_t hash, std::span<const uint8_t> bytes) {
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

// A hash of samples of the first `num_bytes` of a file: its beginning, its end, and some
// between, more in a larger file. No hash if the file has fewer bytes.
arrow::Result<std::optional<uint64_t>> Fingerprint(arrow::io::RandomAccessFile& file,
                                                   int64_t num_bytes) {
  constexpr int64_t kPieceBytes = 512;
  constexpr int64_t kBytesPerPiece = 4LL << 20;
  constexpr int64_t kMinSteps = 4;
  constexpr int64_t kMaxSteps = 16;
  uint64_t hash = 0xcbf29ce484222325;
  const int64_t last = std::max<int64_t>(num_bytes - kPieceBytes, 0);
  const int64_t num_steps = std::clamp(last / kBytesPerPiece, kMinSteps, kMaxSteps);
  std::array<uint8_t, kPieceBytes> piece{};
  for (int64_t i = 0; i <= num_steps; ++i) {
    const int64_t at = i == num_steps ? last : last / num_steps * i;
    const int64_t wanted = std::min(kPieceBytes, num_bytes - at);
    ARROW_ASSIGN_OR_RAISE(const int64_t got, file.ReadAt(at, wanted, piece.data()));
    if (got < wanted) return std::nullopt;
    hash = HashOn(hash, std::span(piece).first(static_cast<size_t>(got)));
  }
  // 0 means no hash.
  return std::max<uint64_t>(hash, 1);
}

arrow::Status TakeFingerprint(arrow::io::RandomAccessFile& open, InputFile* file) {
  ARROW_ASSIGN_OR_RAISE(const FileState now, StateOf(open));
  ARROW_ASSIGN_OR_RAISE(const auto fingerprint, Fingerprint(open, now.num_bytes));
  if (!fingerprint.has_value()) {
    return arrow::Status::IOError("Expected ", now.num_bytes,
                                  " bytes; the file was truncated while it was read");
  }
  file->size = now.num_bytes;
  file->modified = now.modified.value_or(-1);
  file->fingerprint = *fingerprint;
  return arrow::Status::OK();
}

// Whether a file still begins with the bytes it had when its fingerprint was taken.
arrow::Result<bool> HasFingerprint(const Split& split,
                                   arrow::io::RandomAccessFile& file) {
  if (split.file_fingerprint == 0) return false;
  ARROW_ASSIGN_OR_RAISE(const auto found, Fingerprint(file, split.file_bytes));
  return found == split.file_fingerprint;
}

}  // namespace

arrow::Status TakeFingerprints(std::vector<InputFile>* files) {
  for (auto& file : *files) {
    if (!IsLocal(file.path)) continue;
    ARROW_ASSIGN_OR_RAISE(const auto open, OpenFile(file.path));
    const auto status = TakeFingerprint(*open, &file);
    if (!status.ok()) return WithPath(status, "Could not read", file.path);
  }
  return arrow::Status::OK();
}

void NoteFileState(const InputFile& file, Split* split) {
  split->file_bytes = file.size;
  split->file_modified = file.modified;
  split->file_fingerprint = file.fingerprint;
}

arrow::Status CheckUnchanged(const Split& split, arrow::io::RandomAccessFile& file,
                             MayGrow may_grow) {
  if (split.file_bytes < 0) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const FileState now, SettledState(split, file));
  const bool is_same_size = split.file_bytes == now.num_bytes;
  if (is_same_size && IsSameTime(split.file_modified, now)) return arrow::Status::OK();
  if (may_grow == MayGrow::kYes && now.num_bytes > split.file_bytes) {
    ARROW_ASSIGN_OR_RAISE(const bool has_grown, HasFingerprint(split, file));
    if (has_grown) return arrow::Status::OK();
  }
  const std::string expected =
      std::string("Expected the file to be unchanged since its scan was planned, ") +
      (may_grow == MayGrow::kYes ? "or only appended to, " : "") +
      "but it has changed since; to read its current contents, call the reader again "
      "(read_csv, read_parquet, ...). ";
  if (is_same_size) return arrow::Status::IOError(expected, "It was modified");
  return arrow::Status::IOError(expected, "It had ", split.file_bytes,
                                " bytes, and now has ", now.num_bytes);
}

}  // namespace xshards::io
