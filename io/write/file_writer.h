// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "io/options/option_codec.h"
#include "xshards/execution/fragments/operator_table.h"

namespace xshards::io {

/// Writes the batches of one partition in some format. Used by one thread.
class FileWriter {
 public:
  virtual ~FileWriter() = default;
  /// The batch has the writer's schema, and no dictionaries.
  virtual arrow::Status Write(const arrow::RecordBatch& batch) = 0;
  /// Write the end of the file; the file itself is closed by its owner.
  virtual arrow::Status Finish() = 0;

  /// The bytes buffered in memory that could be written now.
  virtual int64_t held_bytes() const { return 0; }
  /// Write these bytes and free the memory.
  virtual arrow::Status Release() { return arrow::Status::OK(); }
};

/// Starts a file. Invalid names an option that cannot be; TypeError names a column whose
/// type the format cannot hold.
using OpenWriter = std::function<arrow::Result<std::unique_ptr<FileWriter>>(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file,
    const FormatOptionsPointer& options, arrow::MemoryPool* pool)>;

/// The same of a function that takes the options of its format.
template <typename Options>
OpenWriter WithOptions(arrow::Result<std::unique_ptr<FileWriter>> (*open)(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file, const Options& options,
    arrow::MemoryPool* pool)) {
  return [open](const std::shared_ptr<arrow::Schema>& schema,
                const std::shared_ptr<arrow::io::OutputStream>& file,
                const FormatOptionsPointer& options,
                arrow::MemoryPool* pool) -> arrow::Result<std::unique_ptr<FileWriter>> {
    ARROW_ASSIGN_OR_RAISE(const auto typed, OptionsOf<Options>(options));
    ARROW_RETURN_NOT_OK(typed->Validate());
    return open(schema, file, *typed, pool);
  };
}

/// Make the sink that writes a partition to SinkSpec::path, completely or not at all,
/// batch by batch. A partition without rows gives a file with the schema only. With
/// SinkSpec::partition_cols it writes PartitionedFiles instead.
RunSink MakeWriter(OpenWriter open);

}  // namespace xshards::io
