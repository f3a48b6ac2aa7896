// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/compute/exec.h>
#include <arrow/compute/row/grouper.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "io/fs/file_system.h"
#include "io/write/atomic_file.h"
#include "io/write/file_writer.h"

namespace xshards::io {

/// Writes rows to one file per combination of values of some columns, in folders named
/// after these (see HiveFolder). The files do not contain the columns.
class PartitionedFiles {
 public:
  struct Options {
    std::string path;  // of the file; the folders come before its name
    std::vector<std::string> columns;
    FormatOptionsPointer writer_options;
    /// The bytes that all files together may buffer (FileWriter::held_bytes) after a
    /// batch.
    int64_t max_held_bytes = 64LL << 20;
  };
  /// The maximal number of open files.
  static constexpr size_t kMaxFiles = 1000;

  /// KeyError names a missing column; Invalid if no other column is left.
  static arrow::Result<std::unique_ptr<PartitionedFiles>> Make(
      OpenWriter open, Options options, std::shared_ptr<arrow::Schema> schema,
      arrow::MemoryPool* pool);

  /// Invalid if the columns have too many distinct values.
  arrow::Status Write(const arrow::RecordBatch& batch);
  /// Complete all files.
  arrow::Status Finish();
  int64_t num_bytes() const { return num_bytes_; }

 private:
  struct File {
    std::unique_ptr<OutputFile> file;
    std::unique_ptr<FileWriter> writer;
  };

  PartitionedFiles(OpenWriter open, Options options, arrow::MemoryPool* pool);
  arrow::Status OpenFiles();
  arrow::Status BoundHeld();

  const OpenWriter open_;
  const Options options_;
  arrow::MemoryPool* const pool_;
  Location location_;                    // of the path
  arrow::compute::ExecContext context_;  // which the grouper borrows
  std::vector<int> key_indices_;
  std::vector<int> other_indices_;
  std::shared_ptr<arrow::Schema> file_schema_;
  std::unique_ptr<arrow::compute::Grouper> grouper_;
  std::vector<File> files_;  // by the number of their group
  int64_t num_bytes_ = 0;
};

}  // namespace xshards::io
