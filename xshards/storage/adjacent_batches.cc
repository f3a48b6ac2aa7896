// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/adjacent_batches.h"

#include <algorithm>
#include <utility>

#include <arrow/array.h>

namespace xshards {

namespace {

bool SameBytes(const std::shared_ptr<arrow::Buffer>& left,
               const std::shared_ptr<arrow::Buffer>& right) {
  if (left == nullptr || right == nullptr) return left == right;
  return left->data() == right->data() && left->size() == right->size();
}

/// Arrow drops the bitmap of an array without nulls, so either may have none.
bool SameValidity(const arrow::ArrayData& left, const arrow::ArrayData& right) {
  const auto& a = left.buffers[0];
  const auto& b = right.buffers[0];
  return (a == nullptr && left.GetNullCount() == 0) ||
         (b == nullptr && right.GetNullCount() == 0) || SameBytes(a, b);
}

/// True if both have the same buffers, whichever rows of them they use.
bool SameBuffers(const arrow::ArrayData& left, const arrow::ArrayData& right) {
  if (left.buffers.size() != right.buffers.size() || left.buffers.empty() ||
      !SameValidity(left, right) ||
      !std::equal(left.buffers.begin() + 1, left.buffers.end(), right.buffers.begin() + 1,
                  SameBytes)) {
    return false;
  }
  if ((left.dictionary == nullptr) != (right.dictionary == nullptr)) return false;
  if (left.dictionary != nullptr && !SameBuffers(*left.dictionary, *right.dictionary)) {
    return false;
  }
  return std::equal(
      left.child_data.begin(), left.child_data.end(), right.child_data.begin(),
      right.child_data.end(), [](const auto& a, const auto& b) {
        // Only the column itself is sliced, never its children.
        return a->offset == b->offset && a->length == b->length && SameBuffers(*a, *b);
      });
}

/// The column of all batches as one array, or nullptr.
std::shared_ptr<arrow::Array> JoinColumn(const arrow::RecordBatchVector& batches,
                                         int column) {
  auto whole = batches.front()->column_data(column)->Copy();
  int64_t null_count = whole->GetNullCount();
  for (size_t i = 1; i < batches.size(); ++i) {
    const auto& next = *batches[i]->column_data(column);
    if (next.offset != whole->offset + whole->length || !SameBuffers(*whole, next)) {
      return nullptr;
    }
    if (whole->buffers[0] == nullptr) whole->buffers[0] = next.buffers[0];
    whole->length += next.length;
    null_count += next.GetNullCount();
    whole->null_count = null_count;
  }
  if (whole->buffers[0] != nullptr) {
    // If one batch has no bitmap, its rows must all be valid in the bitmap of the others.
    whole->null_count = arrow::kUnknownNullCount;
    if (whole->GetNullCount() != null_count) return nullptr;
  }
  return arrow::MakeArray(whole);
}

}  // namespace

std::shared_ptr<arrow::RecordBatch> JoinAdjacent(
    const arrow::RecordBatchVector& batches) {
  if (batches.empty()) return nullptr;
  const auto& first = *batches.front();
  int64_t num_rows = first.num_rows();
  for (size_t i = 1; i < batches.size(); ++i) {
    if (!batches[i]->schema()->Equals(*first.schema(), /*check_metadata=*/true)) {
      return nullptr;
    }
    num_rows += batches[i]->num_rows();
  }
  arrow::ArrayVector columns;
  for (int column = 0; column < first.num_columns(); ++column) {
    auto whole = JoinColumn(batches, column);
    if (whole == nullptr) return nullptr;
    columns.push_back(std::move(whole));
  }
  return arrow::RecordBatch::Make(first.schema(), num_rows, std::move(columns));
}

}  // namespace xshards
