// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <arrow/array/array_dict.h>
#include <arrow/array/util.h>

#include "ops/distinct/positions.h"
#include "ops/executors.h"
#include "ops/kernels/gather.h"
#include "ops/keys/key_codes.h"
#include "ops/keys/key_columns.h"
#include "ops/keys/key_equality.h"
#include "ops/stream/batch_slicing.h"
#include "ops/stream/unary_stream.h"
#include "xshards/memory/scratch_vector.h"
#include "xshards/plan/distinct.h"

namespace xshards::ops {

namespace {

// Rows whose keys are deduplicated together, before they are output.
constexpr int64_t kChunkRows = 1 << 20;
// The share of the budget for a chunk on each thread.
constexpr int64_t kHeldInBudget = 32;
// If nearly all of the first rows of a chunk differ, most of the others do too: looking
// for equal ones only costs time. A smaller fraction would not imply this: among ten
// times as many rows, every value may occur several times.
constexpr int64_t kTrialRows = 1 << 15;
constexpr double kAlmostAll = 0.95;
// Text is output as dictionary codes if each value occurs at least this often, on
// average.
constexpr int64_t kRowsPerValue = 8;

/// A set of numbers below a known bound.
class NumberSet {
 public:
  explicit NumberSet(uint64_t end) : words_((end + 63) / 64) {}

  bool Has(uint32_t number) const { return (words_[number >> 6] & BitOf(number)) != 0; }
  /// False if it is already a member.
  bool Add(uint32_t number) {
    uint64_t& word = words_[number >> 6];
    const bool is_new = (word & BitOf(number)) == 0;
    word |= BitOf(number);
    return is_new;
  }

 private:
  static uint64_t BitOf(uint32_t number) { return uint64_t{1} << (number & 63); }

