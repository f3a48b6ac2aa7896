// SPDX-License-Identifier: Apache-2.0
#include "ops/join/output_columns.h"

#include <utility>

#include <arrow/array/util.h>
#include <arrow/compute/cast.h>

#include "ops/kernels/gather.h"
#include "ops/keys/key_columns.h"

namespace xshards::ops {

namespace {

/// Gather a column, or forward it if `rows` is null, and cast it to the output's type:
/// keys of one name may differ in type.
arrow::Result<std::shared_ptr<arrow::Array>> GatherAs(
    const std::shared_ptr<arrow::DataType>& type,
    const std::shared_ptr<arrow::Array>& column,
    const std::shared_ptr<arrow::Array>& rows, arrow::MemoryPool* pool) {
  auto values = column;
  if (rows != nullptr) {
    ARROW_ASSIGN_OR_RAISE(values, Gather(column, rows, pool));
  }
  if (values->type()->Equals(*type)) return values;
  arrow::compute::ExecContext exec(pool);
  return arrow::compute::Cast(*values, type, arrow::compute::CastOptions::Unsafe(),
                              &exec);
}

}  // namespace

arrow::Result<JoinColumns> JoinColumns::Make(const JoinNode& node,
                                             const arrow::Schema& left,
                                             const arrow::Schema& right) {
  JoinColumns columns;
  ARROW_ASSIGN_OR_RAISE(columns.schema_, JoinSchema(node, left, right));
  ARROW_ASSIGN_OR_RAISE(auto left_keys, FindColumns(left, node.left_keys));
  ARROW_ASSIGN_OR_RAISE(auto right_keys, FindColumns(right, node.right_keys));

  const bool is_swapped = BuildsLeft(node);
  columns.probe_keys_ = is_swapped ? right_keys : left_keys;
  columns.build_keys_ = is_swapped ? left_keys : right_keys;
  columns.key_kind_ = ChooseJoinKeyKind(left, left_keys, right, right_keys);
  if (node.type == JoinType::kSemi || node.type == JoinType::kAnti) {
    for (int i = 0; i < left.num_fields(); ++i) columns.sources_.push_back({i, -1});
    return columns;
  }

  // The columns of the left, then those of the right without keys of the same name.
  std::vector<int> partner_of_left(static_cast<size_t>(left.num_fields()), -1);
  std::vector<bool> is_shared(static_cast<size_t>(right.num_fields()), false);
  for (size_t i = 0; i < left_keys.size(); ++i) {
    if (node.left_keys[i] != node.right_keys[i]) continue;
    partner_of_left[static_cast<size_t>(left_keys[i])] = right_keys[i];
    is_shared[static_cast<size_t>(right_keys[i])] = true;
  }
  const auto add = [&](int from_left, int from_right) {
    columns.sources_.push_back(is_swapped ? Source{from_right, from_left}
                                          : Source{from_left, from_right});
  };
  for (int i = 0; i < left.num_fields(); ++i) {
    add(i, partner_of_left[static_cast<size_t>(i)]);
  }
  for (int i = 0; i < right.num_fields(); ++i) {
    if (!is_shared[static_cast<size_t>(i)]) add(-1, i);
  }
  return columns;
}

std::vector<int> JoinColumns::TakenOfBuild() const {
  std::vector<int> taken;
  for (const Source& source : sources_) {
    if (source.probe < 0) taken.push_back(source.build);
  }
  return taken;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> JoinColumns::Pair(
    const arrow::RecordBatch& probe, const std::shared_ptr<arrow::Array>& probe_rows,
    const arrow::RecordBatch& build, const std::shared_ptr<arrow::Array>& build_rows,
    arrow::MemoryPool* pool) const {
  arrow::ArrayVector columns;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const auto& type = schema_->field(static_cast<int>(i))->type();
    const bool from_probe = sources_[i].probe >= 0;
    ARROW_ASSIGN_OR_RAISE(
        auto column,
        from_probe ? GatherAs(type, probe.column(sources_[i].probe), probe_rows, pool)
                   : GatherAs(type, build.column(sources_[i].build), build_rows, pool));
    columns.push_back(std::move(column));
  }
  const int64_t num_rows =
      probe_rows == nullptr ? probe.num_rows() : probe_rows->length();
  return arrow::RecordBatch::Make(schema_, num_rows, std::move(columns));
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> JoinColumns::BuildOnly(
    const arrow::RecordBatch& build, const std::shared_ptr<arrow::Array>& build_rows,
    arrow::MemoryPool* pool) const {
  arrow::ArrayVector columns;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const auto& type = schema_->field(static_cast<int>(i))->type();
    const bool from_build = sources_[i].build >= 0;
    ARROW_ASSIGN_OR_RAISE(
        auto column,
        from_build ? GatherAs(type, build.column(sources_[i].build), build_rows, pool)
                   : arrow::MakeArrayOfNull(type, build_rows->length(), pool));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(schema_, build_rows->length(), std::move(columns));
}

}  // namespace xshards::ops
