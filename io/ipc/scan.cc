// SPDX-License-Identifier: Apache-2.0
#include "io/ipc/scan.h"

#include <utility>

#include <arrow/ipc/options.h>

#include "io/columnar/group_splits.h"
#include "io/columnar/group_stream.h"
#include "io/fs/bounded_file.h"
#include "io/fs/file_system.h"
#include "io/scan/hive_scan.h"
#include "io/scan/scan_stream.h"
#include "xshards/catch_exceptions.h"

namespace xshards::io {
namespace {

arrow::Result<std::shared_ptr<arrow::ipc::RecordBatchFileReader>> OpenReader(
    std::shared_ptr<BoundedFile> file, const std::string& path, std::vector<int> columns,
    arrow::MemoryPool* pool) {
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = pool;
  options.use_threads = false;
  options.included_fields = std::move(columns);
  auto reader = CatchExceptions("Reading an IPC file", [&] {
    return arrow::ipc::RecordBatchFileReader::Open(std::move(file), options);
  });
  if (!reader.ok()) {
    return WithPath(reader.status(),
                    "Expected a complete Arrow IPC file (truncated files lack their "
                    "footer); could not open",
                    path);
  }
  return reader;
}

arrow::Result<std::unique_ptr<BatchStream>> OpenIpcSplit(
    const ScanNode& /*scan*/, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(const auto file, BoundedFile::Open(split, context.pool,
                                                           &context.metrics->bytes_read));
  ARROW_ASSIGN_OR_RAISE(auto reader, OpenReader(file, split.path, {}, context.pool));
  std::vector<int> columns;
  for (const auto& name : schema->field_names()) {
    const int index = reader->schema()->GetFieldIndex(name);
    if (index >= 0) columns.push_back(index);
  }
  // An empty list would mean all columns; the first is enough to count rows.
  if (columns.empty() && reader->schema()->num_fields() > 0) columns.push_back(0);
  if (static_cast<int>(columns.size()) < reader->schema()->num_fields()) {
    ARROW_ASSIGN_OR_RAISE(reader,
                          OpenReader(file, split.path, std::move(columns), context.pool));
  }
  ARROW_RETURN_NOT_OK(CheckGroups(split, reader->num_record_batches()));
  return MakeGroupStream(
      split,
      [reader = std::move(reader)](
          int64_t index) -> arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> {
        ARROW_ASSIGN_OR_RAISE(auto batch,
                              reader->ReadRecordBatch(static_cast<int>(index)));
        return arrow::RecordBatchReader::Make({batch}, batch->schema());
      },
      schema, context);
}

}  // namespace

OpenNode MakeIpcScan() { return MakeScan(WithHiveColumns(OpenIpcSplit)); }

arrow::Result<std::shared_ptr<arrow::ipc::RecordBatchFileReader>> OpenIpcFile(
    const std::string& path, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto file, BoundedFile::Open(path, pool));
  return OpenReader(std::move(file), path, {}, pool);
}

}  // namespace xshards::io
