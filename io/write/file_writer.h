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

#include "io/options/option_map.h"
#include "xshards/execution/operator_table.h"

namespace xshards::io {

/// Writes the batches of one partition in some format. Used by one thread.
class FileWriter {
 public:
  virtual ~FileWriter() = default;
  /// The batch has the writer's schema, and no dictionaries.
  virtual arrow::Status Write(const arrow::RecordBatch& batch) = 0;
  /// Write what comes last; the file itself is closed by its owner.
  virtual arrow::Status Finish() = 0;

  /// The bytes of memory it has for what is not in the file yet and may go there now.
  virtual int64_t held_bytes() const { return 0; }
  /// Write that, and give the memory back.
  virtual arrow::Status Release() { return arrow::Status::OK(); }
};

/// Starts a file. Invalid names an unknown option; TypeError names a column whose type
/// the format cannot hold.
using OpenWriter = std::function<arrow::Result<std::unique_ptr<FileWriter>>(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file, const OptionMap& options,
    arrow::MemoryPool* pool)>;

/// Make the sink that writes a partition to SinkSpec::path, whole or not at all, batch by
/// batch. A partition without rows gives a file with the schema only. With the option
/// `partition_cols`, an encoded list, it writes PartitionedFiles instead.
RunSink MakeWriter(OpenWriter open);

}  // namespace xshards::io