  std::vector<uint64_t> words_;
};

using Rows = ScratchVector<uint32_t>;

/// One row of every group.
Rows PickRows(const KeyCodes::Groups& groups, Keep keep) {
  Rows rows(groups.of_row.size());
  const auto num_rows = static_cast<uint32_t>(rows.size());
  NumberSet seen(groups.end);
  // No branch: it would be unpredictable.
  size_t count = 0;
  for (uint32_t i = 0; i < num_rows; ++i) {
    const uint32_t row = keep == Keep::kLast ? num_rows - 1 - i : i;
    rows[count] = row;
    count += static_cast<size_t>(seen.Add(groups.of_row[row]));
  }
  rows.resize(count);
  if (keep == Keep::kLast) std::reverse(rows.begin(), rows.end());
  return rows;
}

/// The groups that have more than one row.
NumberSet Repeated(const KeyCodes::Groups& groups) {
  NumberSet seen(groups.end);
  NumberSet repeated(groups.end);
  for (uint32_t group : groups.of_row) {
    if (!seen.Add(group)) repeated.Add(group);
  }
  return repeated;
}

/// A growing array of numbers, whose memory is counted.
template <typename T>
arrow::Result<std::pair<std::shared_ptr<arrow::Array>, T*>> NewArray(
    int64_t length, arrow::MemoryPool* pool) {
  using ArrayType = typename arrow::CTypeTraits<T>::ArrayType;
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> buffer,
      arrow::AllocateBuffer(length * static_cast<int64_t>(sizeof(T)), pool));
  auto* values = buffer->mutable_data_as<T>();
  return std::pair{std::static_pointer_cast<arrow::Array>(
                       std::make_shared<ArrayType>(length, std::move(buffer))),
                   values};
}

int64_t MaxBytes(const OperatorContext& context) {
  const MemoryBudget* budget = context.storage.budget;
  if (budget == nullptr) return std::numeric_limits<int64_t>::max();
  return std::max<int64_t>(1, budget->limit() / kHeldInBudget);
}

/// Outputs keys in the form of KeyColumn(), text perhaps as dictionaries, and positions.
class PartialPositions final : public UnaryStream {
 public:
  PartialPositions(DistinctNode node, std::unique_ptr<BatchStream> input,
                   OperatorContext& context)
      : UnaryStream(std::move(input), context),
        node_(std::move(node)),
        max_bytes_(MaxBytes(context)),
        reservation_(context.storage.budget),
        position_(FirstPosition(context.partition_index)) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (true) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      if (!output_.empty()) {
        auto batch = std::move(output_.front());
        output_.pop_front();
        return batch;
      }
      if (at_end_) {
        if (prepared() && schema_ == nullptr) SetSchema(plain_);
        return nullptr;
      }
      ARROW_RETURN_NOT_OK(passes_rows_ ? PassBatch() : RunChunk());
    }
  }

 protected:
  arrow::Result<std::shared_ptr<arrow::Schema>> Prepare(
      const std::shared_ptr<arrow::Schema>& input) override {
    ARROW_ASSIGN_OR_RAISE(keys_, FindColumns(*input, node_.keys));
    passes_rows_ = keys_.empty();
    for (int key : keys_) {
      ARROW_ASSIGN_OR_RAISE(auto empty, arrow::MakeEmptyArray(input->field(key)->type()));
      ARROW_ASSIGN_OR_RAISE(empty, KeyColumn(empty, context_.pool));
      plain_.push_back(std::move(empty));
    }
    return nullptr;  // the rows decide whether dictionaries are worth it
  }

 private:
  /// The next rows, at most `most`; nullptr at the end.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> NextRows(int64_t most) {
    while (batch_ == nullptr || batch_->num_rows() == 0) {
      ARROW_ASSIGN_OR_RAISE(batch_, NextInput());
      if (batch_ == nullptr) {
        at_end_ = true;
        return nullptr;
      }
    }
    auto rows = batch_->Slice(0, most);
    batch_ = batch_->Slice(rows->num_rows());
    return rows;
  }

  arrow::Status PassBatch() {
    ARROW_ASSIGN_OR_RAISE(auto rows, NextRows(kChunkRows));
    if (rows == nullptr) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(Pass(*rows));
    return MakeRoom(context_);
  }

  /// Output all rows.
  arrow::Status Pass(const arrow::RecordBatch& rows) {
    arrow::ArrayVector columns;
    for (int key : keys_) {
      ARROW_ASSIGN_OR_RAISE(auto values, KeyColumn(rows.column(key), context_.pool));
      columns.push_back(std::move(values));
    }
    ARROW_ASSIGN_OR_RAISE(auto made, NewArray<int64_t>(rows.num_rows(), context_.pool));
    auto& [positions, values] = made;
    std::iota(values, values + rows.num_rows(), position_);
    position_ += rows.num_rows();
    return Give(std::move(columns), std::move(positions));
  }

  /// Read the rows of a chunk, and output one of each key.
  arrow::Status RunChunk() {
    std::optional<KeyCodes> codes;  // set with the first batch
    int64_t num_rows = 0;
    int64_t num_bytes = 0;
    arrow::RecordBatchVector trial;
    while (num_rows < kChunkRows && num_bytes < max_bytes_) {
      const int64_t left_to_try = kTrialRows - num_rows;
      ARROW_ASSIGN_OR_RAISE(auto rows,
                            NextRows(left_to_try > 0 ? left_to_try : kChunkRows));
      if (rows == nullptr) break;
      if (passes_rows_) return Pass(*rows);
      if (!codes) codes.emplace(keys_.size());
      ARROW_ASSIGN_OR_RAISE(auto columns, KeyColumns(*rows, keys_, context_.pool));
      ARROW_RETURN_NOT_OK(codes->Add(columns, context_.pool));
      num_rows += rows->num_rows();
      num_bytes = codes->num_bytes();
      reservation_.Resize(num_bytes);
      ARROW_RETURN_NOT_OK(MakeRoom(context_));
      if (left_to_try <= 0) continue;
      trial.push_back(std::move(rows));
      if (num_rows < kTrialRows) continue;
      ARROW_ASSIGN_OR_RAISE(passes_rows_, AlmostAllDiffer(*codes));
      if (passes_rows_) break;
      trial.clear();
    }
    if (passes_rows_) {
      for (const auto& tried : trial) ARROW_RETURN_NOT_OK(Pass(*tried));
    } else if (codes) {
      ARROW_RETURN_NOT_OK(GivePicked(*codes));
    }
    reservation_.Resize(0);
    return arrow::Status::OK();
  }

  arrow::Result<bool> AlmostAllDiffer(const KeyCodes& codes) const {
    // Earlier output had dictionaries, so all must.
    if (gives_codes_) return false;
    // Columns of few values cost little, and their pairs will repeat.
    bool has_many = false;
    for (size_t i = 0; i < keys_.size(); ++i) {
      has_many |= codes.num_values(i) > codes.num_rows() / 2;
    }
    if (!has_many) return false;
    ARROW_ASSIGN_OR_RAISE(auto groups, codes.FindGroups());
    const auto num_keys = PickRows(groups, Keep::kFirst).size();
    return static_cast<double>(num_keys) >
           kAlmostAll * static_cast<double>(codes.num_rows());
  }

  arrow::Status GivePicked(const KeyCodes& codes) {
    KeyCodes::Groups groups;
    Rows rows;
    if (keys_.size() == 1 && node_.keep == Keep::kFirst) {
      rows = codes.first_rows(0);
    } else {
      ARROW_ASSIGN_OR_RAISE(groups, codes.FindGroups());
      rows = PickRows(groups, node_.keep);
    }
    ARROW_ASSIGN_OR_RAISE(auto positions, PositionsOf(rows, groups));
    position_ += codes.num_rows();
    if (schema_ == nullptr) gives_codes_ = AreWorthCodes(codes, std::ssize(rows));
    arrow::ArrayVector columns;
    for (size_t i = 0; i < keys_.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(auto column, PickColumn(codes, i, rows));
      columns.push_back(std::move(column));
    }
    return Give(std::move(columns), std::move(positions));
  }

  arrow::Result<std::shared_ptr<arrow::Array>> PositionsOf(
      const Rows& rows, const KeyCodes::Groups& groups) const {
    ARROW_ASSIGN_OR_RAISE(auto made, NewArray<int64_t>(std::ssize(rows), context_.pool));
    auto& [positions, values] = made;
    for (size_t i = 0; i < rows.size(); ++i) values[i] = position_ + rows[i];
    if (node_.keep != Keep::kNone) return positions;
    const NumberSet repeated = Repeated(groups);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (repeated.Has(groups.of_row[rows[i]])) values[i] = kNoPosition;
    }
    return positions;
  }

  /// True if rows are output as dictionary codes, with the dictionaries.
  bool AreWorthCodes(const KeyCodes& codes, int64_t num_rows) const {
    bool has_bytes = false;
    int64_t num_values = 0;
    for (size_t i = 0; i < keys_.size(); ++i) {
      has_bytes |= IsBytesKey(*plain_[i]->type());
      num_values += codes.num_values(i);
    }
    return has_bytes && num_rows >= kRowsPerValue * num_values;
  }

  arrow::Result<std::shared_ptr<arrow::Array>> PickColumn(const KeyCodes& codes,
                                                          size_t column,
                                                          const Rows& rows) const {
    ARROW_ASSIGN_OR_RAISE(auto values, codes.Values(column, context_.pool));
    // One row per value of one column, in order of first appearance.
    const bool are_all = keys_.size() == 1 && node_.keep != Keep::kLast;
    if (are_all && !gives_codes_) return values;
    ARROW_ASSIGN_OR_RAISE(auto made, NewArray<int32_t>(std::ssize(rows), context_.pool));
    auto& [indices, picked] = made;
    const auto& of_rows = codes.codes(column);
    for (size_t i = 0; i < rows.size(); ++i) {
      picked[i] = static_cast<int32_t>(of_rows[rows[i]]);
    }
    if (!gives_codes_) return Gather(values, indices, context_.pool);
    return arrow::DictionaryArray::FromArrays(
        arrow::dictionary(arrow::int32(), values->type()), indices, values);
  }

  arrow::Status Give(arrow::ArrayVector columns,
                     std::shared_ptr<arrow::Array> positions) {
    if (schema_ == nullptr) SetSchema(columns);
    const int64_t num_rows = positions->length();
    columns.push_back(std::move(positions));
    BatchSlicer pieces(arrow::RecordBatch::Make(schema_, num_rows, std::move(columns)),
                       context_.batch_bytes);
    while (auto piece = pieces.Next()) output_.push_back(std::move(piece));
    return arrow::Status::OK();
  }

  void SetSchema(const arrow::ArrayVector& columns) {
    arrow::FieldVector fields;
    for (size_t i = 0; i < keys_.size(); ++i) {
      fields.push_back(arrow::field(node_.keys[i], columns[i]->type()));
    }
    fields.push_back(arrow::field(kPositionColumn, arrow::int64()));
    schema_ = arrow::schema(std::move(fields));
  }

  const DistinctNode node_;
  const int64_t max_bytes_;
  Reservation reservation_;
  std::vector<int> keys_;
  arrow::ArrayVector plain_;                   // empty arrays, for their types
  std::shared_ptr<arrow::RecordBatch> batch_;  // its remaining rows
  int64_t position_;                           // of the next row
  bool passes_rows_ = false;                   // from now on
  bool gives_codes_ = false;
  bool at_end_ = false;
  std::deque<std::shared_ptr<arrow::RecordBatch>> output_;
};

}  // namespace

OpenedNode OpenPartialPositions(const PlanNode& node, BatchStreams inputs,
                                OperatorContext& context) {
  return OpenUnary<PartialPositions, DistinctNode>(node, std::move(inputs), context);
}

}  // namespace xshards::ops
