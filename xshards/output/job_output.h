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

/// What to do if there is output already.
enum class WriteMode : uint8_t { kError, kOverwrite, kAppend };
/// The mode of a name: error, overwrite or append. Invalid names any other.
XSHARDS_EXPORT arrow::Result<WriteMode> WriteModeFromName(const std::string& name);

/// Where the files of a job are written: to a temporary location first, and moved to
/// their final one when all are complete. Existing output stays unchanged until then,
/// even if the process is killed. Unpublished files are removed with the object. Used by
/// one thread.
class XSHARDS_EXPORT JobOutput {
 public:
  JobOutput() = default;
  virtual ~JobOutput() = default;
  JobOutput(const JobOutput&) = delete;
  JobOutput& operator=(const JobOutput&) = delete;

  /// The path or URI to write a file to. Names may have folders: "k=1/part-00000.csv".
  virtual std::string StagedPath(const std::string& name) = 0;
  /// Remove the files written so far.
  virtual arrow::Status ClearStaging() = 0;
  /// The names of all files written so far, sorted.
  virtual arrow::Result<std::vector<std::string>> ListStaged() const = 0;
  /// Move the files, named part-N, to their final location; returns their paths there.
  virtual arrow::Result<std::vector<std::string>> Publish(
      const std::vector<std::string>& names) = 0;
};

/// Starts an output. IOError if the path is a file, cannot be written, or contains files
/// and the mode is kError.
using OpenOutput = std::function<arrow::Result<std::unique_ptr<JobOutput>>(
    const std::string& path, WriteMode mode)>;

}  // namespace xshards
