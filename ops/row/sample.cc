// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include <arrow/array/util.h>

#include "ops/executors.h"
#include "ops/kernels/decoded_values.h"
#include "ops/kernels/gather.h"
#include "ops/kernels/numeric_values.h"
#include "ops/kernels/vector_array.h"
#include "ops/keys/key_columns.h"
#include "ops/stream/batch_slicing.h"
#include "ops/stream/unary_stream.h"
#include "xshards/memory/memory_budget.h"
#include "xshards/plan/sampling.h"

namespace xshards::ops {

namespace {

/// Reads the weights of a batch's rows, if there are any.
class Weights {
 public:
  Weights(std::string column, const OperatorContext& context)
      : column_(std::move(column)), context_(context) {}

  arrow::Status Bind(const arrow::Schema& schema) {
    if (column_.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto found, FindColumns(schema, {column_}));
    position_ = found[0];
    return arrow::Status::OK();
  }

  /// Missing weights are 0, as in pandas. Invalid names an invalid weight.
  arrow::Result<std::vector<double>> Read(const arrow::RecordBatch& batch) const {
    ARROW_ASSIGN_OR_RAISE(auto plain,
                          PlainValues(batch.column(position_), context_.pool));
    ARROW_ASSIGN_OR_RAISE(const auto numbers,
                          NumericValues<double>(plain, context_.pool));
    std::vector<double> weights(static_cast<size_t>(batch.num_rows()));
    double wrong = 0;
    ForEachValid(*plain, [&](int64_t i) {
      const double weight = numbers->Value(i);
      if (!(weight >= 0) || std::isinf(weight)) wrong = weight;
      weights[static_cast<size_t>(i)] = weight;
    });
    if (wrong != 0) {
      return arrow::Status::Invalid("Weights must be finite and not negative; column '",
                                    column_, "' has ", wrong, " in partition ",
                                    context_.partition_index);
    }
    return weights;
  }

 private:
  const std::string column_;
  const OperatorContext& context_;
  int position_ = -1;
};

/// Shared by all phases: the node, the weights, and the number of the next row.
class SampleStream : public UnaryStream {
 public:
  SampleStream(SampleNode node, std::unique_ptr<BatchStream> input,
               OperatorContext& context)
      : UnaryStream(std::move(input), context),
        node_(std::move(node)),
        weights_(node_.weights, context),
        next_row_(node_.first_row) {}

 protected:
  arrow::Result<std::shared_ptr<arrow::Schema>> Prepare(
      const std::shared_ptr<arrow::Schema>& input) override {
    ARROW_RETURN_NOT_OK(weights_.Bind(*input));
    return OutputOf(input);
  }
  virtual std::shared_ptr<arrow::Schema> OutputOf(
      const std::shared_ptr<arrow::Schema>& input) const {
    return input;
  }

  /// The next rows; their global row numbers begin at next_row_ - length.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> NextRows() {
    ARROW_ASSIGN_OR_RAISE(auto batch, NextInput());
    if (batch != nullptr) next_row_ += batch->num_rows();
    return batch;
  }

  arrow::Result<std::vector<uint64_t>> Keys(const arrow::RecordBatch& batch) const {
    const int64_t first = next_row_ - batch.num_rows();
    std::vector<uint64_t> keys(static_cast<size_t>(batch.num_rows()));
    if (node_.weights.empty()) {
      for (size_t i = 0; i < keys.size(); ++i) {
        keys[i] = DrawKey(node_.seed, first + static_cast<int64_t>(i));
      }
      return keys;
    }
    ARROW_ASSIGN_OR_RAISE(const auto weights, weights_.Read(batch));
    for (size_t i = 0; i < keys.size(); ++i) {
      keys[i] = WeightedDrawKey(node_.seed, first + static_cast<int64_t>(i), weights[i]);
    }
    return keys;
  }

  const SampleNode node_;
  Weights weights_;
  int64_t next_row_;
};

/// kGiveKeys.
class KeyStream final : public SampleStream {
 public:
  using SampleStream::SampleStream;

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    ARROW_ASSIGN_OR_RAISE(const auto batch, NextRows());
    if (batch == nullptr) return nullptr;
    ARROW_ASSIGN_OR_RAISE(const auto keys, Keys(*batch));
    ARROW_ASSIGN_OR_RAISE(auto array, CopyToArray(keys, context_.pool));
    ARROW_RETURN_NOT_OK(MakeRoom(context_));
    return arrow::RecordBatch::Make(schema_, batch->num_rows(), {std::move(array)});
  }

 protected:
  std::shared_ptr<arrow::Schema> OutputOf(
      const std::shared_ptr<arrow::Schema>&) const override {
    return arrow::schema({arrow::field("key", arrow::uint64())});
  }
};

