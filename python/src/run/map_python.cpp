// SPDX-License-Identifier: Apache-2.0
#include "python/src/run/map_python.h"

#include <algorithm>
#include <utility>

#include <arrow/array/array_dict.h>
#include <arrow/array/concatenate.h>
#include <arrow/table.h>
#include <pybind11/stl.h>

#include "python/src/convert/gil.h"
#include "python/src/convert/status_exception.h"
#include "python/src/run/map_batches.h"
#include "xshards/memory/private_mapping.h"
#include "xshards/storage/adjacent_batches.h"
#include "xshards/storage/payload.h"
#include "xshards/types/dictionary_encoding.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

/// Concatenate the batches of a Table: an exclusively owned copy, which a function may
/// change in place; or no copy, if they are contiguous.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> Join(
    const arrow::RecordBatchVector& batches, OperatorContext& context) {
  if (auto whole = JoinAdjacent(batches)) return whole;
  ARROW_ASSIGN_OR_RAISE(auto joined,
                        arrow::ConcatenateRecordBatches(batches, context.pool));
  if (context.storage.inputs == nullptr) return joined;
  for (int i = 0; i < joined->num_columns(); ++i) {
    for (const auto& buffer : joined->column_data(i)->buffers) {
      context.storage.inputs->Add(buffer);
    }
  }
  return joined;
}

/// Concatenate batches, with encoded columns decoded. Other columns are concatenated
/// separately, so that contiguous ones are not copied.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> JoinDecoded(
    const arrow::RecordBatchVector& batches, OperatorContext& context) {
  const auto& schema = batches.front()->schema();
  std::vector<int> encoded;
  std::vector<int> others;
  for (int i = 0; i < schema->num_fields(); ++i) {
    (IsEncoded(*schema->field(i)) ? encoded : others).push_back(i);
  }
  if (encoded.empty()) return Join(batches, context);
  arrow::ArrayVector columns(static_cast<size_t>(schema->num_fields()));
  if (!others.empty()) {
    arrow::RecordBatchVector parts;
    for (const auto& batch : batches) {
      ARROW_ASSIGN_OR_RAISE(auto part, batch->SelectColumns(others));
      parts.push_back(std::move(part));
    }
    ARROW_ASSIGN_OR_RAISE(const auto joined, Join(parts, context));
    for (size_t i = 0; i < others.size(); ++i) {
      columns[static_cast<size_t>(others[i])] = joined->column(static_cast<int>(i));
    }
  }
  for (int i : encoded) {
    arrow::ArrayVector pieces;
    for (const auto& batch : batches) pieces.push_back(batch->column(i));
    ARROW_ASSIGN_OR_RAISE(const auto joined, arrow::Concatenate(pieces, context.pool));
    ARROW_ASSIGN_OR_RAISE(
        columns[static_cast<size_t>(i)],
        DecodeValues(static_cast<const arrow::DictionaryArray&>(*joined), context.pool));
  }
  const int64_t num_rows = columns.front()->length();
  return arrow::RecordBatch::Make(DecodedSchema(schema), num_rows, std::move(columns));
}

/// A partition's batches as payloads: Table batches concatenated, others one by one.
arrow::Result<std::vector<Payload>> ToPayloads(
    const std::shared_ptr<arrow::Schema>& schema, const arrow::RecordBatchVector& batches,
    OperatorContext& context) {
  std::vector<Payload> payloads;
  arrow::RecordBatchVector table;
  for (const auto& batch : batches) {
    if (KindOf(*batch->schema()) == PayloadKind::kTable) {
      table.push_back(batch);
    } else {
      payloads.push_back(Payload::FromBatch(batch));
    }
  }
  const auto is_empty = [](const auto& batch) { return batch->num_rows() == 0; };
  if (!std::all_of(table.begin(), table.end(), is_empty)) std::erase_if(table, is_empty);
  if (table.size() > 1) {
    ARROW_ASSIGN_OR_RAISE(auto joined, JoinDecoded(table, context));
    table = {std::move(joined)};
  } else if (!table.empty()) {
    ARROW_ASSIGN_OR_RAISE(table[0], DecodeColumns(std::move(table[0]), context.pool));
  }
  if (!table.empty()) {
    const auto table_schema = table.front()->schema();
    payloads.insert(payloads.begin(), Payload::Table(table_schema, std::move(table)));
  } else if (payloads.empty() && schema != nullptr &&
             KindOf(*schema) == PayloadKind::kTable) {
    payloads.push_back(Payload::Table(DecodedSchema(schema), {}));
  }
  return payloads;
}

