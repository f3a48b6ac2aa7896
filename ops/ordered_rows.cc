// SPDX-License-Identifier: Apache-2.0
#include "ops/ordered_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include <arrow/array/array_primitive.h>
#include <arrow/array/util.h>
#include <arrow/util/bit_util.h>

#include "ops/gather.h"

namespace xshards::ops {

namespace {

// Rows that are sorted at once: what they are sorted to is in cache.
constexpr size_t kRowsInChunk = size_t{1} << 16;
// Of a part, so that its values are in cache.
constexpr size_t kPlacesInPart = size_t{1} << 18;
// Few parts or many, none between: with 64, a part's counter is read again just when
// processors can't tell whether its last change is still on its way, and sorting takes
// 1.5 times as long as with 16 or 256 (benchmarks/README.md).
constexpr int kFewPartBits = 4;
constexpr int kManyPartBits = 8;
constexpr size_t kMaxParts = size_t{1} << kManyPartBits;
// So many that parts do not share a word of bits.
constexpr int kMinShift = 6;
// More of them would rather waste memory than save time.
constexpr uint64_t kMaxPlacesPerRow = 2;

/// Call `move` with a value of the type that has so many bytes.
template <typename Move>
void ForWidth(int byte_width, Move&& move) {
  switch (byte_width) {
    case 1:
      return move(uint8_t{});
    case 2:
      return move(uint16_t{});
    case 4:
      return move(uint32_t{});
    default:
      return move(uint64_t{});
  }
}

}  // namespace

OrderedRows::OrderedRows(arrow::RecordBatchVector batches, int key,
                         arrow::MemoryPool* pool)
    : batches_(std::move(batches)),
      key_(key),
      pool_(pool),
      keys_(batches_.size()),
      ranges_(batches_.size()),
      places_(ScratchAllocator<uint32_t>(pool)),
      taken_(ScratchAllocator<uint64_t>(pool)) {
  for (size_t batch = 0; batch < batches_.size(); ++batch) {
    const auto num_rows = static_cast<size_t>(batches_[batch]->num_rows());
    for (size_t begin = 0; begin < num_rows; begin += kRowsInChunk) {
      const size_t end = std::min(begin + kRowsInChunk, num_rows);
      chunks_.push_back({batch, begin, end, num_rows_ + begin});
    }
    num_rows_ += num_rows;
  }
}

std::shared_ptr<OrderedRows> OrderedRows::Make(arrow::RecordBatchVector batches, int key,
                                               const std::vector<int>& taken,
                                               arrow::MemoryPool* pool) {
  std::shared_ptr<OrderedRows> made(new OrderedRows(std::move(batches), key, pool));
  if (made->num_rows_ == 0 || made->num_rows_ >= kNoRow) return nullptr;
  for (const int i : taken) {
    const int width = PlainWidth(*made->batches_[0]->column(i)->type());
    if (width == 0) return nullptr;
    const bool any_missing = std::any_of(
        made->batches_.begin(), made->batches_.end(),
        [&](const auto& batch) { return batch->column(i)->null_count() > 0; });
    made->columns_.push_back(
        {.index = i, .byte_width = width, .any_missing = any_missing});
  }
  return made;
}

arrow::Result<size_t> OrderedRows::StartStep() {
  switch (step_) {
    case Step::kNone:
      step_ = Step::kMeasure;
      return batches_.size();
    case Step::kMeasure:
      step_ = Step::kDone;
      if (is_unfit_ || !ChooseParts()) return 0;
      step_ = Step::kSort;
      ARROW_RETURN_NOT_OK(StartSort());
      return chunks_.size();
    case Step::kSort:
      step_ = Step::kPlace;
      return num_parts_;
    case Step::kPlace:
      step_ = Step::kDone;
      if (!is_unfit_) ARROW_RETURN_NOT_OK(Finish());
      return 0;
    case Step::kDone:
      return 0;
  }
  return 0;
}

arrow::Status OrderedRows::RunTask(size_t task) {
  if (is_unfit_) return arrow::Status::OK();
  switch (step_) {
    case Step::kMeasure:
      return MeasureBatch(task);
    case Step::kSort:
      SortChunk(chunks_[task], task);
      break;
    case Step::kPlace:
      PlacePart(task);
      break;
    default:
      break;
  }
  return arrow::Status::OK();
}

arrow::Status OrderedRows::MeasureBatch(size_t batch) {
  ARROW_ASSIGN_OR_RAISE(
      auto keys, JoinKeys::Make(*batches_[batch], {key_}, JoinKeyKind::kWord, pool_));
  if (keys.any_missing()) is_unfit_ = true;
  ranges_[batch].Include(keys, 0, keys.num_rows());
  keys_[batch] = std::move(keys);
  return arrow::Status::OK();
}

bool OrderedRows::ChooseParts() {
  NumberRange whole;
  for (const NumberRange& range : ranges_) whole.Include(range);
  if (whole.width() >= kMaxPlacesPerRow * num_rows_ || whole.width() >= kNoRow ||
      whole.width() + 1 < num_rows_) {
    return false;
  }
  least_ = static_cast<uint64_t>(whole.least);
  num_places_ = whole.width() + 1;
  const bool are_few = num_places_ <= kPlacesInPart << kFewPartBits;
  const int bits = are_few ? kFewPartBits : kManyPartBits;
  shift_ = std::max(kMinShift, static_cast<int>(std::bit_width(num_places_ - 1)) - bits);
  num_parts_ = ((num_places_ - 1) >> shift_) + 1;
  return true;
}

arrow::Status OrderedRows::StartSort() {
  places_.resize(num_rows_);
  part_ends_.resize(chunks_.size() * num_parts_);
  taken_.resize((num_places_ + 63) / 64);
  for (Column& column : columns_) {
    const auto width = static_cast<size_t>(column.byte_width);
    column.sorted = ScratchVector<uint8_t>(ScratchAllocator<uint8_t>(pool_));
    column.sorted.resize(num_rows_ * width);
    const auto placed_bytes = static_cast<int64_t>(num_places_ * width);
    ARROW_ASSIGN_OR_RAISE(column.placed, arrow::AllocateBuffer(placed_bytes, pool_));
    if (!column.any_missing) continue;
    column.sorted_there = ScratchVector<uint8_t>(ScratchAllocator<uint8_t>(pool_));
    column.sorted_there.resize(num_rows_);
    ARROW_ASSIGN_OR_RAISE(
        column.placed_there,
        arrow::AllocateEmptyBitmap(static_cast<int64_t>(num_places_), pool_));
  }
  return arrow::Status::OK();
}

void OrderedRows::SortChunk(const Chunk& chunk, size_t number) {
  const JoinKeys& keys = *keys_[chunk.batch];
  const auto place_of = [&](size_t row) { return keys.word(row) - least_; };
  // First how many rows there are of each part, then where the next one goes.
  std::array<uint32_t, kMaxParts> next{};
  for (size_t row = chunk.begin; row < chunk.end; ++row) ++next[place_of(row) >> shift_];
  std::exclusive_scan(next.begin(), next.end(), next.begin(),
                      static_cast<uint32_t>(chunk.first));
  ScratchVector<uint32_t> to(ScratchAllocator<uint32_t>{pool_});
  to.resize(chunk.end - chunk.begin);
  for (size_t i = 0; i < to.size(); ++i) {
    const uint64_t place = place_of(chunk.begin + i);
    to[i] = next[place >> shift_]++;
    places_[to[i]] = static_cast<uint32_t>(place);
  }
  std::copy_n(next.begin(), num_parts_, part_ends_.data() + number * num_parts_);
  for (Column& column : columns_) SortColumn(chunk, to, column);
}

void OrderedRows::SortColumn(const Chunk& chunk, const ScratchVector<uint32_t>& to,
                             Column& column) {
  const arrow::Array& array = *batches_[chunk.batch]->column(column.index);
  ForWidth(column.byte_width, [&]<typename T>(T) {
    const T* const from = array.data()->GetValues<T>(1) + chunk.begin;
    T* const sorted = reinterpret_cast<T*>(column.sorted.data());
    for (size_t i = 0; i < to.size(); ++i) sorted[to[i]] = from[i];
  });
  for (size_t i = 0; column.any_missing && i < to.size(); ++i) {
    const auto row = static_cast<int64_t>(chunk.begin + i);
    column.sorted_there[to[i]] = array.IsValid(row) ? 1 : 0;
  }
}

std::pair<size_t, size_t> OrderedRows::Sorted(size_t chunk, size_t part) const {
  const size_t at = chunk * num_parts_ + part;
  return {part == 0 ? chunks_[chunk].first : part_ends_[at - 1], part_ends_[at]};
}

void OrderedRows::PlacePart(size_t part) {
  if (!TakePlaces(part)) {
    is_unfit_ = true;
    return;
  }
  for (const Column& column : columns_) PlaceColumn(part, column);
}

bool OrderedRows::TakePlaces(size_t part) {
  const size_t first_word = (part << shift_) / 64;
  const size_t end_word = std::min(((part + 1) << shift_) / 64, taken_.size());
  std::fill(taken_.data() + first_word, taken_.data() + end_word, 0);
  uint64_t repeats = 0;
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    const auto [begin, end] = Sorted(chunk, part);
    for (size_t i = begin; i < end; ++i) {
      uint64_t& word = taken_[places_[i] / 64];
      const uint64_t bit = uint64_t{1} << places_[i] % 64;
      repeats |= word & bit;
      word |= bit;
    }
  }
  return repeats == 0;
}

