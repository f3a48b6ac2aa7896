// SPDX-License-Identifier: Apache-2.0
#include "io/file_changes.h"

#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>

#include <arrow/io/file.h>
#include <arrow/util/io_util.h>
#include <arrow/util/key_value_metadata.h>
#include <arrow/util/value_parsing.h>

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
    return arrow::internal::IOErrorFromErrno(errno, "Could not look at the open file");
  }
  return FileState{
      .num_bytes = found.st_size,
      .modified = found.st_mtim.tv_sec * kNanoseconds + found.st_mtim.tv_nsec};
}

// What S3 told when the file was opened.
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

}  // namespace

void NoteFileState(const InputFile& file, Split* split) {
  split->file_bytes = file.size;
  split->file_modified = file.modified;
}

arrow::Status CheckUnchanged(const Split& split, arrow::io::RandomAccessFile& file) {
  if (split.file_bytes < 0) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const FileState now, StateOf(file));
  const bool is_same_size = split.file_bytes == now.num_bytes;
  if (is_same_size && IsSameTime(split.file_modified, now)) return arrow::Status::OK();
  constexpr char kExpected[] =
      "Expected the file as it was when its reading was planned, but it was changed "
      "since; to read it as it is now, call the reader again (read_csv, read_json). ";
  if (is_same_size) return arrow::Status::IOError(kExpected, "It was written to");
  return arrow::Status::IOError(kExpected, "It had ", split.file_bytes,
                                " bytes, and now has ", now.num_bytes);
}

}  // namespace xshards::io
