// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/batch_reader.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "learn/feed/gather_rows.h"

namespace xshards::learn {

BatchReader::BatchReader(RowSource* source, EpochOrder order, arrow::MemoryPool* pool)
    : source_(source), order_(std::move(order)), pool_(pool) {}

arrow::Result<TensorBlock> BatchReader::Read(int64_t begin, int64_t end) {
  if (order_.num_rows() == 0) return TensorBlock{};
  // An empty run has the same tensors as the others, with 0 rows.
  const int64_t position = std::min(begin, order_.num_rows() - 1);
  ARROW_RETURN_NOT_OK(LoadWindow(order_.WindowAt(position)));
  const int64_t offset = begin - order_.WindowStart(window_);
  const bool within = end <= order_.WindowStart(window_ + 1);
  if (within && shuffled_.empty()) return rows_.Slice(offset, end - begin);

  ARROW_ASSIGN_OR_RAISE(auto batch, Allocate(end - begin));
  for (int64_t next = begin; next < end;) {
    ARROW_RETURN_NOT_OK(LoadWindow(order_.WindowAt(next)));
    const int64_t stop = std::min(end, order_.WindowStart(window_ + 1));
    CopyPart({next - order_.WindowStart(window_), stop - next}, next - begin, batch);
    next = stop;
  }
  return batch;
}

arrow::Status BatchReader::LoadWindow(int64_t window) {
  if (window == window_) return arrow::Status::OK();
  window_ = -1;
  rows_ = {};  // before the next is read: only one stays in memory
  shuffled_.clear();
  ARROW_ASSIGN_OR_RAISE(rows_, ReadSpans(order_.WindowSpans(window)));
  shuffled_ = order_.WindowRows(window);
  window_ = window;
  return arrow::Status::OK();
}

arrow::Result<TensorBlock> BatchReader::ReadSpans(
    const std::vector<EpochOrder::Span>& spans) {
  if (spans.size() == 1) {
    return source_->Read(spans[0].piece, spans[0].begin, spans[0].length);
  }
  int64_t num_rows = 0;
  for (const auto& span : spans) num_rows += span.length;
  TensorBlock joined;
  int64_t row = 0;
  for (const auto& span : spans) {
    ARROW_ASSIGN_OR_RAISE(rows_, source_->Read(span.piece, span.begin, span.length));
    if (row == 0) {
      ARROW_ASSIGN_OR_RAISE(joined, Allocate(num_rows));
    }
    CopyPart({0, span.length}, row, joined);
    row += span.length;
  }
  return joined;
}

arrow::Result<TensorBlock> BatchReader::Allocate(int64_t num_rows) const {
  TensorBlock block{.num_rows = num_rows, .tensors = {}};
  for (const Tensor& tensor : rows_.tensors) {
    ARROW_ASSIGN_OR_RAISE(
        std::shared_ptr<arrow::Buffer> data,
        arrow::AllocateBuffer(num_rows * tensor.row.num_bytes(), pool_));
    block.tensors.push_back({tensor.row, std::move(data)});
  }
  return block;
}

void BatchReader::CopyPart(Part part, int64_t target_row,
                           const TensorBlock& target) const {
  for (size_t i = 0; i < rows_.tensors.size(); ++i) {
    const int64_t width = rows_.tensors[i].row.num_bytes();
    if (part.length * width == 0) continue;
    const uint8_t* from = rows_.tensors[i].data->data();
    uint8_t* to = target.tensors[i].data->mutable_data() + target_row * width;
    if (shuffled_.empty()) {
      std::memcpy(to, from + part.offset * width,
                  static_cast<size_t>(part.length * width));
    } else {
      GatherRows(from, width,
                 std::span(shuffled_).subspan(static_cast<size_t>(part.offset),
                                              static_cast<size_t>(part.length)),
                 to);
    }
  }
}

}  // namespace xshards::learn