/// A function's output as it is published: each Table as one batch, so that the next
/// function gets it without a copy.
arrow::Status AppendWhole(const Payload& payload, OperatorContext& context,
                          arrow::RecordBatchVector* out) {
  const auto& batches = payload.batches();
  if (payload.kind() == PayloadKind::kTable && batches.size() != 1) {
    std::shared_ptr<arrow::RecordBatch> whole;
    if (batches.empty()) {
      ARROW_ASSIGN_OR_RAISE(whole, arrow::RecordBatch::MakeEmpty(payload.schema()));
    } else {
      ARROW_ASSIGN_OR_RAISE(whole, Join(batches, context));
    }
    out->push_back(std::move(whole));
    return arrow::Status::OK();
  }
  out->insert(out->end(), batches.begin(), batches.end());
  return arrow::Status::OK();
}

class MapPythonStream final : public BatchStream {
 public:
  MapPythonStream(const MapPythonNode& node, BatchStreams inputs, py::handle call,
                  OperatorContext& context)
      : node_(node), inputs_(std::move(inputs)), call_(call), context_(context) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (!inputs_.empty()) ARROW_RETURN_NOT_OK(CallFunction());
    if (position_ == output_.size()) return nullptr;
    return std::move(output_[position_++]);
  }

 private:
  arrow::Status CallFunction() {
    std::vector<std::vector<Payload>> payloads;
    for (auto& input : inputs_) {
      ARROW_ASSIGN_OR_RAISE(auto batches, ReadAll(*input));
      ARROW_ASSIGN_OR_RAISE(auto read, ToPayloads(input->schema(), batches, context_));
      payloads.push_back(std::move(read));
      input.reset();
    }
    inputs_.clear();
    // The previous function has returned its borrowed memory with its result.
    if (context_.storage.inputs != nullptr) context_.storage.inputs->EndLoans();
    std::vector<Payload> results;
    {
      const AcquireGil acquire;
      try {
        results = call_(node_.function_hash, node_.format, context_.partition_index,
                        std::move(payloads))
                      .cast<std::vector<Payload>>();
      } catch (py::error_already_set& error) {
        return ToStatus(error);
      }
    }
    for (const Payload& payload : results) {
      ARROW_RETURN_NOT_OK(AppendWhole(payload, context_, &output_));
    }
    if (!output_.empty()) schema_ = output_.front()->schema();
    return arrow::Status::OK();
  }

  const MapPythonNode& node_;
  BatchStreams inputs_;  // empty once read
  const py::handle call_;
  OperatorContext& context_;
  std::shared_ptr<arrow::Schema> schema_;
  arrow::RecordBatchVector output_;
  size_t position_ = 0;
};

}  // namespace

OpenNode MapPythonExecutor(py::handle call) {
  return [call](const PlanNode& node, BatchStreams inputs,
                OperatorContext& context) -> arrow::Result<std::unique_ptr<BatchStream>> {
    if (node.as<MapPythonNode>().batch_rows > 0) {
      return MakeMapBatches(node.as<MapPythonNode>(), std::move(inputs.front()), call,
                            context);
    }
    return std::make_unique<MapPythonStream>(node.as<MapPythonNode>(), std::move(inputs),
                                             call, context);
  };
}

}  // namespace xshards::python
