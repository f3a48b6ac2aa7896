// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "io/fs/file_system.h"

namespace xshards::io {

/// A file that appears at its path complete or not at all: it is written in the same
/// folder under a hidden name, and renamed when complete. An existing file is replaced.
/// Remote files are written in place: a JobOutput stages them, and objects appear only
/// when complete. Compressed according to the name: .gz, .bz2, .zst, .lz4.
class OutputFile {
 public:
  /// The folder must exist. Errors name `path`.
  static arrow::Result<std::unique_ptr<OutputFile>> Open(const std::string& path);
  /// The same with a known file system; `path` is for messages.
  static arrow::Result<std::unique_ptr<OutputFile>> Open(const std::string& path,
                                                         Location location);
  /// Removes the hidden file unless it was completed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::shared_ptr<arrow::io::OutputStream>& stream() const { return stream_; }
  /// Close the file and rename it to its final name.
  arrow::Status Complete();
  /// Remove the written file; returns `cause` with the file's name and failures to remove
  /// it.
  arrow::Status Abandon(const arrow::Status& cause);

 private:
  OutputFile(std::string path, Location location, std::string hidden);
  // Returns what failed, for the message.
  std::string Remove();

  const std::string path_;
  const Location location_;
  const std::string hidden_;
  std::shared_ptr<arrow::io::OutputStream> file_;
  std::shared_ptr<arrow::io::OutputStream> stream_;  // compresses into file_, or is file_
  bool done_ = false;
};

/// Fills a file that has been opened for writing; need not close it.
using FillFile =
    std::function<arrow::Status(const std::shared_ptr<arrow::io::OutputStream>& file)>;

/// Write an OutputFile; on failure it is removed and the error names `path`.
arrow::Status WriteWholeFile(const std::string& path, const FillFile& fill);

}  // namespace xshards::io
