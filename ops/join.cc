// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/buffer.h>

#include "ops/batches.h"
#include "ops/executors.h"
#include "ops/gather.h"
#include "ops/held_rows.h"
#include "ops/join_build.h"
#include "ops/join_columns.h"
#include "ops/probe_rows.h"
#include "ops/unary_stream.h"
#include "ops/vector_array.h"

namespace xshards::ops {

namespace {

// What is held at once of a side that is not shared: with its table and what comes out,
// on a few threads, it is within the budget.
constexpr int64_t kHeldInBudget = 12;

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

  /// False if a side ended without telling its schema: then there is nothing to join.
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

  /// Make a table of the next rows of the build side, `first` before them.
  arrow::Status Hold(std::shared_ptr<arrow::RecordBatch> first) {
    JoinBuild::Spec spec{.keys = columns_->build_keys(),
                         .kind = columns_->key_kind(),
                         .max_bytes = context_.storage.budget->limit() / kHeldInBudget};
    // In an outer join, rows that have no partner come in their order.
    if (node_.type != JoinType::kOuter) spec.taken = columns_->TakenOfBuild();
    if (node_.shared != nullptr) {
      spec.max_bytes = std::numeric_limits<int64_t>::max();
      build_table_ = node_.shared->GetOrMake<JoinBuild>(
          [&] { return std::make_shared<JoinBuild>(spec, context_); });
    } else {
      build_table_ = std::make_shared<JoinBuild>(spec, context_);
      build_table_->StartWith(std::move(first));
    }
    ARROW_ASSIGN_OR_RAISE(table_, build_table_->Get(build_, context_));
    has_repeats_ = table_->has_repeats();
    if (node_.shared != nullptr) build_.Close();
    matched_.clear();
    if (node_.type == JoinType::kOuter) {
      matched_.resize(static_cast<size_t>(table_->rows()->num_rows()));
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

  /// The next rows of the probe side with their partners, or nullptr at the end. One
  /// probe row may have more partners than fit: it goes on where it was.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Pairs() {
    if (batch_ == nullptr || row_ == batch_->num_rows()) {
      ARROW_ASSIGN_OR_RAISE(batch_, probe_.Next());
      if (batch_ == nullptr) return nullptr;
      ARROW_RETURN_NOT_OK(StartBatch());
    }
    probe_rows_.clear();
    build_rows_.clear();
    if (is_selection_) {
      SelectRows();
    } else if (IsOneToOne()) {
      if (auto partners = AllPartners(); partners != nullptr) {
        const auto slice = batch_->Slice(row_, partners->length());
        row_ += partners->length();
        return columns_->Pair(*slice, nullptr, *table_->rows(), partners, context_.pool);
      }
      PairFirst();
    } else {
      PairRows();
    }
    return Give();
  }

  arrow::Status StartBatch() {
    row_ = 0;
    match_ = HeldRows::kNoRow;
    const int64_t build_rows = std::max<int64_t>(1, table_->rows()->num_rows());
    const int64_t row_bytes =
        NumBytes(*batch_) / std::max<int64_t>(1, batch_->num_rows()) +
        NumBytes(*table_->rows()) / build_rows;
    max_rows_ = static_cast<size_t>(
        std::max<int64_t>(1, 2 * context_.batch_bytes / std::max<int64_t>(1, row_bytes)));
    ARROW_ASSIGN_OR_RAISE(auto keys, JoinKeys::Make(*batch_, columns_->probe_keys(),
                                                    columns_->key_kind(), context_.pool));
    table_->Find(keys, &first_);
    return arrow::Status::OK();
  }

  void SelectRows() {
    for (; row_ < batch_->num_rows(); ++row_) {
      const bool found = first_[static_cast<size_t>(row_)] != HeldRows::kNoRow;
      if (probe_.keeps_rows()) {
        if (found) probe_.Mark(row_);
      } else if (found == (node_.type == JoinType::kSemi)) {
        probe_rows_.push_back(row_);
      }
    }
  }

  /// True if nothing is to be done but to put each row beside its only partner, or none.
  bool IsOneToOne() const {
    return !has_repeats_ && !probe_.keeps_rows() && node_.type != JoinType::kOuter;
  }

  /// The partners of the next rows, as they were found, if each row has one.
  std::shared_ptr<arrow::Array> AllPartners() const {
    const uint32_t* const partners = first_.data() + row_;
    const size_t count = std::min(first_.size() - static_cast<size_t>(row_), max_rows_);
    if (std::find(partners, partners + count, HeldRows::kNoRow) != partners + count) {
      return nullptr;
    }
    return std::make_shared<arrow::UInt32Array>(
        static_cast<int64_t>(count),
        std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(partners),
                                        static_cast<int64_t>(count * sizeof(uint32_t))));
  }

