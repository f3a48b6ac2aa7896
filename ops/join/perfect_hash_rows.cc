// SPDX-License-Identifier: Apache-2.0
#include "ops/join/perfect_hash_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <arrow/array/array_primitive.h>
#include <arrow/array/util.h>
#include <arrow/util/bit_util.h>

#include "ops/kernels/gather.h"
#include "ops/kernels/prefetch.h"

namespace xshards::ops {

namespace {

// Rows of a part: its values fit a core's cache.
constexpr size_t kNumbersInPart = size_t{1} << 16;
// At least this many, so that parts do not share a word of bits.
constexpr int kMinShift = 6;
constexpr size_t kMinPlaces = size_t{1} << kMinShift;
// A wider range wastes more memory than it saves time.
constexpr uint64_t kMaxNumbersPerRow = 2;

/// Call `move` with a value of the unsigned type of this width.
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

/// Pack 64 bytes that are 0 or 1 into a word.
uint64_t BitsOfBytes(const uint8_t* bytes) {
  uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) {
    uint64_t eight = 0;
    std::memcpy(&eight, bytes + 8 * i, sizeof(eight));
    // Adds byte k, shifted to bit 56 + k; all other bits stay below.
    bits |= eight * 0x0102040810204080 >> 56 << 8 * i;
  }
  return bits;
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
      taken_(ScratchAllocator<uint64_t>(pool)),
      firsts_(ScratchAllocator<uint32_t>(pool)),
      last_(ScratchAllocator<uint64_t>(pool)) {
  for (size_t batch = 0; batch < batches_.size(); ++batch) {
    const auto num_rows = static_cast<size_t>(batches_[batch]->num_rows());
    for (size_t begin = 0; begin < num_rows; begin += RowsByPart::kRowsInChunk) {
      const size_t end = std::min(begin + RowsByPart::kRowsInChunk, num_rows);
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
      if (!has_repeats_) {
        step_ = Step::kPlace;
        ARROW_RETURN_NOT_OK(StartPlace(num_numbers_));
        return num_parts_;
      }
      [[fallthrough]];
    case Step::kPlace:
      if (has_repeats_) {
        step_ = Step::kPlaceRepeats;
        ARROW_RETURN_NOT_OK(StartPlaceRepeats());
        return num_parts_;
      }
      [[fallthrough]];
    case Step::kPlaceRepeats:
      step_ = Step::kDone;
      ARROW_RETURN_NOT_OK(Finish());
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
    case Step::kPlaceRepeats:
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
  if (whole.width() >= kMaxNumbersPerRow * num_rows_ || whole.width() >= kNoRow) {
    return false;
  }
  least_ = static_cast<uint64_t>(whole.least);
  num_numbers_ = whole.width() + 1;
  has_repeats_ = num_numbers_ < num_rows_;  // other repeats are found later
  const int bits = RowsByPart::PartBits(num_numbers_, kNumbersInPart);
  shift_ = std::max(kMinShift, static_cast<int>(std::bit_width(num_numbers_ - 1)) - bits);
  num_parts_ = ((num_numbers_ - 1) >> shift_) + 1;
  return true;
}

arrow::Status OrderedRows::StartSort() {
  places_.resize(num_rows_);
  past_caches_ = num_rows_ * sizeof(uint64_t) > kLastCacheBytes;
  sorted_.Start(chunks_.size(), num_parts_);
  for (Column& column : columns_) {
    column.sorted = ScratchVector<uint8_t>(ScratchAllocator<uint8_t>(pool_));
    column.sorted.resize(num_rows_ * static_cast<size_t>(column.byte_width));
    if (!column.any_missing) continue;
    column.sorted_there = ScratchVector<uint8_t>(ScratchAllocator<uint8_t>(pool_));
    column.sorted_there.resize(num_rows_);
  }
  return arrow::Status::OK();
}

arrow::Status OrderedRows::StartPlace(size_t num_places) {
  num_places_ = num_places;
  // If none repeats and the range equals the row count, every key of the range is
  // present.
  if (!has_repeats_ && num_numbers_ != num_rows_) taken_.resize((num_numbers_ + 63) / 64);
  const auto length = static_cast<int64_t>(num_places);
  for (Column& column : columns_) {
    // Others may have been created before a repeated key was found.
    column.placed.reset();
    column.placed_there.reset();
    ARROW_ASSIGN_OR_RAISE(column.placed,
                          arrow::AllocateBuffer(length * column.byte_width, pool_));
    if (!column.any_missing) continue;
    ARROW_ASSIGN_OR_RAISE(column.placed_there, arrow::AllocateEmptyBitmap(length, pool_));
  }
  return arrow::Status::OK();
}

arrow::Status OrderedRows::StartPlaceRepeats() {
  ScratchVector<uint64_t>().swap(taken_);
  firsts_.resize(num_numbers_);
  size_t num_places = 0;
  for (size_t part = 0; part < num_parts_; ++part) {
    part_begins_.push_back(static_cast<uint32_t>(num_places));
    for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      const auto [begin, end] = sorted_.Places(chunk, part);
      num_places += end - begin;
    }
    num_places = (num_places + kMinPlaces - 1) / kMinPlaces * kMinPlaces;
  }
  if (num_places >= kNoRow) {
    is_unfit_ = true;
    return arrow::Status::OK();
  }
  last_.assign(num_places / 64, 0);
  return StartPlace(num_places);
}

void OrderedRows::SortChunk(const Chunk& chunk, size_t number) {
  const JoinKeys& keys = *keys_[chunk.batch];
  const auto place_of = [&](size_t row) { return keys.word(chunk.begin + row) - least_; };
  const auto first = static_cast<uint32_t>(chunk.first);
  ScratchVector<uint32_t> to(ScratchAllocator<uint32_t>{pool_});
  to.resize(chunk.end - chunk.begin);
  ScratchVector<uint8_t> stage(ScratchAllocator<uint8_t>{pool_});
  WriteInAnyOrder(
      places_.data() + first, to.size(), past_caches_, stage, [&](uint32_t* places) {
        sorted_.SortChunk(
            number, first, to.size(), [&](size_t row) { return place_of(row) >> shift_; },
            [&](size_t row, uint32_t sorted) {
              to[row] = sorted - first;
              places[sorted - first] = static_cast<uint32_t>(place_of(row));
            });
      });
  for (Column& column : columns_) SortColumn(chunk, to, stage, column);
}

void OrderedRows::SortColumn(const Chunk& chunk, const ScratchVector<uint32_t>& to,
                             ScratchVector<uint8_t>& stage, Column& column) {
  const arrow::Array& array = *batches_[chunk.batch]->column(column.index);
  ForWidth(column.byte_width, [&]<typename T>(T) {
    const T* const from = array.data()->GetValues<T>(1) + chunk.begin;
    T* const sorted = reinterpret_cast<T*>(column.sorted.data()) + chunk.first;
    WriteInAnyOrder(sorted, to.size(), past_caches_, stage, [&](T* values) {
      for (size_t i = 0; i < to.size(); ++i) values[to[i]] = from[i];
    });
  });
  for (size_t i = 0; column.any_missing && i < to.size(); ++i) {
    const auto row = static_cast<int64_t>(chunk.begin + i);
    column.sorted_there[chunk.first + to[i]] = array.IsValid(row) ? 1 : 0;
  }
}

void OrderedRows::PlacePart(size_t part) {
  ScratchVector<uint8_t> stage(ScratchAllocator<uint8_t>{pool_});
  if (step_ == Step::kPlaceRepeats) {
    ChoosePlaces(part);
  } else if (has_repeats_ || !TakeNumbers(part, stage)) {
    has_repeats_ = true;
    return;
  }
  for (const Column& column : columns_) PlaceColumn(part, stage, column);
}

std::pair<size_t, size_t> OrderedRows::NumbersOf(size_t part) const {
  return {part << shift_, std::min((part + 1) << shift_, num_numbers_)};
}

std::pair<size_t, size_t> OrderedRows::PlacesOf(size_t part) const {
  if (step_ == Step::kPlace) return NumbersOf(part);
  return {part_begins_[part],
          part + 1 < num_parts_ ? part_begins_[part + 1] : num_places_};
}

bool OrderedRows::TakeNumbers(size_t part, ScratchVector<uint8_t>& stage) {
  const auto [first, last] = NumbersOf(part);
  // Bytes, not bits: they are written without being read first.
  stage.assign((last - first + 63) / 64 * 64, 0);
  uint8_t* const is_taken = stage.data();
  const uint32_t* const places = places_.data();
  size_t num_rows = 0;
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    const auto [begin, end] = sorted_.Places(chunk, part);
    for (size_t i = begin; i < end; ++i) is_taken[places[i] - first] = 1;
    num_rows += end - begin;
  }
  if (num_rows != static_cast<size_t>(std::count(stage.begin(), stage.end(), 1))) {
    return false;
  }
  if (taken_.empty()) return true;
  for (size_t at = 0; at < stage.size(); at += 64) {
    taken_[(first + at) / 64] = BitsOfBytes(is_taken + at);
  }
  return true;
}

void OrderedRows::ChoosePlaces(size_t part) {
  const auto [first, last] = NumbersOf(part);
  // First the number of rows of each key, then where they end.
  std::fill(firsts_.data() + first, firsts_.data() + last, 0);
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    const auto [begin, end] = sorted_.Places(chunk, part);
    for (size_t i = begin; i < end; ++i) ++firsts_[places_[i]];
  }
  uint32_t place = part_begins_[part];
  for (size_t number = first; number < last; ++number) {
    const uint32_t count = firsts_[number];
    place += count;
    firsts_[number] = count == 0 ? kNoRow : place;
    if (count > 0) last_[(place - 1) / 64] |= uint64_t{1} << (place - 1) % 64;
  }
  // Backwards: the rows of a key stay in order, and its end becomes its start.
  for (size_t chunk = chunks_.size(); chunk-- > 0;) {
    const auto [begin, end] = sorted_.Places(chunk, part);
    for (size_t i = end; i-- > begin;) places_[i] = --firsts_[places_[i]];
  }
}

void OrderedRows::PlaceColumn(size_t part, ScratchVector<uint8_t>& stage,
                              const Column& column) {
  ForWidth(column.byte_width, [&]<typename T>(T) {
    const T* const sorted = reinterpret_cast<const T*>(column.sorted.data());
    T* const placed = reinterpret_cast<T*>(column.placed->mutable_data());
    const auto [first, last] = PlacesOf(part);
    const auto put = [&, first = first](T* values) {
      for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
        const auto [begin, end] = sorted_.Places(chunk, part);
        for (size_t i = begin; i < end; ++i) values[places_[i] - first] = sorted[i];
      }
    };
    WriteInAnyOrder(placed + first, last - first, past_caches_, stage, put);
  });
  if (!column.any_missing) return;
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    const auto [begin, end] = sorted_.Places(chunk, part);
    for (size_t i = begin; i < end; ++i) {
      arrow::bit_util::SetBitTo(column.placed_there->mutable_data(), places_[i],
                                column.sorted_there[i] != 0);
    }
  }
}

