// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <arrow/record_batch.h>

#include "ops/exchange/hash_partition.h"
#include "ops/exchange/range_partition.h"
#include "ops/executors.h"
#include "ops/kernels/scatter.h"
#include "ops/stream/batch_slicing.h"
#include "xshards/memory/scratch_vector.h"
#include "xshards/types/row_bytes.h"

namespace xshards::ops {

namespace {

/// Writes to the destinations of one exchange.
class DestinationWriter {
 public:
  explicit DestinationWriter(BlockWriter& out) : out_(out) {}

  arrow::Status Append(int32_t destination, std::shared_ptr<arrow::RecordBatch> rows) {
    wrote_first_ |= destination == 0;
    return out_.Append(destination, std::move(rows));
  }

  /// Give the first destination at least an empty batch, so that the schema survives.
  arrow::Status Finish(const std::shared_ptr<arrow::Schema>& schema,
                       arrow::MemoryPool* pool) {
    if (wrote_first_ || schema == nullptr) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto nothing, arrow::RecordBatch::MakeEmpty(schema, pool));
    return Append(0, std::move(nothing));
  }

 private:
  BlockWriter& out_;
  bool wrote_first_ = false;
};

/// Decides the destinations of rows, batch by batch.
class Router {
 public:
  virtual ~Router() = default;
  virtual arrow::Status Push(std::shared_ptr<arrow::RecordBatch> batch) = 0;
  virtual arrow::Status Finish() { return arrow::Status::OK(); }
};

class GatherRouter final : public Router {
 public:
  explicit GatherRouter(DestinationWriter& out) : out_(out) {}

  arrow::Status Push(std::shared_ptr<arrow::RecordBatch> batch) override {
    return out_.Append(0, std::move(batch));
  }

 private:
  DestinationWriter& out_;
};

/// Splits all rows into ranges whose lengths differ by at most one, the longer ones
/// first. The ranges are slices: nothing is copied.
class BalancedRouter final : public Router {
 public:
  BalancedRouter(const SinkSpec& spec, DestinationWriter& out)
      : out_(out),
        short_length_(spec.total_rows / spec.num_partitions),
        num_longer_(spec.total_rows % spec.num_partitions),
        total_rows_(spec.total_rows),
        row_(spec.first_row) {}

  arrow::Status Push(std::shared_ptr<arrow::RecordBatch> batch) override {
    if (row_ + batch->num_rows() > total_rows_) {
      return arrow::Status::Invalid("Expected at most ", total_rows_,
                                    " rows in total, but got row ",
                                    row_ + batch->num_rows());
    }
    for (int64_t at = 0; at < batch->num_rows();) {
      const int64_t destination = DestinationOf(row_);
      const int64_t count =
          std::min(batch->num_rows() - at, BeginOf(destination + 1) - row_);
      ARROW_RETURN_NOT_OK(
          out_.Append(static_cast<int32_t>(destination), batch->Slice(at, count)));
      at += count;
      row_ += count;
    }
    return arrow::Status::OK();
  }

 private:
  int64_t BeginOf(int64_t destination) const {
    return destination * short_length_ + std::min(destination, num_longer_);
  }
  int64_t DestinationOf(int64_t row) const {
    const int64_t in_longer = num_longer_ * (short_length_ + 1);
    if (row < in_longer) return row / (short_length_ + 1);
    return num_longer_ + (row - in_longer) / short_length_;
  }

  DestinationWriter& out_;
  const int64_t short_length_;
  const int64_t num_longer_;  // ranges of short_length_ + 1 rows
  const int64_t total_rows_;
  int64_t row_;  // global position of the next row
};

/// Sends rows by the values of their keys, several batches at a time, so that the blocks
/// for many destinations are not tiny.
class KeyRouter final : public Router {
 public:
  KeyRouter(const SinkSpec& spec, DestinationWriter& out, OperatorContext& context)
      : spec_(spec),
        out_(out),
        context_(context),
        flush_bytes_(FlushBytes(spec, context)) {}

  arrow::Status Push(std::shared_ptr<arrow::RecordBatch> batch) override {
    BatchSlicer slices(std::move(batch), flush_bytes_);
    while (auto slice = slices.Next()) ARROW_RETURN_NOT_OK(PushSlice(std::move(slice)));
    return arrow::Status::OK();
  }

  arrow::Status Finish() override { return Flush(); }

 private:
  // A column of this many rows and their destinations fit a core's cache together.
  static constexpr int64_t kFlushBatches = 4;
  // Smaller blocks cost more to write, find and read than to buffer.
  static constexpr int64_t kPieceBytes = 32 << 10;
  // A share of the budget: a flush holds the rows twice, on every thread.
  static constexpr int64_t kHeldInBudget = 16;

