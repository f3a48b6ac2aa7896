// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <arrow/array.h>

#include "ops/executors.h"
#include "ops/join/build_rows.h"
#include "ops/join/build_side.h"
#include "ops/join/match_pairs.h"
#include "ops/join/output_columns.h"
#include "ops/join/probe_side.h"
#include "ops/kernels/gather.h"
#include "ops/stream/batch_slicing.h"
#include "ops/stream/unary_stream.h"
#include "xshards/execution/fragments/stage_state.h"
#include "xshards/memory/scratch_vector.h"
#include "xshards/types/row_bytes.h"

namespace xshards::ops {

namespace {

// The share of the budget for the rows of a build side that is not shared: with its table
// and output, on a few threads, it fits.
constexpr int64_t kHeldInBudget = 12;
// Rows of one output batch, however narrow they are.
constexpr int64_t kMaxPairs = int64_t{1} << 20;

class JoinStream final : public BatchStream {
 public:
  JoinStream(JoinNode node, BatchStreams inputs, OperatorContext& context)
      : node_(std::move(node)),
        context_(context),
        left_(std::move(inputs.at(0)), context),
        right_(std::move(inputs.at(1)), context),
        probe_(JoinColumns::BuildsLeft(node_) ? right_ : left_, context),
        build_(JoinColumns::BuildsLeft(node_) ? left_ : right_),
        is_selection_(node_.type == JoinType::kSemi || node_.type == JoinType::kAnti),
        keeps_probe_(node_.type == JoinType::kLeft || node_.type == JoinType::kRight ||
                     node_.type == JoinType::kOuter),
        first_(ScratchAllocator<uint32_t>(context.pool)),
        pairs_(context.pool),
        matched_(ScratchAllocator<uint8_t>(context.pool)),
        unmatched_(ScratchAllocator<uint32_t>(context.pool)),
        joined_(context.batch_bytes / 2, context.pool) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Status PrepareIfKnown() {
    if (columns_ || left_.schema() == nullptr || right_.schema() == nullptr) {
      return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(columns_,
                          JoinColumns::Make(node_, *left_.schema(), *right_.schema()));
    schema_ = columns_->schema();
    return arrow::Status::OK();
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (build_table_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(bool known, Start());
      if (!known) return nullptr;
    }
    return joined_.Next([this]() -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      return NextPiece();
    });
  }

 private:
  enum class Phase : uint8_t { kPairs, kBuildRest, kProbeRest, kEnd };

  /// False if a side ended with an unknown schema: then there is nothing to join.
  arrow::Result<bool> Start() {
    std::shared_ptr<arrow::RecordBatch> first;
    if (build_.schema() == nullptr) {
      ARROW_ASSIGN_OR_RAISE(first, build_.Next());
    }
    ARROW_RETURN_NOT_OK(probe_.LearnSchema());
    ARROW_RETURN_NOT_OK(PrepareIfKnown());
    if (!columns_) return false;
    ARROW_RETURN_NOT_OK(Hold(std::move(first)));
    if (build_table_->has_more()) probe_.KeepRows();
    return true;
  }

  /// Build a table of the next rows of the build side, beginning with `first`.
  arrow::Status Hold(std::shared_ptr<arrow::RecordBatch> first) {
    JoinBuild::Spec spec{.keys = columns_->build_keys(),
                         .kind = columns_->key_kind(),
                         .max_bytes = context_.storage.budget->limit() / kHeldInBudget};
    // In an outer join, rows without a match keep their order.
    if (node_.type != JoinType::kOuter) spec.taken = columns_->TakenOfBuild();
    const bool is_shared = node_.shared_table > 0 && context_.stage != nullptr;
    // All fragments probe the complete build side: it is not split into passes.
    if (node_.shared_table > 0) spec.max_bytes = std::numeric_limits<int64_t>::max();
    if (is_shared) {
      build_table_ = context_.stage->GetOrMake<JoinBuild>(node_.shared_table, [&] {
        return std::make_shared<JoinBuild>(spec, context_);
      });
    } else {
      build_table_ = std::make_shared<JoinBuild>(spec, context_);
      build_table_->StartWith(std::move(first));
    }
    ARROW_ASSIGN_OR_RAISE(table_, build_table_->Get(build_, context_));
    has_repeats_ = table_->has_repeats();
    if (is_shared) build_.Close();
    if (node_.type == JoinType::kOuter) {
      matched_.assign(static_cast<size_t>(table_->rows()->num_rows()), 0);
    }
    phase_ = Phase::kPairs;
    return arrow::Status::OK();
  }

