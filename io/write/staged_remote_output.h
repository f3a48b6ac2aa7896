// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/filesystem/filesystem.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "io/fs/file_system.h"
#include "xshards/output/job_output.h"

namespace xshards::io {

/// The output of a job in a file system where a folder cannot be renamed at once, such as
/// S3. Files are written below the output, in a folder that readers skip, and copied from
/// there to unique names, so that nothing is ever overwritten; then the files they
/// replace are removed. Appended files continue the existing numbering.
class RemoteOutput : public JobOutput {
 public:
  /// `location` is that of `uri`. See OpenOutput.
  static arrow::Result<std::unique_ptr<RemoteOutput>> Make(const std::string& uri,
                                                           Location location,
                                                           WriteMode mode);
  ~RemoteOutput() override;

  std::string StagedPath(const std::string& name) override;
  arrow::Status ClearStaging() override;
  arrow::Result<std::vector<std::string>> ListStaged() const override;
  arrow::Result<std::vector<std::string>> Publish(
      const std::vector<std::string>& names) override;

 private:
  RemoteOutput(std::string uri, Location location, WriteMode mode, std::string id);
  arrow::Result<std::vector<std::string>> ListBelow(const std::string& folder) const;
  arrow::Result<std::vector<std::string>> ListOutput() const;
  arrow::Status CheckEmpty(const std::vector<std::string>& names) const;
  arrow::Status Show(const std::vector<std::string>& names,
                     const std::vector<std::string>& shown);
  arrow::Status Remove(const std::vector<std::string>& names,
                       const std::vector<std::string>& kept);

  const std::string uri_;
  const Location location_;
  const WriteMode mode_;
  const std::string id_;       // unique to this job
  const std::string staging_;  // in the file system's terms
  std::string staging_uri_;
  bool has_staged_ = false;
};

/// Make the output of a job at a path, or at a URI of any file system.
arrow::Result<std::unique_ptr<JobOutput>> MakeOutput(const std::string& path,
                                                     WriteMode mode);

}  // namespace xshards::io
