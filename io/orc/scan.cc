// SPDX-License-Identifier: Apache-2.0
#include "io/orc/scan.h"

#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include "io/columnar/group_splits.h"
#include "io/columnar/group_stream.h"
#include "io/fs/bounded_file.h"
#include "io/fs/file_system.h"
#include "io/scan/hive_scan.h"
#include "io/scan/scan_stream.h"
#include "xshards/catch_exceptions.h"

namespace xshards::io {
namespace {

using arrow::adapters::orc::ORCFileReader;

// A stripe may say that it has any number of rows: memory is for those of one batch.
constexpr int64_t kOrcBatchRows = 64LL << 10;

arrow::Result<std::shared_ptr<ORCFileReader>> OpenReader(
    std::shared_ptr<BoundedFile> file, const std::string& path, arrow::MemoryPool* pool) {
  auto reader = CatchExceptions(
      "Reading an ORC file", [&] { return ORCFileReader::Open(std::move(file), pool); });
  if (!reader.ok()) {
    return WithPath(reader.status(),
                    "Expected a complete ORC file (truncated files lack their footer); "
                    "could not open",
                    path);
  }
  return std::shared_ptr(reader.MoveValueUnsafe());
}

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> ReadOrcStripe(
    ORCFileReader& reader, int64_t stripe, const std::vector<int>& columns) {
  const auto information = reader.GetStripeInformation(stripe);
  // An empty list would mean all columns; the footer has the number of rows.
  if (columns.empty() || information.num_rows == 0) {
    const auto none = arrow::schema({});
    return arrow::RecordBatchReader::Make(
        {arrow::RecordBatch::Make(none, information.num_rows, arrow::ArrayVector{})},
        none);
  }
  ARROW_RETURN_NOT_OK(reader.Seek(information.first_row_id));
  ARROW_ASSIGN_OR_RAISE(auto batches, reader.NextStripeReader(kOrcBatchRows, columns));
  if (batches == nullptr) {
    return arrow::Status::Invalid("Stripe ", stripe, " has no rows to read");
  }
  return batches;
}

arrow::Result<std::unique_ptr<BatchStream>> OpenOrcSplit(
    const ScanNode& /*scan*/, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(
      auto file, BoundedFile::Open(split, context.pool, &context.metrics->bytes_read));
  ARROW_ASSIGN_OR_RAISE(auto reader,
                        OpenReader(std::move(file), split.path, context.pool));
  ARROW_RETURN_NOT_OK(CheckGroups(split, reader->NumberOfStripes()));
  auto stored =
      CatchExceptions("Reading an ORC file", [&] { return reader->ReadSchema(); });
  if (!stored.ok()) {
    return WithPath(stored.status(), "Could not read the schema of", split.path);
  }
  std::vector<int> columns;
  for (const auto& name : schema->field_names()) {
    const int index = (*stored)->GetFieldIndex(name);
    if (index >= 0) columns.push_back(index);
  }
  return MakeGroupStream(
      split,
      [reader = std::move(reader), columns = std::move(columns)](int64_t stripe) {
        return ReadOrcStripe(*reader, stripe, columns);
      },
      schema, context);
}

}  // namespace

OpenNode MakeOrcScan() { return MakeScan(WithHiveColumns(OpenOrcSplit)); }

arrow::Result<std::shared_ptr<ORCFileReader>> OpenOrcFile(const std::string& path,
                                                          arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto file, BoundedFile::Open(path, pool));
  return OpenReader(std::move(file), path, pool);
}

}  // namespace xshards::io
