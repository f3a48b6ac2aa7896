// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "xshards/export.h"

namespace xshards {

/// What to do where there is output already.
enum class WriteMode : uint8_t { kError, kOverwrite, kAppend };
/// The mode of a name: error, overwrite or append. Invalid names any other.
XSHARDS_EXPORT arrow::Result<WriteMode> WriteModeFromName(const std::string& name);

/// A directory that is filled aside and appears whole, or not at all. What it held before
/// stays as it is until then, also if the process is killed.
class XSHARDS_EXPORT OutputDirectory {
 public:
  /// IOError if the path is a file, cannot be written, or holds files already and the
  /// mode does not say what to do with them.
  static arrow::Result<std::unique_ptr<OutputDirectory>> Make(
      const std::string& path, WriteMode mode = WriteMode::kError);
  /// Removes what was not published.
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;

  /// Where to write the files.
  const std::string& staging() const { return staging_; }
  /// Remove what was written so far.
  arrow::Status ClearStaging();
  /// All files there, in folders too, by name.
  arrow::Result<std::vector<std::string>> ListStaged() const;
  /// Move the files to their place; returns their paths there. All appear at once, and
  /// what is overwritten goes at the same time; appended files, named part-N, are
  /// numbered on from those there and appear one by one.
  arrow::Result<std::vector<std::string>> Publish(const std::vector<std::string>& staged);

 private:
  OutputDirectory(std::string path, std::string staging, WriteMode mode);
  arrow::Status Replace();
  arrow::Result<std::vector<std::string>> Append(const std::vector<std::string>& staged);
  arrow::Result<std::string> AppendFile(const std::string& from, int64_t first);

  const std::string path_;
  const std::string staging_;
  const WriteMode mode_;
};

}  // namespace xshards
