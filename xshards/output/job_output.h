// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "xshards/export.h"

namespace xshards {

/// What to do where there is output already.
enum class WriteMode : uint8_t { kError, kOverwrite, kAppend };
/// The mode of a name: error, overwrite or append. Invalid names any other.
XSHARDS_EXPORT arrow::Result<WriteMode> WriteModeFromName(const std::string& name);

/// Where the files of a job go: aside first, and to their place when all are written.
/// What was there before stays as it is until then, also if the process is killed. What
/// was not published is removed with the object. Used by one thread.
class XSHARDS_EXPORT JobOutput {
 public:
  JobOutput() = default;
  virtual ~JobOutput() = default;
  JobOutput(const JobOutput&) = delete;
  JobOutput& operator=(const JobOutput&) = delete;

  /// The path or URI to write a file to. Names may have folders: "k=1/part-00000.csv".
  virtual std::string StagedPath(const std::string& name) = 0;
  /// Remove what was written so far.
  virtual arrow::Status ClearStaging() = 0;
  /// The names of all files written so far, sorted.
  virtual arrow::Result<std::vector<std::string>> ListStaged() const = 0;
  /// Bring the files, named part-N, to their place; returns their paths there.
  virtual arrow::Result<std::vector<std::string>> Publish(
      const std::vector<std::string>& names) = 0;
};

/// Starts an output. IOError if the path is a file, cannot be written, or holds files
/// already and the mode does not say what to do with them.
using OpenOutput = std::function<arrow::Result<std::unique_ptr<JobOutput>>(
    const std::string& path, WriteMode mode)>;

}  // namespace xshards