arrow::Status OrderedRows::Finish() {
  if (is_unfit_) return arrow::Status::OK();
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
  return arrow::Status::OK();
}

void OrderedRows::Find(const JoinKeys& keys, ScratchVector<uint32_t>* first) const {
  first->resize(keys.num_rows());
  if (has_repeats_) {
    FindFirsts(keys, first->data());
  } else {
    FindPlaces(keys, first->data());
  }
  for (size_t row = 0; keys.any_missing() && row < keys.num_rows(); ++row) {
    if (keys.is_missing(row)) (*first)[row] = kNoRow;
  }
}

void OrderedRows::FindFirsts(const JoinKeys& keys, uint32_t* found) const {
  // Keys out of range read the first entry, which avoids a branch.
  const auto number_or_first = [&](uint64_t number) {
    return number < num_numbers_ ? number : 0;
  };
  const size_t num_rows = keys.num_rows();
  for (size_t row = 0; row < num_rows; ++row) {
    const uint64_t ahead = keys.word(std::min(row + kRowsAhead, num_rows - 1)) - least_;
    ReadAhead(&firsts_[number_or_first(ahead)]);
    const uint64_t number = keys.word(row) - least_;
    const uint32_t place = firsts_[number_or_first(number)];
    found[row] = number < num_numbers_ ? place : kNoRow;
  }
}

void OrderedRows::FindPlaces(const JoinKeys& keys, uint32_t* found) const {
  const auto place_of = [&](size_t row) { return keys.word(row) - least_; };
  if (taken_.empty()) {
    for (size_t row = 0; row < keys.num_rows(); ++row) {
      const uint64_t place = place_of(row);
      found[row] = place < num_places_ ? static_cast<uint32_t>(place) : kNoRow;
    }
    return;
  }
  for (size_t row = 0; row < keys.num_rows(); ++row) {
    const uint64_t place = place_of(row);
    const bool is_inside = place < num_places_;
    const uint64_t bit = taken_[is_inside ? place / 64 : 0] >> place % 64 & 1;
    found[row] = is_inside && bit != 0 ? static_cast<uint32_t>(place) : kNoRow;
  }
}

}  // namespace xshards::ops
