// SPDX-License-Identifier: Apache-2.0
#include "python/src/map_python.h"

#include <algorithm>
#include <utility>

#include <arrow/table.h>
#include <arrow/util/byte_size.h>
#include <pybind11/stl.h>

#include "python/src/status_exception.h"
#include "xshards/payload.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

/// A partition's batches as payloads: Table batches joined, others one by one.
std::vector<Payload> ToPayloads(const std::shared_ptr<arrow::Schema>& schema,
                                const arrow::RecordBatchVector& batches) {
  std::vector<Payload> payloads;
  arrow::RecordBatchVector table;
  for (const auto& batch : batches) {
    if (KindOf(*batch->schema()) == PayloadKind::kTable) {
      table.push_back(batch);
    } else {
      payloads.push_back(Payload::FromBatch(batch));
    }
  }
  if (!table.empty()) {
    const auto table_schema = table.front()->schema();
    payloads.insert(payloads.begin(), Payload::Table(table_schema, std::move(table)));
  } else if (payloads.empty() && schema != nullptr &&
             KindOf(*schema) == PayloadKind::kTable) {
    payloads.push_back(Payload::Table(schema, {}));
  }
  return payloads;
}

/// Cut a payload's batches to about `batch_bytes`, keeping one where there are no rows.
arrow::Status AppendBounded(const Payload& payload, int64_t batch_bytes,
                            arrow::RecordBatchVector* out) {
  if (payload.kind() != PayloadKind::kTable) {
    out->insert(out->end(), payload.batches().begin(), payload.batches().end());
    return arrow::Status::OK();
  }
  if (payload.num_rows() == 0) {
    ARROW_ASSIGN_OR_RAISE(auto empty, arrow::RecordBatch::MakeEmpty(payload.schema()));
    out->push_back(std::move(empty));
    return arrow::Status::OK();
  }
  for (const auto& batch : payload.batches()) {
    const int64_t rows = batch->num_rows();
    ARROW_ASSIGN_OR_RAISE(const int64_t bytes, arrow::util::ReferencedBufferSize(*batch));
    const int64_t pieces = std::clamp<int64_t>(bytes / batch_bytes, 1, rows + 1);
    const int64_t step = std::max<int64_t>(rows / pieces, 1);
    for (int64_t begin = 0; begin < rows; begin += step) {
      out->push_back(batch->Slice(begin, step));
    }
  }
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
      payloads.push_back(ToPayloads(input->schema(), batches));
      input.reset();
    }
    inputs_.clear();
    std::vector<Payload> results;
    {
      py::gil_scoped_acquire acquire;
      try {
        results = call_(node_.function_hash, node_.format, context_.partition_index,
                        std::move(payloads))
                      .cast<std::vector<Payload>>();
      } catch (py::error_already_set& error) {
        return ToStatus(error);
      }
    }
    for (const Payload& payload : results) {
      ARROW_RETURN_NOT_OK(AppendBounded(payload, context_.batch_bytes, &output_));
    }
    if (!output_.empty()) schema_ = output_.front()->schema();
    return arrow::Status::OK();
  }

  const MapPythonNode& node_;
  BatchStreams inputs_;  // none once read
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
    return std::make_unique<MapPythonStream>(node.as<MapPythonNode>(), std::move(inputs),
                                             call, context);
  };
}

}  // namespace xshards::python
