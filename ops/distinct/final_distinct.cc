// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <utility>
#include <vector>

#include "ops/distinct/positions.h"
#include "ops/executors.h"
#include "ops/kernels/vector_array.h"
#include "ops/keys/key_columns.h"
#include "ops/keys/key_equality.h"
#include "ops/keys/key_table.h"
#include "ops/keys/word_set.h"
#include "ops/stream/batch_slicing.h"
#include "ops/stream/unary_stream.h"
#include "xshards/plan/distinct.h"

namespace xshards::ops {

namespace {

constexpr int64_t kNewKey = -2;

/// Rows arrive in the order of their positions. Keeps one number per key: the exchange
/// before it has enough destinations that keys are few.
class FinalPositions final : public UnaryStream {
 public:
  FinalPositions(DistinctNode node, std::unique_ptr<BatchStream> input,
                 OperatorContext& context)
      : UnaryStream(std::move(input), context),
        node_(std::move(node)),
        reservation_(context.storage.budget) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (!is_done_) {
      is_done_ = true;
      ARROW_RETURN_NOT_OK(ConsumeAll());
      if (!prepared()) return nullptr;
      output_ = BatchSlicer(TakeOutput(), context_.batch_bytes);
    }
    return output_.Next();
  }

 protected:
  arrow::Result<std::shared_ptr<arrow::Schema>> Prepare(
      const std::shared_ptr<arrow::Schema>& input) override {
    ARROW_ASSIGN_OR_RAISE(keys_, FindColumns(*input, node_.keys));
    ARROW_ASSIGN_OR_RAISE(auto state, FindColumns(*input, {kPositionColumn}));
    state_ = state[0];
    return arrow::schema({arrow::field(kPositionColumn, arrow::int64())});
  }

 private:
  arrow::Status ConsumeAll() {
    arrow::RecordBatchVector batches;
    int64_t num_rows = 0;
    while (true) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      ARROW_ASSIGN_OR_RAISE(auto batch, NextInput());
      if (batch == nullptr) break;
      if (!AreWords()) {
        ARROW_RETURN_NOT_OK(Consume(*batch));
        CountMemory(table_.num_bytes());
        ARROW_RETURN_NOT_OK(MakeRoom(context_));
        continue;
      }
      num_rows += batch->num_rows();
      batches.push_back(std::move(batch));
    }
    return num_rows > 0 ? ConsumeWords(batches, num_rows) : arrow::Status::OK();
  }

  /// True if the only key is an integer and the first row of each key is kept: then it is
  /// enough to know whether a key was seen before.
  bool AreWords() const {
    return node_.keep == Keep::kFirst && keys_.size() == 1 &&
           arrow::is_integer(input_schema()->field(keys_[0])->type()->id());
  }

  arrow::Status ConsumeWords(const arrow::RecordBatchVector& batches, int64_t num_rows) {
    WordSet words(static_cast<size_t>(num_rows));
    bool has_missing = false;
    CountMemory(words.num_bytes());
    for (const auto& batch : batches) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      const int64_t* position =
          static_cast<const arrow::Int64Array&>(*batch->column(state_)).raw_values();
      const auto note = [&](int64_t row, bool is_new) {
        if (is_new != node_.gives_dropped)
          (node_.gives_dropped ? dropped_ : held_).push_back(position[row]);
      };
      VisitKeyValues(
          *batch->column(keys_[0]),
          [&](int64_t row) { note(row, !std::exchange(has_missing, true)); },
          [&](int64_t row, KeyWord key) { note(row, words.Add(key.word)); },
          [](int64_t, std::string_view) {});
    }
    return arrow::Status::OK();
  }

  void CountMemory(int64_t bytes) {
    reservation_.Resize(
        bytes +
        static_cast<int64_t>((held_.capacity() + dropped_.capacity()) * sizeof(int64_t)));
  }

  arrow::Status Consume(const arrow::RecordBatch& batch) {
    ARROW_ASSIGN_OR_RAISE(auto columns, KeyColumns(batch, keys_, context_.pool));
    new_rows_.clear();
    ARROW_RETURN_NOT_OK(
        table_.Insert(columns, batch.num_rows(), &ids_, &new_rows_, context_.pool));
    held_.resize(table_.size(), kNewKey);
    const auto& positions = static_cast<const arrow::Int64Array&>(*batch.column(state_));
    for (size_t i = 0; i < ids_.size(); ++i) {
      Note(held_[ids_[i]], positions.Value(static_cast<int64_t>(i)));
    }
    return arrow::Status::OK();
  }

  /// Add another row of a key, whose kept position so far is `held`.
  void Note(int64_t& held, int64_t position) {
    if (held == kNewKey) {
      held = position;
      return;
    }
    switch (node_.keep) {
      case Keep::kFirst:
        NoteDropped(position);
        return;
      case Keep::kLast:
        NoteDropped(std::exchange(held, position));
        return;
      case Keep::kNone:
        NoteDropped(std::exchange(held, kNoPosition));
        NoteDropped(position);
    }
  }

  void NoteDropped(int64_t position) {
    if (node_.gives_dropped && position != kNoPosition) dropped_.push_back(position);
  }

  std::shared_ptr<arrow::RecordBatch> TakeOutput() {
    if (!node_.gives_dropped) std::erase(held_, kNoPosition);
    auto positions = ToArray(std::move(node_.gives_dropped ? dropped_ : held_));
    const int64_t num_rows = positions->length();
    return arrow::RecordBatch::Make(schema_, num_rows, {std::move(positions)});
  }

  const DistinctNode node_;
  Reservation reservation_;
  std::vector<int> keys_;
  int state_ = 0;  // the column of positions
  KeyTable table_;
  std::vector<uint32_t> ids_;
  std::vector<int64_t> new_rows_;
  std::vector<int64_t> held_;  // by key
  std::vector<int64_t> dropped_;
  bool is_done_ = false;
  BatchSlicer output_;
};

}  // namespace

OpenedNode OpenFinalPositions(const PlanNode& node, BatchStreams inputs,
                              OperatorContext& context) {
  return OpenUnary<FinalPositions, DistinctNode>(node, std::move(inputs), context);
}

}  // namespace xshards::ops
