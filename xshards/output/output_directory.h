// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "xshards/export.h"
#include "xshards/output/job_output.h"

namespace xshards {

/// A directory that is written to a temporary name and appears complete, or not at all.
/// All files appear at once, replacing overwritten ones at the same time; appended files
/// continue the existing numbering and appear one by one. What replaces a directory or a
/// file of the same name has its permissions; what is new has those that the umask
/// allows. If the path is a symbolic link, its target is replaced.
class XSHARDS_EXPORT OutputDirectory : public JobOutput {
 public:
  /// See OpenOutput.
  static arrow::Result<std::unique_ptr<OutputDirectory>> Make(
      const std::string& path, WriteMode mode = WriteMode::kError);
  ~OutputDirectory() override;

  std::string StagedPath(const std::string& name) override;
  arrow::Status ClearStaging() override;
  arrow::Result<std::vector<std::string>> ListStaged() const override;
  arrow::Result<std::vector<std::string>> Publish(
      const std::vector<std::string>& names) override;

 private:
  OutputDirectory(std::string path, std::string target, std::string staging,
                  WriteMode mode);
  arrow::Status Replace();
  arrow::Result<std::vector<std::string>> Append(const std::vector<std::string>& names);
  arrow::Result<std::string> AppendFile(const std::string& name, int64_t first);

  const std::string path_;    // as given
  const std::string target_;  // where its symbolic links lead
  const std::string staging_;
  const WriteMode mode_;
};

}  // namespace xshards
