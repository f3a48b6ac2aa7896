// SPDX-License-Identifier: Apache-2.0
#include "python/src/run/map_batches.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/util/byte_size.h>
#include <pybind11/stl.h>

#include "python/src/convert/gil.h"
#include "python/src/convert/status_exception.h"
#include "xshards/storage/payload.h"
#include "xshards/types/dictionary_encoding.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

/// Concatenates small batches of one schema, so that they do not become small blocks.
class Coalescer {
 public:
  Coalescer(int64_t wanted_bytes, arrow::MemoryPool* pool)
      : wanted_bytes_(wanted_bytes), pool_(pool) {}

  arrow::Status Add(std::shared_ptr<arrow::RecordBatch> batch) {
    if (!small_.empty() && !small_[0]->schema()->Equals(*batch->schema(), true)) {
      ARROW_RETURN_NOT_OK(Flush());
    }
    ARROW_ASSIGN_OR_RAISE(const int64_t bytes, arrow::util::ReferencedBufferSize(*batch));
    small_bytes_ += bytes;
    small_.push_back(std::move(batch));
    return small_bytes_ < wanted_bytes_ ? arrow::Status::OK() : Flush();
  }

  arrow::Status Flush() {
    if (small_.empty()) return arrow::Status::OK();
    if (small_.size() == 1) {
      ready_.push_back(std::move(small_[0]));
    } else {
      ARROW_ASSIGN_OR_RAISE(auto joined, arrow::ConcatenateRecordBatches(small_, pool_));
      ready_.push_back(std::move(joined));
    }
    small_.clear();
    small_bytes_ = 0;
    return arrow::Status::OK();
  }

  /// A batch that is ready, or nullptr.
  std::shared_ptr<arrow::RecordBatch> Pop() {
    if (ready_.empty()) return nullptr;
    auto batch = std::move(ready_.front());
    ready_.pop_front();
    return batch;
  }

 private:
  const int64_t wanted_bytes_;
  arrow::MemoryPool* pool_;
  arrow::RecordBatchVector small_;
  int64_t small_bytes_ = 0;
  std::deque<std::shared_ptr<arrow::RecordBatch>> ready_;
};

