// SPDX-License-Identifier: Apache-2.0
#include "io/ipc_scan.h"

#include <algorithm>
#include <utility>

#include <arrow/ipc/options.h>

#include "io/counting_file.h"
#include "io/file_system.h"
#include "io/hive_scan.h"
#include "io/scan_stream.h"
#include "xshards/conform.h"

namespace xshards::io {
namespace {

class IpcSplitStream final : public BatchStream {
 public:
  IpcSplitStream(std::shared_ptr<arrow::ipc::RecordBatchFileReader> reader,
                 const Split& split, std::shared_ptr<arrow::Schema> schema,
                 OperatorContext& context)
      : path_(split.path),
        reader_(std::move(reader)),
        schema_(std::move(schema)),
        context_(context),
        next_batch_(static_cast<int>(split.begin)),
        end_batch_(static_cast<int>(split.end)) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    // A batch in the file may be of any size: it is given in slices.
    while (current_ == nullptr || position_ == current_->num_rows()) {
      if (next_batch_ == end_batch_) return nullptr;
      auto read = reader_->ReadRecordBatch(next_batch_++);
      if (!read.ok()) return WithPath(read.status(), "Could not read", path_);
      auto batch = Conform(read.MoveValueUnsafe(), schema_, context_.pool);
      if (!batch.ok()) return WithPath(batch.status(), "Could not read", path_);
      current_ = batch.MoveValueUnsafe();
      position_ = 0;
      slice_rows_ = SliceRows(*current_);
    }
    auto slice = current_->Slice(position_, slice_rows_);
    position_ += slice->num_rows();
    return slice;
  }

 private:
  int64_t SliceRows(const arrow::RecordBatch& batch) const {
    int64_t num_bytes = 0;
    for (const auto& column : batch.column_data()) {
      for (const auto& buffer : column->buffers) {
        num_bytes += buffer == nullptr ? 0 : buffer->size();
      }
    }
    const int64_t num_slices = num_bytes / context_.batch_bytes + 1;
    return std::max<int64_t>(1, (batch.num_rows() + num_slices - 1) / num_slices);
  }

  const std::string path_;
  const std::shared_ptr<arrow::ipc::RecordBatchFileReader> reader_;
  const std::shared_ptr<arrow::Schema> schema_;
  OperatorContext& context_;
  int next_batch_;
  const int end_batch_;
  std::shared_ptr<arrow::RecordBatch> current_;
  int64_t position_ = 0;    // of the next slice in current_
  int64_t slice_rows_ = 0;  // of current_
};

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
  return std::make_unique<IpcSplitStream>(std::move(reader), split, schema, context);
}

}  // namespace

OpenNode MakeIpcScan() { return MakeScan(WithHiveColumns(OpenIpcSplit)); }

arrow::Result<std::shared_ptr<arrow::ipc::RecordBatchFileReader>> OpenIpcFile(
    const std::string& path, std::vector<int> columns, int64_t* bytes_read,
    arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(path));
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
