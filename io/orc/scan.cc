// SPDX-License-Identifier: Apache-2.0
#include "io/orc/scan.h"

#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "io/columnar/group_stream.h"
#include "io/fs/counting_file.h"
#include "io/fs/file_system.h"
#include "io/scan/hive_scan.h"
#include "io/scan/scan_stream.h"

namespace xshards::io {
namespace {

arrow::Result<std::unique_ptr<BatchStream>> OpenOrcSplit(
    const ScanNode& /*scan*/, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(
      auto reader, OpenOrcFile(split.path, &context.metrics->bytes_read, context.pool));
  auto stored = reader->ReadSchema();
  if (!stored.ok()) {
    return WithPath(stored.status(), "Could not read the schema of", split.path);
  }
  std::vector<std::string> columns;
  for (const auto& name : schema->field_names()) {
    if ((*stored)->GetFieldIndex(name) >= 0) columns.push_back(name);
  }
  return MakeGroupStream(
      split,
      [reader = std::move(reader), columns = std::move(columns)](
          int64_t stripe) -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
        // No columns would mean all of them; the footer knows the rows.
        if (!columns.empty()) return reader->ReadStripe(stripe, columns);
        return arrow::RecordBatch::Make(arrow::schema({}),
                                        reader->GetStripeInformation(stripe).num_rows,
                                        arrow::ArrayVector{});
      },
      schema, context);
}

}  // namespace

OpenNode MakeOrcScan() { return MakeScan(WithHiveColumns(OpenOrcSplit)); }

arrow::Result<std::shared_ptr<arrow::adapters::orc::ORCFileReader>> OpenOrcFile(
    const std::string& path, int64_t* bytes_read, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(path));
  auto reader = arrow::adapters::orc::ORCFileReader::Open(
      std::make_shared<CountingFile>(std::move(file), bytes_read), pool);
  if (!reader.ok()) {
    return WithPath(reader.status(),
                    "Expected a whole ORC file (truncated files lack their footer); "
                    "could not open",
                    path);
  }
  return std::shared_ptr(reader.MoveValueUnsafe());
}

}  // namespace xshards::io