/// kSumWeights: one row, even of no rows.
class WeightSumStream final : public SampleStream {
 public:
  using SampleStream::SampleStream;

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (done_) return nullptr;
    done_ = true;
    double sum = 0;
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const auto batch, NextRows());
      if (batch == nullptr) break;
      ARROW_ASSIGN_OR_RAISE(const auto weights, weights_.Read(*batch));
      for (const double weight : weights) sum += weight;
    }
    return arrow::RecordBatch::Make(schema_, 1, {ToArray(std::vector<double>{sum})});
  }

 protected:
  std::shared_ptr<arrow::Schema> OutputOf(
      const std::shared_ptr<arrow::Schema>&) const override {
    return arrow::schema({arrow::field("sum", arrow::float64())});
  }

 private:
  bool done_ = false;
};

/// kDraw without replacement: a row is drawn if it comes before the bound.
class DrawStream final : public SampleStream {
 public:
  DrawStream(SampleNode node, std::unique_ptr<BatchStream> input,
             OperatorContext& context)
      : SampleStream(std::move(node), std::move(input), context),
        kept_(context.batch_bytes / 2, context.pool) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    return kept_.Next([this] { return Keep(); });
  }

 private:
  /// The rows to keep of the next batch; nullptr at the end.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Keep() {
    ARROW_ASSIGN_OR_RAISE(auto batch, NextRows());
    if (batch == nullptr) return nullptr;
    ARROW_ASSIGN_OR_RAISE(const auto keys, Keys(*batch));
    const int64_t first = next_row_ - batch->num_rows();
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      const DrawOrder order{keys[static_cast<size_t>(i)], first + i};
      if ((order < node_.bound) != node_.complement) rows.push_back(i);
    }
    if (static_cast<int64_t>(rows.size()) == batch->num_rows()) return batch;
    return Gather(batch, ToArray(std::move(rows)), context_.pool);
  }

  BatchCoalescer kept_;
};

/// kDraw with replacement: every fragment repeats all draws and keeps those that hit its
/// rows. Weights must be read first, to know which rows are hit, so the partition is held
/// in memory.
class RedrawStream final : public SampleStream {
 public:
  RedrawStream(SampleNode node, std::unique_ptr<BatchStream> input,
               OperatorContext& context)
      : SampleStream(std::move(node), std::move(input), context),
        reservation_(context.storage.budget) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (true) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      if (auto piece = pieces_.Next()) return piece;
      if (done_) return nullptr;
      done_ = true;
      ARROW_ASSIGN_OR_RAISE(auto rows, CollectInput());
      if (rows == nullptr) return nullptr;
      ARROW_ASSIGN_OR_RAISE(auto drawn, Draw(*rows));
      ARROW_ASSIGN_OR_RAISE(auto batch,
                            Gather(rows, ToArray(std::move(drawn)), context_.pool));
      if (batch->num_rows() > 0) pieces_ = BatchSlicer(batch, context_.batch_bytes);
    }
  }

 private:
  arrow::Result<std::vector<int64_t>> Draw(const arrow::RecordBatch& rows) {
    std::vector<int64_t> drawn;
    if (node_.weights.empty()) {
      for (int64_t i = 0; i < node_.count; ++i) {
        const int64_t row = DrawRow(node_.seed, i, node_.num_rows) - node_.first_row;
        if (row >= 0 && row < rows.num_rows()) drawn.push_back(row);
      }
    } else {
      ARROW_ASSIGN_OR_RAISE(auto sums, weights_.Read(rows));
      for (size_t i = 1; i < sums.size(); ++i) sums[i] += sums[i - 1];
      for (int64_t i = 0; i < node_.count; ++i) {
        const double place = std::min(DrawFraction(node_.seed, i) * node_.weight_total,
                                      std::nextafter(node_.weight_total, 0.0));
        if (place < node_.weight_begin || place >= node_.weight_end) continue;
        drawn.push_back(RowAt(sums, place - node_.weight_begin));
      }
    }
    reservation_.Resize(static_cast<int64_t>(drawn.capacity() * sizeof(int64_t)));
    std::sort(drawn.begin(), drawn.end());
    return drawn;
  }

  /// The row whose interval of the cumulative sum contains a position. Positions that
  /// rounding puts past the end belong to the last row with a weight.
  static int64_t RowAt(const std::vector<double>& sums, double place) {
    auto row = std::upper_bound(sums.begin(), sums.end(), place);
    if (row == sums.end()) row = std::lower_bound(sums.begin(), sums.end(), sums.back());
    return row - sums.begin();
  }

  bool done_ = false;
  BatchSlicer pieces_;
  Reservation reservation_;
};

}  // namespace

OpenedNode OpenSample(const PlanNode& node, BatchStreams inputs,
                      OperatorContext& context) {
  const auto& sample = node.as<SampleNode>();
  switch (sample.phase) {
    case SamplePhase::kWhole:
      return arrow::Status::Invalid(Describe(node), " cannot run on one partition");
    case SamplePhase::kGiveKeys:
      return OpenUnary<KeyStream, SampleNode>(node, std::move(inputs), context);
    case SamplePhase::kSumWeights:
      return OpenUnary<WeightSumStream, SampleNode>(node, std::move(inputs), context);
    case SamplePhase::kDraw:
      break;
  }
  return sample.replace
             ? OpenUnary<RedrawStream, SampleNode>(node, std::move(inputs), context)
             : OpenUnary<DrawStream, SampleNode>(node, std::move(inputs), context);
}

}  // namespace xshards::ops
