// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "xshards/export.h"

namespace xshards {

/// A directory that is filled aside and appears whole, or not at all.
class XSHARDS_EXPORT OutputDirectory {
 public:
  /// IOError if the path is a file, cannot be written, or holds files already: output of
  /// two runs must not mix.
  static arrow::Result<std::unique_ptr<OutputDirectory>> Make(const std::string& path);
  /// Removes what was not published.
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;

  /// Where to write the files.
  const std::string& staging() const { return staging_; }
  /// Move the files to their place; returns their paths there.
  arrow::Result<std::vector<std::string>> Publish(const std::vector<std::string>& staged);

 private:
  OutputDirectory(std::string path, std::string staging);

  const std::string path_;
  const std::string staging_;
};

}  // namespace xshards