  /// The next rows, perhaps none; nullptr at the end.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> NextPiece() {
    while (true) {
      std::shared_ptr<arrow::RecordBatch> piece;
      switch (phase_) {
        case Phase::kPairs: {
          ARROW_ASSIGN_OR_RAISE(piece, Pairs());
          if (piece == nullptr) ARROW_RETURN_NOT_OK(EndPairs());
          break;
        }
        case Phase::kBuildRest: {
          ARROW_ASSIGN_OR_RAISE(piece, BuildRest());
          if (piece == nullptr) ARROW_RETURN_NOT_OK(EndPass());
          break;
        }
        case Phase::kProbeRest: {
          ARROW_ASSIGN_OR_RAISE(piece, ProbeRest());
          if (piece == nullptr) phase_ = Phase::kEnd;
          break;
        }
        case Phase::kEnd:
          return nullptr;
      }
      if (piece != nullptr) return piece;
    }
  }

  /// The next rows of the probe side with their matches, or nullptr at the end. A probe
  /// row with more matches than fit continues in the next batch.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Pairs() {
    if (batch_ == nullptr || at_.row == first_.size()) {
      ARROW_ASSIGN_OR_RAISE(batch_, probe_.Next());
      if (batch_ == nullptr) return nullptr;
      ARROW_RETURN_NOT_OK(StartBatch());
    }
    if (is_selection_) {
      SelectRows();
    } else if (IsOneToOne()) {
      MatchFirst();
      if (auto partners = AllPartners(); partners != nullptr) {
        const auto slice =
            batch_->Slice(static_cast<int64_t>(at_.row), partners->length());
        at_.row += static_cast<size_t>(partners->length());
        return columns_->Pair(*slice, nullptr, *table_->rows(), partners, context_.pool);
      }
      PairFirst();
    } else {
      PairRows();
    }
    return Give();
  }

  arrow::Status StartBatch() {
    if (batch_->num_rows() >= int64_t{HeldRows::kNoRow}) {
      return arrow::Status::CapacityError("Expected at most ", HeldRows::kNoRow,
                                          " rows in a batch of a join, got ",
                                          batch_->num_rows());
    }
    at_ = {};
    const int64_t build_rows = std::max<int64_t>(1, table_->rows()->num_rows());
    const int64_t row_bytes =
        RowBytes(*batch_) / std::max<int64_t>(1, batch_->num_rows()) +
        RowBytes(*table_->rows()) / build_rows;
    max_rows_ = static_cast<size_t>(std::clamp<int64_t>(
        2 * context_.batch_bytes / std::max<int64_t>(1, row_bytes), 1, kMaxPairs));
    ARROW_ASSIGN_OR_RAISE(auto keys, JoinKeys::Make(*batch_, columns_->probe_keys(),
                                                    columns_->key_kind(), context_.pool));
    table_->Find(keys, &first_);
    return arrow::Status::OK();
  }

  void SelectRows() {
    pairs_.Start(first_.size());
    for (; at_.row < first_.size(); ++at_.row) {
      const bool found = first_[at_.row] != HeldRows::kNoRow;
      if (probe_.keeps_rows()) {
        if (found) probe_.Mark(at_.row);
      } else {
        pairs_.Add(at_.row, HeldRows::kNoRow, found == (node_.type == JoinType::kSemi));
      }
    }
  }

  /// True if each probe row has at most one match, so that no pairs have to be listed.
  bool IsOneToOne() const { return !has_repeats_ && !probe_.keeps_rows(); }

  size_t NumNextRows() const { return std::min(first_.size() - at_.row, max_rows_); }

  /// Mark the matches of the next rows, for an outer join. Rows without a match write to
  /// an entry that is never read, which avoids an unpredictable branch.
  void MatchFirst() {
    if (matched_.empty()) return;
    uint8_t lonely = 0;
    uint8_t* const matched = matched_.data();
    const size_t end = at_.row + NumNextRows();
    for (size_t row = at_.row; row < end; ++row) {
      const uint32_t partner = first_[row];
      *(partner == HeldRows::kNoRow ? &lonely : matched + partner) = 1;
    }
  }

  /// The matches of the next rows, if each row has exactly one.
  std::shared_ptr<arrow::Array> AllPartners() const {
    const uint32_t* const partners = first_.data() + at_.row;
    const size_t count = NumNextRows();
    const bool all =
        std::find(partners, partners + count, HeldRows::kNoRow) == partners + count;
    return all ? ViewRows(partners, count) : nullptr;
  }

  /// PairRows for at most one match per row, without an unpredictable branch.
  void PairFirst() {
    const size_t end = at_.row + NumNextRows();
    pairs_.Start(end - at_.row);
    for (; at_.row < end; ++at_.row) {
      const uint32_t partner = first_[at_.row];
      pairs_.Add(at_.row, partner, partner != HeldRows::kNoRow || keeps_probe_);
    }
  }