class MapBatchesStream final : public BatchStream {
 public:
  MapBatchesStream(const MapPythonNode& node, std::unique_ptr<BatchStream> input,
                   py::handle call, OperatorContext& context)
      : node_(node),
        input_(std::move(input)),
        call_(call),
        context_(context),
        output_(context.batch_bytes, context.pool) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (true) {
      auto batch = output_.Pop();
      if (batch != nullptr) {
        if (schema_ == nullptr) schema_ = batch->schema();
        return batch;
      }
      if (ended_) return nullptr;
      ARROW_RETURN_NOT_OK(CallOnNextPiece());
    }
  }

 private:
  arrow::Status CallOnNextPiece() {
    arrow::RecordBatchVector piece;
    int64_t rows = 0;
    while (rows < node_.batch_rows) {
      ARROW_ASSIGN_OR_RAISE(const bool more, Fill());
      if (!more) break;
      if (KindOf(*rest_->schema()) != PayloadKind::kTable) {
        if (rows > 0) break;  // these rows are the next piece
        return CallOnOther(Payload::FromBatch(std::exchange(rest_, nullptr)));
      }
      auto slice = rest_->Slice(0, node_.batch_rows - rows);
      rest_ = rest_->Slice(slice->num_rows());
      rows += slice->num_rows();
      piece.push_back(std::move(slice));
    }
    if (rows > 0) {
      const auto schema = piece.front()->schema();
      return Call(Payload::Table(schema, std::move(piece)));
    }
    return End();
  }

  /// Make rest_ a non-empty batch; false at the end of the input.
  arrow::Result<bool> Fill() {
    while (rest_ == nullptr || rest_->num_rows() == 0) {
      if (rest_ != nullptr && empty_schema_ == nullptr) empty_schema_ = rest_->schema();
      ARROW_ASSIGN_OR_RAISE(rest_, input_->Next());
      if (rest_ == nullptr) return false;
      if (KindOf(*rest_->schema()) != PayloadKind::kTable) continue;
      ARROW_ASSIGN_OR_RAISE(rest_, DecodeColumns(std::move(rest_), context_.pool));
    }
    return true;
  }

  arrow::Status CallOnOther(const Payload& payload) {
    std::vector<Payload> pieces;
    ARROW_RETURN_NOT_OK(WithPython([&] {
      pieces = call_.attr("cut")(payload, node_.batch_rows).cast<std::vector<Payload>>();
    }));
    for (const Payload& piece : pieces) ARROW_RETURN_NOT_OK(Call(piece));
    return arrow::Status::OK();
  }

  arrow::Status Call(const Payload& payload) {
    called_ = true;
    std::vector<Payload> results;
    ARROW_RETURN_NOT_OK(WithPython([&] {
      results = call_(node_.function_hash, node_.format, context_.partition_index,
                      std::vector<std::vector<Payload>>{{payload}})
                    .cast<std::vector<Payload>>();
    }));
    return Take(results);
  }

  arrow::Status Take(const std::vector<Payload>& results) {
    for (const Payload& result : results) {
      if (result.kind() != PayloadKind::kTable) {
        others_.push_back(result);
        continue;
      }
      for (const auto& batch : result.batches()) {
        ARROW_RETURN_NOT_OK(output_.Add(batch));
      }
      if (result.num_rows() == 0) {
        // An empty batch carries the schema.
        ARROW_ASSIGN_OR_RAISE(auto empty, arrow::RecordBatch::MakeEmpty(result.schema()));
        ARROW_RETURN_NOT_OK(output_.Add(std::move(empty)));
      }
    }
    return arrow::Status::OK();
  }

  arrow::Status End() {
    ended_ = true;
    if (!called_) {
      const auto& known = input_->schema() != nullptr ? input_->schema() : empty_schema_;
      if (known != nullptr && KindOf(*known) == PayloadKind::kTable) {
        ARROW_RETURN_NOT_OK(Call(Payload::Table(known, {})));
      }
    }
    ARROW_RETURN_NOT_OK(output_.Flush());
    if (others_.empty()) return arrow::Status::OK();
    std::vector<Payload> joined;
    ARROW_RETURN_NOT_OK(WithPython(
        [&] { joined = call_.attr("join")(others_).cast<std::vector<Payload>>(); }));
    others_.clear();
    for (const Payload& payload : joined) {
      for (const auto& batch : payload.batches()) {
        ARROW_RETURN_NOT_OK(output_.Add(batch));
        ARROW_RETURN_NOT_OK(output_.Flush());  // each is a separate payload
      }
    }
    return arrow::Status::OK();
  }

  template <typename Work>
  static arrow::Status WithPython(const Work& work) {
    const AcquireGil acquire;
    try {
      work();
    } catch (py::error_already_set& error) {
      return ToStatus(error);
    }
    return arrow::Status::OK();
  }

  const MapPythonNode& node_;
  std::unique_ptr<BatchStream> input_;
  const py::handle call_;
  OperatorContext& context_;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<arrow::Schema>
      empty_schema_;  // of an empty batch, if that of input_ is unknown
  std::shared_ptr<arrow::RecordBatch> rest_;  // of the batch that pieces are cut from
  Coalescer output_;
  std::vector<Payload> others_;  // returned payloads that are not rows
  bool called_ = false;
  bool ended_ = false;
};

}  // namespace

arrow::Result<std::unique_ptr<BatchStream>> MakeMapBatches(
    const MapPythonNode& node, std::unique_ptr<BatchStream> input, py::handle call,
    OperatorContext& context) {
  return std::make_unique<MapBatchesStream>(node, std::move(input), call, context);
}

}  // namespace xshards::python
