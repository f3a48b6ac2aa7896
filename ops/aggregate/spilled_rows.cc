// SPDX-License-Identifier: Apache-2.0
#include "ops/aggregate/spilled_rows.h"

#include <bit>
#include <utility>

#include "ops/kernels/scatter.h"
#include "ops/keys/hash.h"
#include "ops/keys/key_columns.h"
#include "ops/stream/batch_slicing.h"
#include "xshards/types/row_bytes.h"

namespace xshards::ops {

namespace {

// A different odd number for each level, so that rows of one part are divided differently
// at the next.
uint64_t SaltOf(int level) {
  return std::rotl(uint64_t{0x9E3779B97F4A7C15}, 7 * level) | 1;
}

}  // namespace

SpilledRows::SpilledRows(std::vector<std::string> keys, int level,
                         OperatorContext& context)
    : keys_(std::move(keys)),
      salt_(SaltOf(level)),
      context_(context),
      writer_(context.storage, Storage::kFile) {}

arrow::Status SpilledRows::Append(std::shared_ptr<arrow::RecordBatch> rows) {
  if (rows->num_rows() == 0) return arrow::Status::OK();
  pending_bytes_ += RowBytes(*rows);
  pending_.push_back(std::move(rows));
  return pending_bytes_ >= context_.batch_bytes ? Flush() : arrow::Status::OK();
}

arrow::Status SpilledRows::Flush() {
  static_assert(kNumParts == 16);
  std::vector<int32_t> parts;
  for (const auto& batch : pending_) {
    ARROW_ASSIGN_OR_RAISE(auto positions, FindColumns(*batch->schema(), keys_));
    arrow::ArrayVector columns;
    for (int position : positions) columns.push_back(batch->column(position));
    ARROW_ASSIGN_OR_RAISE(auto hashes,
                          HashRows(columns, batch->num_rows(), context_.pool));
    for (uint64_t hash : hashes)
      parts.push_back(static_cast<int32_t>(hash * salt_ >> 60));
  }
  ARROW_ASSIGN_OR_RAISE(auto pieces, Scatter(pending_, parts, kNumParts, context_.pool));
  pending_.clear();
  pending_bytes_ = 0;
  for (auto& piece : pieces) {
    ARROW_RETURN_NOT_OK(writer_.Append(piece.destination, std::move(piece.rows)));
  }
  return arrow::Status::OK();
}

arrow::Result<std::vector<Partition>> SpilledRows::Finish() {
  if (!pending_.empty()) ARROW_RETURN_NOT_OK(Flush());
  ARROW_ASSIGN_OR_RAISE(auto store, writer_.Finish());
  return Partition::ForAll({std::move(store)}, kNumParts);
}

}  // namespace xshards::ops