  void PairRows() {
    pairs_.Start(max_rows_);
    const bool gives_rest = keeps_probe_ && !probe_.keeps_rows();
    table_->ListPairs(first_, gives_rest, &at_, &pairs_);
    if (!probe_.keeps_rows() && matched_.empty()) return;
    for (size_t pair = 0; pair < pairs_.size(); ++pair) {
      if (pairs_.held(pair) == HeldRows::kNoRow) continue;
      if (probe_.keeps_rows()) probe_.Mark(pairs_.probe(pair));
      if (!matched_.empty()) matched_[pairs_.held(pair)] = 1;
    }
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Give() {
    std::shared_ptr<arrow::Array> partners;
    if (!is_selection_) {
      ARROW_ASSIGN_OR_RAISE(partners, pairs_.HeldRowsOrNull());
    }
    if (!pairs_.is_slice()) {
      return columns_->Pair(*batch_, pairs_.ProbeRows(), *table_->rows(), partners,
                            context_.pool);
    }
    const auto slice =
        batch_->Slice(pairs_.probe(0), static_cast<int64_t>(pairs_.size()));
    return columns_->Pair(*slice, nullptr, *table_->rows(), partners, context_.pool);
  }

  arrow::Status EndPairs() {
    unmatched_.resize(matched_.size());
    size_t num_unmatched = 0;
    for (size_t row = 0; row < matched_.size(); ++row) {
      unmatched_[num_unmatched] = static_cast<uint32_t>(row);
      num_unmatched += matched_[row] == 0 ? 1 : 0;
    }
    unmatched_.resize(num_unmatched);
    next_unmatched_ = 0;
    max_rows_ =
        static_cast<size_t>(table_->rows()->num_rows() == 0
                                ? 1
                                : RowsWithin(*table_->rows(), context_.batch_bytes / 2));
    phase_ = Phase::kBuildRest;
    return arrow::Status::OK();
  }

  /// The next rows of the build side that had no match, or nullptr at the end.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> BuildRest() {
    if (next_unmatched_ == unmatched_.size()) return nullptr;
    const size_t count = std::min(unmatched_.size() - next_unmatched_, max_rows_);
    const auto rows = ViewRows(unmatched_.data() + next_unmatched_, count);
    next_unmatched_ += count;
    return columns_->BuildOnly(*table_->rows(), rows, context_.pool);
  }

  /// Load the next rows of the build side for another pass over the probe side; after the
  /// last, output the unmatched rows of the probe side.
  arrow::Status EndPass() {
    if (!probe_.keeps_rows()) {
      phase_ = Phase::kEnd;
      return arrow::Status::OK();
    }
    ARROW_RETURN_NOT_OK(probe_.StartAgain());
    if (build_table_->has_more()) {
      auto first = build_table_->TakeNextBatch();
      table_ = nullptr;
      build_table_ = nullptr;
      return Hold(std::move(first));
    }
    phase_ = keeps_probe_ || is_selection_ ? Phase::kProbeRest : Phase::kEnd;
    return arrow::Status::OK();
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> ProbeRest() {
    ARROW_ASSIGN_OR_RAISE(batch_, probe_.Next());
    if (batch_ == nullptr) return nullptr;
    const auto num_rows = static_cast<size_t>(batch_->num_rows());
    pairs_.Start(num_rows);
    for (size_t row = 0; row < num_rows; ++row) {
      pairs_.Add(row, HeldRows::kNoRow,
                 probe_.is_marked(row) == (node_.type == JoinType::kSemi));
    }
    return Give();
  }

  const JoinNode node_;
  OperatorContext& context_;
  Input left_;
  Input right_;
  ProbeRows probe_;
  Input& build_;
  const bool is_selection_;  // semi or anti: outputs rows of the left only
  const bool keeps_probe_;   // outputs rows of the probe side that have no match
  std::optional<JoinColumns> columns_;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<JoinBuild> build_table_;
  std::shared_ptr<const HeldRows> table_;
  bool has_repeats_ = true;  // in the table: a row may have several matches
  Phase phase_ = Phase::kPairs;

  std::shared_ptr<arrow::RecordBatch> batch_;  // of the probe side
  ScratchVector<uint32_t> first_;              // the first match of its rows
  HeldRows::PairCursor at_;                    // the next of its rows
  size_t max_rows_ = 1;                        // of one output batch
  JoinPairs pairs_;                            // of the next output batch
  ScratchVector<uint8_t> matched_;     // rows of the build side, for an outer join
  ScratchVector<uint32_t> unmatched_;  // those without a match
  size_t next_unmatched_ = 0;
  BatchCoalescer joined_;
};

}  // namespace

OpenedNode OpenJoin(const PlanNode& node, BatchStreams inputs, OperatorContext& context) {
  auto stream =
      std::make_unique<JoinStream>(node.as<JoinNode>(), std::move(inputs), context);
  ARROW_RETURN_NOT_OK(stream->PrepareIfKnown());
  return stream;
}

}  // namespace xshards::ops