  /// PairRows for the plain case, without a branch on what is as good as random.
  void PairFirst() {
    const auto begin = static_cast<size_t>(row_);
    const size_t count = std::min(first_.size() - begin, max_rows_);
    probe_rows_.resize(count);
    build_rows_.resize(count);
    size_t found = 0;
    for (size_t row = begin; row < begin + count; ++row) {
      const bool has_partner = first_[row] != HeldRows::kNoRow;
      probe_rows_[found] = static_cast<int64_t>(row);
      build_rows_[found] = has_partner ? int64_t{first_[row]} : -1;
      found += static_cast<size_t>(has_partner || keeps_probe_);
    }
    probe_rows_.resize(found);
    build_rows_.resize(found);
    row_ += static_cast<int64_t>(count);
  }

  void PairRows() {
    const bool gives_rest = keeps_probe_ && !probe_.keeps_rows();
    for (; row_ < batch_->num_rows() && probe_rows_.size() < max_rows_; ++row_) {
      if (match_ == HeldRows::kNoRow) match_ = first_[static_cast<size_t>(row_)];
      if (match_ == HeldRows::kNoRow) {
        if (gives_rest) Add(-1);
        continue;
      }
      if (probe_.keeps_rows()) probe_.Mark(row_);
      for (; match_ != HeldRows::kNoRow; match_ = table_->Next(match_)) {
        if (probe_rows_.size() >= max_rows_) return;
        if (!matched_.empty()) matched_[match_] = 1;
        Add(match_);
      }
    }
  }

  void Add(int64_t build_row) {
    probe_rows_.push_back(row_);
    build_rows_.push_back(build_row);
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Give() {
    std::shared_ptr<arrow::Array> partners;
    if (!is_selection_) {
      ARROW_ASSIGN_OR_RAISE(partners,
                            RowsOrNull(std::exchange(build_rows_, {}), context_.pool));
    }
    const auto count = static_cast<int64_t>(probe_rows_.size());
    // Rows that follow each other need not be copied.
    const bool is_slice =
        count > 0 && probe_rows_.back() - probe_rows_.front() == count - 1 &&
        std::adjacent_find(probe_rows_.begin(), probe_rows_.end()) == probe_rows_.end();
    if (is_slice) {
      const auto slice = batch_->Slice(probe_rows_.front(), count);
      return columns_->Pair(*slice, nullptr, *table_->rows(), partners, context_.pool);
    }
    return columns_->Pair(*batch_, ToArray(std::exchange(probe_rows_, {})),
                          *table_->rows(), partners, context_.pool);
  }

  arrow::Status EndPairs() {
    unmatched_.clear();
    for (size_t row = 0; row < matched_.size(); ++row) {
      if (matched_[row] == 0) unmatched_.push_back(static_cast<int64_t>(row));
    }
    next_unmatched_ = 0;
    max_rows_ =
        static_cast<size_t>(table_->rows()->num_rows() == 0
                                ? 1
                                : RowsWithin(*table_->rows(), context_.batch_bytes / 2));
    phase_ = Phase::kBuildRest;
    return arrow::Status::OK();
  }

  /// The next rows of the build side that had no partner, or nullptr at the end.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> BuildRest() {
    if (next_unmatched_ == unmatched_.size()) return nullptr;
    const size_t count = std::min(unmatched_.size() - next_unmatched_, max_rows_);
    const auto begin = unmatched_.begin() + static_cast<std::ptrdiff_t>(next_unmatched_);
    std::vector<int64_t> rows(begin, begin + static_cast<std::ptrdiff_t>(count));
    next_unmatched_ += count;
    return columns_->BuildOnly(*table_->rows(), ToArray(std::move(rows)), context_.pool);
  }

  /// Hold the next rows of the build side, for another pass over the probe side; after
  /// the last, give the rows of the probe side that are due.
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
    probe_rows_.clear();
    build_rows_.clear();
    for (row_ = 0; row_ < batch_->num_rows(); ++row_) {
      if (probe_.is_marked(row_) == (node_.type == JoinType::kSemi)) Add(-1);
    }
    return Give();
  }

  const JoinNode node_;
  OperatorContext& context_;
  Input left_;
  Input right_;
  ProbeRows probe_;
  Input& build_;
  const bool is_selection_;  // semi or anti: gives rows of the left alone
  const bool keeps_probe_;   // gives rows of the probe side that have no partner
  std::optional<JoinColumns> columns_;
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<JoinBuild> build_table_;
  std::shared_ptr<const HeldRows> table_;
  bool has_repeats_ = true;  // in the table: a row may have several partners
  Phase phase_ = Phase::kPairs;

  std::shared_ptr<arrow::RecordBatch> batch_;  // of the probe side
  std::vector<uint32_t> first_;                // the first partner of its rows
  int64_t row_ = 0;                            // the next of its rows
  uint32_t match_ = HeldRows::kNoRow;          // the next partner of that row
  size_t max_rows_ = 1;                        // of one output batch
  std::vector<int64_t> probe_rows_;            // of the next output batch
  std::vector<int64_t> build_rows_;
  std::vector<uint8_t> matched_;    // rows of the build side, for an outer join
  std::vector<int64_t> unmatched_;  // those that had no partner
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
