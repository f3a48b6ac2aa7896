// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "ops/join/join_keys.h"
#include "xshards/plan/plan.h"

namespace xshards::ops {

/// Where each column of a join's output comes from.
///
/// Of the two inputs, one is held in memory (`build`) and one streams (`probe`): the
/// right and the left, unless the node says otherwise; in a right join the left is built,
/// so that the rows of the right keep their order.
class JoinColumns {
 public:
  /// KeyError names a missing key.
  static arrow::Result<JoinColumns> Make(const JoinNode& node, const arrow::Schema& left,
                                         const arrow::Schema& right);

  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  const std::vector<int>& probe_keys() const { return probe_keys_; }
  const std::vector<int>& build_keys() const { return build_keys_; }
  JoinKeyKind key_kind() const { return key_kind_; }
  /// The columns of the build side that Pair() takes.
  std::vector<int> TakenOfBuild() const;

  static bool BuildsLeft(const JoinNode& node) {
    return node.build_left || node.type == JoinType::kRight;
  }

  /// The columns of both sides at the given rows; a null row number gives nulls.
  /// `probe_rows` nullptr means all rows of the probe side, which are forwarded, not
  /// copied.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Pair(
      const arrow::RecordBatch& probe, const std::shared_ptr<arrow::Array>& probe_rows,
      const arrow::RecordBatch& build, const std::shared_ptr<arrow::Array>& build_rows,
      arrow::MemoryPool* pool) const;
  /// Rows of the build side that have no match.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> BuildOnly(
      const arrow::RecordBatch& build, const std::shared_ptr<arrow::Array>& build_rows,
      arrow::MemoryPool* pool) const;

 private:
  struct Source {
    int probe = -1;  // position on that side; both are set for a key of one name
    int build = -1;
  };

  std::shared_ptr<arrow::Schema> schema_;
  std::vector<Source> sources_;
  std::vector<int> probe_keys_;
  std::vector<int> build_keys_;
  JoinKeyKind key_kind_ = JoinKeyKind::kNone;
};

}  // namespace xshards::ops
