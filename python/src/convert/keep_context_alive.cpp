// SPDX-License-Identifier: Apache-2.0
#include "python/src/convert/keep_context_alive.h"

#include <utility>

#include <arrow/record_batch.h>

namespace xshards::python {

namespace {

class AnchoredBuffer final : public arrow::Buffer {
 public:
  AnchoredBuffer(std::shared_ptr<Context> context, std::shared_ptr<arrow::Buffer> buffer)
      : arrow::Buffer(buffer->data(), buffer->size()),
        context_(std::move(context)),
        buffer_(std::move(buffer)) {}

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<arrow::Buffer> buffer_;  // after context_, so that it is freed first
};

std::shared_ptr<arrow::ArrayData> AnchorData(const std::shared_ptr<Context>& context,
                                             const arrow::ArrayData& data) {
  auto anchored = std::make_shared<arrow::ArrayData>(data);
  for (auto& buffer : anchored->buffers) buffer = Anchor(context, buffer);
  for (auto& child : anchored->child_data) child = AnchorData(context, *child);
  if (anchored->dictionary != nullptr) {
    anchored->dictionary = AnchorData(context, *anchored->dictionary);
  }
  return anchored;
}

}  // namespace

std::shared_ptr<arrow::Buffer> Anchor(const std::shared_ptr<Context>& context,
                                      const std::shared_ptr<arrow::Buffer>& buffer) {
  if (buffer == nullptr) return nullptr;
  return std::make_shared<AnchoredBuffer>(context, buffer);
}

std::shared_ptr<arrow::Array> Anchor(const std::shared_ptr<Context>& context,
                                     const std::shared_ptr<arrow::Array>& array) {
  return arrow::MakeArray(AnchorData(context, *array->data()));
}

std::shared_ptr<arrow::Table> Anchor(const std::shared_ptr<Context>& context,
                                     const std::shared_ptr<arrow::Table>& table) {
  std::vector<std::shared_ptr<arrow::ChunkedArray>> columns;
  columns.reserve(static_cast<size_t>(table->num_columns()));
  for (const auto& column : table->columns()) {
    arrow::ArrayVector chunks;
    chunks.reserve(static_cast<size_t>(column->num_chunks()));
    for (const auto& chunk : column->chunks()) chunks.push_back(Anchor(context, chunk));
    columns.push_back(
        std::make_shared<arrow::ChunkedArray>(std::move(chunks), column->type()));
  }
  return arrow::Table::Make(table->schema(), std::move(columns), table->num_rows());
}

Payload Anchor(const std::shared_ptr<Context>& context, const Payload& payload) {
  arrow::RecordBatchVector batches;
  batches.reserve(payload.batches().size());
  for (const auto& batch : payload.batches()) {
    arrow::ArrayVector columns;
    for (const auto& column : batch->columns()) {
      columns.push_back(Anchor(context, column));
    }
    batches.push_back(
        arrow::RecordBatch::Make(batch->schema(), batch->num_rows(), std::move(columns)));
  }
  if (payload.kind() == PayloadKind::kTable) {
    return Payload::Table(payload.schema(), std::move(batches));
  }
  return Payload::FromBatch(batches.front());
}

}  // namespace xshards::python
