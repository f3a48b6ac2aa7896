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

// Rows whose keys are looked at together; they move when all were seen.
constexpr int64_t kChunkRows = 1 << 20;
// Of the budget, what a chunk may take on each thread.
constexpr int64_t kHeldInBudget = 32;
// Where nearly all of the first rows of a chunk differ, so do most of the others: looking
// for equal ones only costs time. A smaller share would not say so: among ten times as
// many rows, every value may well come several times.
constexpr int64_t kTrialRows = 1 << 15;
constexpr double kAlmostAll = 0.95;
// Bytes move as numbers where each value comes so often, on average, among what moves.
constexpr int64_t kRowsPerValue = 8;

/// A set of numbers below a known one.
class NumberSet {
 public:
  explicit NumberSet(uint64_t end) : words_((end + 63) / 64) {}

  bool Has(uint32_t number) const { return (words_[number >> 6] & BitOf(number)) != 0; }
  /// False if it was there already.
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
Rows PickRows(const KeyCodes::Groups& groups, WantedRow wanted) {
  Rows rows(groups.of_row.size());
  const auto num_rows = static_cast<uint32_t>(rows.size());
  NumberSet seen(groups.end);
  // No branch on what is as good as random.
  size_t count = 0;
  for (uint32_t i = 0; i < num_rows; ++i) {
    const uint32_t row = wanted == WantedRow::kLast ? num_rows - 1 - i : i;
    rows[count] = row;
    count += static_cast<size_t>(seen.Add(groups.of_row[row]));
  }
  rows.resize(count);
  if (wanted == WantedRow::kLast) std::reverse(rows.begin(), rows.end());
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

/// An array of numbers, whose memory is counted, and where to put them.
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

/// Gives keys in the form of KeyColumn(), bytes perhaps as dictionaries, and positions.
class LocalPositions final : public UnaryStream {
 public:
  LocalPositions(AggregateNode node, std::unique_ptr<BatchStream> input,
                 OperatorContext& context)
      : UnaryStream(std::move(input), context),
        node_(std::move(node)),
        wanted_(WantedBy(node_)),
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
    return nullptr;  // rows tell whether dictionaries are worth it
  }

 private:
  /// At most `most` of the next rows; nullptr at the end.
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

  /// Give all rows.
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

  /// Read as many rows as are looked at together, and give one of each key.
  arrow::Status RunChunk() {
    std::optional<KeyCodes> codes;  // once a batch has told of the keys
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
    // Dictionaries went out: so must all.
    if (gives_codes_) return false;
    // Columns of few values cost little, and their pairs come again sooner or later.
    bool has_many = false;
    for (size_t i = 0; i < keys_.size(); ++i) {
      has_many |= codes.num_values(i) > codes.num_rows() / 2;
    }
    if (!has_many) return false;
    ARROW_ASSIGN_OR_RAISE(auto groups, codes.FindGroups());
    const auto num_keys = PickRows(groups, WantedRow::kFirst).size();
    return static_cast<double>(num_keys) >
           kAlmostAll * static_cast<double>(codes.num_rows());
  }

  arrow::Status GivePicked(const KeyCodes& codes) {
    KeyCodes::Groups groups;
    Rows rows;
    if (keys_.size() == 1 && wanted_ == WantedRow::kFirst) {
      rows = codes.first_rows(0);
    } else {
      ARROW_ASSIGN_OR_RAISE(groups, codes.FindGroups());
      rows = PickRows(groups, wanted_);
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
    if (wanted_ != WantedRow::kSingle) return positions;
    const NumberSet repeated = Repeated(groups);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (repeated.Has(groups.of_row[rows[i]])) values[i] = kNoPosition;
    }
    return positions;
  }

  /// True if rows move as numbers of values, with the values beside them.
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
    // One row each of the values of one column, in order of first appearance.
    const bool are_all = keys_.size() == 1 && wanted_ != WantedRow::kLast;
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
    fields.push_back(arrow::field(kPositionState, arrow::int64()));
    schema_ = arrow::schema(std::move(fields));
  }

  const AggregateNode node_;
  const WantedRow wanted_;
  const int64_t max_bytes_;
  Reservation reservation_;
  std::vector<int> keys_;
  arrow::ArrayVector plain_;                   // empty ones, for their types
  std::shared_ptr<arrow::RecordBatch> batch_;  // what is left of it
  int64_t position_;                           // of the next row
  bool passes_rows_ = false;                   // from now on
  bool gives_codes_ = false;
  bool at_end_ = false;
  std::deque<std::shared_ptr<arrow::RecordBatch>> output_;
};

}  // namespace

OpenedNode OpenLocalPositions(const PlanNode& node, BatchStreams inputs,
                              OperatorContext& context) {
  return OpenUnary<LocalPositions, AggregateNode>(node, std::move(inputs), context);
}

}  // namespace xshards::ops