void OrderedRows::PlaceColumn(size_t part, const Column& column) {
  ForWidth(column.byte_width, [&]<typename T>(T) {
    const T* const sorted = reinterpret_cast<const T*>(column.sorted.data());
    T* const placed = reinterpret_cast<T*>(column.placed->mutable_data());
    for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      const auto [begin, end] = Sorted(chunk, part);
      for (size_t i = begin; i < end; ++i) placed[places_[i]] = sorted[i];
    }
  });
  if (!column.any_missing) return;
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    const auto [begin, end] = Sorted(chunk, part);
    for (size_t i = begin; i < end; ++i) {
      arrow::bit_util::SetBitTo(column.placed_there->mutable_data(), places_[i],
                                column.sorted_there[i] != 0);
    }
  }
}

arrow::Status OrderedRows::Finish() {
  const auto num_places = static_cast<int64_t>(num_places_);
  const auto nulls = std::make_shared<arrow::NullArray>(num_places);
  auto schema = batches_[0]->schema();
  arrow::ArrayVector arrays(static_cast<size_t>(schema->num_fields()), nulls);
  for (const Column& column : columns_) {
    arrays[static_cast<size_t>(column.index)] = arrow::MakeArray(
        arrow::ArrayData::Make(schema->field(column.index)->type(), num_places,
                               {column.placed_there, column.placed},
                               column.any_missing ? arrow::kUnknownNullCount : 0));
  }
  for (int i = 0; i < schema->num_fields(); ++i) {
    const auto& type = arrays[static_cast<size_t>(i)]->type();
    ARROW_ASSIGN_OR_RAISE(schema, schema->SetField(i, schema->field(i)->WithType(type)));
  }
  rows_ = arrow::RecordBatch::Make(schema, num_places, std::move(arrays));
  columns_.clear();
  keys_.clear();
  batches_.clear();
  ScratchVector<uint32_t>().swap(places_);
  if (num_rows_ == num_places_) ScratchVector<uint64_t>().swap(taken_);
  return arrow::Status::OK();
}

void OrderedRows::Find(const JoinKeys& keys, std::vector<uint32_t>* first) const {
  first->resize(keys.num_rows());
  uint32_t* const found = first->data();
  const auto place_of = [&](size_t row) { return keys.word(row) - least_; };
  if (taken_.empty()) {
    for (size_t row = 0; row < keys.num_rows(); ++row) {
      const uint64_t place = place_of(row);
      found[row] = place < num_places_ ? static_cast<uint32_t>(place) : kNoRow;
    }
  } else {
    for (size_t row = 0; row < keys.num_rows(); ++row) {
      const uint64_t place = place_of(row);
      const bool is_inside = place < num_places_;
      const uint64_t bit = taken_[is_inside ? place / 64 : 0] >> place % 64 & 1;
      found[row] = is_inside && bit != 0 ? static_cast<uint32_t>(place) : kNoRow;
    }
  }
  for (size_t row = 0; keys.any_missing() && row < keys.num_rows(); ++row) {
    if (keys.is_missing(row)) found[row] = kNoRow;
  }
}

}  // namespace xshards::ops
