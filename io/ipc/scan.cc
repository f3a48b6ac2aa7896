// SPDX-License-Identifier: Apache-2.0
#include "io/ipc/scan.h"

#include <utility>

#include <arrow/io/file.h>
#include <arrow/ipc/options.h>

#include "io/columnar/group_stream.h"
#include "io/fs/counting_file.h"
#include "io/fs/file_system.h"
#include "io/scan/hive_scan.h"
#include "io/scan/scan_stream.h"

namespace xshards::io {
namespace {

/// Open a file, a local one as memory: columns are then where the file is, not copied.
arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenMapped(
    const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto location, Locate(path));
  if (!location.is_local) return OpenFile(path);
  auto file = arrow::io::MemoryMappedFile::Open(location.path, arrow::io::FileMode::READ);
  if (!file.ok()) return WithPath(file.status(), "Could not open", path);
  return file;
}

arrow::Result<std::unique_ptr<BatchStream>> OpenIpcSplit(
    const ScanNode& /*scan*/, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  int64_t* const bytes_read = &context.metrics->bytes_read;
  ARROW_ASSIGN_OR_RAISE(auto reader,
                        OpenIpcFile(split.path, {}, bytes_read, context.pool));
  std::vector<int> columns;
  for (const auto& name : schema->field_names()) {
    const int index = reader->schema()->GetFieldIndex(name);
    if (index >= 0) columns.push_back(index);
  }
  // No columns would mean all of them; the first is enough to count rows.
  if (columns.empty() && reader->schema()->num_fields() > 0) columns.push_back(0);
  if (static_cast<int>(columns.size()) < reader->schema()->num_fields()) {
    ARROW_ASSIGN_OR_RAISE(
        reader, OpenIpcFile(split.path, std::move(columns), bytes_read, context.pool));
  }
  return MakeGroupStream(
      split,
      [reader = std::move(reader)](int64_t batch) {
        return reader->ReadRecordBatch(static_cast<int>(batch));
      },
      schema, context);
}

}  // namespace

OpenNode MakeIpcScan() { return MakeScan(WithHiveColumns(OpenIpcSplit)); }

arrow::Result<std::shared_ptr<arrow::ipc::RecordBatchFileReader>> OpenIpcFile(
    const std::string& path, std::vector<int> columns, int64_t* bytes_read,
    arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto file, OpenMapped(path));
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = pool;
  options.use_threads = false;
  options.included_fields = std::move(columns);
  auto reader = arrow::ipc::RecordBatchFileReader::Open(
      std::make_shared<CountingFile>(std::move(file), bytes_read), options);
  if (!reader.ok()) {
    return WithPath(reader.status(),
                    "Expected a whole Arrow IPC file (truncated files lack their "
                    "footer); could not open",
                    path);
  }
  return reader;
}

}  // namespace xshards::io