  static int64_t FlushBytes(const SinkSpec& spec, const OperatorContext& context) {
    const int64_t usual = kFlushBatches * context.batch_bytes;
    const MemoryBudget* budget = context.storage.budget;
    if (budget == nullptr) return usual;
    return std::max(usual, std::min(spec.num_partitions * kPieceBytes,
                                    budget->limit() / kHeldInBudget));
  }

  arrow::Status PushSlice(std::shared_ptr<arrow::RecordBatch> slice) {
    const int64_t bytes = RowBytes(*slice);
    if (pending_bytes_ + bytes > flush_bytes_) ARROW_RETURN_NOT_OK(Flush());
    pending_bytes_ += bytes;
    pending_.push_back(std::move(slice));
    return MakeRoom(context_);
  }

  arrow::Status Flush() {
    if (pending_.empty()) return arrow::Status::OK();
    int64_t num_rows = 0;
    for (const auto& batch : pending_) num_rows += batch->num_rows();
    ScratchVector<int32_t> destinations(static_cast<size_t>(num_rows));
    int32_t* of_batch = destinations.data();
    for (const auto& batch : pending_) {
      ARROW_RETURN_NOT_OK(FindDestinations(*batch, of_batch));
      of_batch += batch->num_rows();
    }
    ARROW_ASSIGN_OR_RAISE(auto pieces, Scatter(pending_, destinations,
                                               spec_.num_partitions, context_.pool));
    pending_.clear();
    pending_bytes_ = 0;
    for (auto& piece : pieces) {
      ARROW_RETURN_NOT_OK(out_.Append(piece.destination, std::move(piece.rows)));
    }
    return arrow::Status::OK();
  }

  arrow::Status FindDestinations(const arrow::RecordBatch& batch, int32_t* destinations) {
    if (spec_.mode == ExchangeMode::kHash) {
      return FindHashDestinations(batch, spec_.keys, spec_.num_partitions, destinations,
                                  context_.pool);
    }
    ARROW_ASSIGN_OR_RAISE(auto found,
                          RangeDestinations(batch, spec_.sort_keys, spec_.nulls_first,
                                            *spec_.boundaries, context_.pool));
    std::copy(found.begin(), found.end(), destinations);
    return arrow::Status::OK();
  }

  const SinkSpec& spec_;
  DestinationWriter& out_;
  OperatorContext& context_;
  const int64_t flush_bytes_;
  arrow::RecordBatchVector pending_;
  int64_t pending_bytes_ = 0;
};

arrow::Status Validate(const SinkSpec& spec) {
  if (spec.num_partitions < 1) {
    return arrow::Status::Invalid("Expected 1 or more partitions, got ",
                                  spec.num_partitions);
  }
  if (spec.mode == ExchangeMode::kRange &&
      (spec.boundaries == nullptr ||
       spec.boundaries->num_rows() >= spec.num_partitions)) {
    return arrow::Status::Invalid(
        "Expected fewer boundaries than the ", spec.num_partitions, " partitions, got ",
        spec.boundaries == nullptr ? "none"
                                   : std::to_string(spec.boundaries->num_rows()));
  }
  return arrow::Status::OK();
}

std::unique_ptr<Router> MakeRouter(const SinkSpec& spec, DestinationWriter& out,
                                   OperatorContext& context) {
  switch (spec.mode) {
    case ExchangeMode::kHash:
    case ExchangeMode::kRange:
      return std::make_unique<KeyRouter>(spec, out, context);
    case ExchangeMode::kRoundRobin:
      return std::make_unique<BalancedRouter>(spec, out);
    case ExchangeMode::kGather:
      break;
  }
  return std::make_unique<GatherRouter>(out);
}

}  // namespace

arrow::Status RunPartitionSink(const SinkSpec& spec, BatchStream& input, BlockWriter& out,
                               OperatorContext& context) {
  ARROW_RETURN_NOT_OK(Validate(spec));
  DestinationWriter writer(out);
  const auto router = MakeRouter(spec, writer, context);
  std::shared_ptr<arrow::Schema> schema = input.schema();
  while (true) {
    ARROW_RETURN_NOT_OK(context.stop.Poll());
    ARROW_ASSIGN_OR_RAISE(auto batch, input.Next());
    if (batch == nullptr) break;
    if (schema == nullptr) schema = batch->schema();
    if (batch->num_rows() == 0) continue;
    ARROW_RETURN_NOT_OK(router->Push(std::move(batch)));
  }
  ARROW_RETURN_NOT_OK(router->Finish());
  return writer.Finish(schema != nullptr ? schema : input.schema(), context.pool);
}

}  // namespace xshards::ops
