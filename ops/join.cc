// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ops/batches.h"
#include "ops/executors.h"
#include "ops/gather.h"
#include "ops/join_columns.h"
#include "ops/join_table.h"
#include "ops/unary_stream.h"
#include "ops/vector_array.h"

namespace xshards::ops {

namespace {

class JoinStream final : public BatchStream {
 public:
  JoinStream(JoinNode node, BatchStreams inputs, OperatorContext& context)
      : node_(std::move(node)),
        context_(context),
        left_(std::move(inputs.at(0)), context),
        right_(std::move(inputs.at(1)), context),
        probe_(node_.type == JoinType::kRight ? right_ : left_),
        build_(node_.type == JoinType::kRight ? left_ : right_),
        reservation_(context.storage.budget),
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
    if (table_ == nullptr) {
      ARROW_ASSIGN_OR_RAISE(bool known, Start());
      if (!known) return nullptr;
    }
    while (!joined_.full()) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      ARROW_ASSIGN_OR_RAISE(auto batch, at_end_ ? Unmatched() : Matched());
      if (batch != nullptr) {
        if (batch->num_rows() > 0) joined_.Push(std::move(batch));
      } else if (at_end_) {
        break;
      } else {
        EndProbe();
      }
    }
    if (joined_.empty()) return nullptr;
    return joined_.Take();
  }

 private:
  /// Hold the build side and the first batch of the other. False if a side ended without
  /// telling its schema: then there is nothing to join.
  arrow::Result<bool> Start() {
    ARROW_ASSIGN_OR_RAISE(auto rows, build_.Collect());
    ARROW_ASSIGN_OR_RAISE(batch_, probe_.Next());
    ARROW_RETURN_NOT_OK(PrepareIfKnown());
    if (!columns_) return false;
    ARROW_ASSIGN_OR_RAISE(
        table_, JoinTable::Make(std::move(rows), columns_->build_keys(), context_.pool));
    reservation_.Resize(table_->num_bytes());
    if (node_.type == JoinType::kOuter) matched_.resize(table_->num_keys());
    if (batch_ != nullptr) ARROW_RETURN_NOT_OK(StartBatch());
    return true;
  }

  arrow::Status StartBatch() {
    row_ = 0;
    match_ = 0;
    const int64_t bytes = context_.batch_bytes;
    max_rows_ = std::max<int64_t>(
        1, std::min(RowsWithin(*batch_, bytes / 2), RowsWithinBuild(bytes / 2)));
    return table_->Find(*batch_, columns_->probe_keys(), &ids_);
  }

  int64_t RowsWithinBuild(int64_t bytes) const {
    // An empty side says nothing about the width of its rows.
    constexpr int64_t kMany = 1 << 20;
    return table_->rows()->num_rows() == 0 ? kMany : RowsWithin(*table_->rows(), bytes);
  }

  /// The next rows of the probe side with their partners, or nullptr at the end. One
  /// probe row may have more partners than fit: it goes on where it was.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Matched() {
    if (batch_ != nullptr && row_ == batch_->num_rows()) {
      ARROW_ASSIGN_OR_RAISE(batch_, probe_.Next());
      if (batch_ != nullptr) ARROW_RETURN_NOT_OK(StartBatch());
    }
    if (batch_ == nullptr) return nullptr;
    std::vector<int64_t> probe_rows;
    std::vector<int64_t> build_rows;
    const auto room = [&] { return max_rows_ - static_cast<int64_t>(probe_rows.size()); };
    for (; row_ < batch_->num_rows() && room() > 0; ++row_, match_ = 0) {
      const uint32_t id = ids_[static_cast<size_t>(row_)];
      const auto matches = table_->Matches(id);
      if (matches.empty()) {
        if (node_.type == JoinType::kInner) continue;
        probe_rows.push_back(row_);
        build_rows.push_back(-1);
        continue;
      }
      if (!matched_.empty()) matched_[id] = 1;
      const auto some = matches.subspan(match_).first(
          std::min(matches.size() - match_, static_cast<size_t>(room())));
      probe_rows.insert(probe_rows.end(), some.size(), row_);
      build_rows.insert(build_rows.end(), some.begin(), some.end());
      match_ += some.size();
      if (match_ < matches.size()) break;
    }
    ARROW_ASSIGN_OR_RAISE(auto partners,
                          RowsOrNull(std::move(build_rows), context_.pool));
    return columns_->Pair(*batch_, ToArray(std::move(probe_rows)), *table_->rows(),
                          partners, context_.pool);
  }

  void EndProbe() {
    at_end_ = true;
    if (node_.type == JoinType::kOuter) unmatched_ = table_->Unmarked(matched_);
    max_rows_ = RowsWithinBuild(context_.batch_bytes / 2);
  }

  /// The next rows of the build side that had no partner, or nullptr at the end.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Unmatched() {
    if (next_unmatched_ == unmatched_.size()) return nullptr;
    const size_t count =
        std::min(unmatched_.size() - next_unmatched_, static_cast<size_t>(max_rows_));
    const auto begin = unmatched_.begin() + static_cast<std::ptrdiff_t>(next_unmatched_);
    std::vector<int64_t> rows(begin, begin + static_cast<std::ptrdiff_t>(count));
    next_unmatched_ += count;
    return columns_->BuildOnly(*table_->rows(), ToArray(std::move(rows)), context_.pool);
  }

  const JoinNode node_;
  OperatorContext& context_;
  Input left_;
  Input right_;
  Input& probe_;
  Input& build_;
  Reservation reservation_;
  std::optional<JoinColumns> columns_;
  std::shared_ptr<arrow::Schema> schema_;
  std::unique_ptr<JoinTable> table_;

  std::shared_ptr<arrow::RecordBatch> batch_;  // of the probe side
  std::vector<uint32_t> ids_;                  // the keys of its rows
  int64_t row_ = 0;                            // the next of its rows
  size_t match_ = 0;                           // the next partner of that row
  int64_t max_rows_ = 1;                       // of one output batch
  std::vector<uint8_t> matched_;               // by key, for an outer join

  bool at_end_ = false;  // of the probe side
  std::vector<int64_t> unmatched_;
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
