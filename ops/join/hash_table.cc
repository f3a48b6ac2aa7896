// SPDX-License-Identifier: Apache-2.0
#include "ops/join/hash_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "ops/kernels/prefetch.h"

namespace xshards::ops {

namespace {

// Rows of a part: its table fits a core's cache.
constexpr size_t kSlotRowsInPart = size_t{1} << 16;
constexpr size_t kNumbersInPart = size_t{1} << 18;
// Far enough ahead for a slot to arrive from memory, near enough to stay in cache.
constexpr uint32_t kSlotsAhead = 16;

uint64_t HashOf(uint64_t word) {
  word *= 0x9E3779B97F4A7C15;  // the golden ratio
  word ^= word >> 32;
  word *= 0xBB67AE8584CAA73B;  // the root of 3
  return word ^ (word >> 29);
}

}  // namespace

JoinTable::JoinTable(std::shared_ptr<arrow::RecordBatch> rows, JoinKeys keys,
                     JoinKeyKind kind, arrow::MemoryPool* pool)
    : HeldRows(std::move(rows)),
      keys_(std::move(keys)),
      kind_(kind),
      num_rows_(static_cast<uint32_t>(keys_.num_rows())),
      num_chunks_((keys_.num_rows() + RowsByPart::kRowsInChunk - 1) /
                  RowsByPart::kRowsInChunk),
      pool_(pool),
      next_(ScratchAllocator<uint32_t>(pool)),
      dense_(ScratchAllocator<uint32_t>(pool)),
      sorted_words_(ScratchAllocator<uint64_t>(pool)),
      sorted_rows_(ScratchAllocator<uint32_t>(pool)) {}

arrow::Result<std::shared_ptr<JoinTable>> JoinTable::Make(
    std::shared_ptr<arrow::RecordBatch> rows, const std::vector<int>& keys,
    JoinKeyKind kind, arrow::MemoryPool* pool) {
  if (rows->num_rows() >= int64_t{kNoRow}) {
    return arrow::Status::CapacityError("A join build side can have at most ", kNoRow,
                                        " rows per partition in memory, got ",
                                        rows->num_rows());
  }
  ARROW_ASSIGN_OR_RAISE(auto made, JoinKeys::Make(*rows, keys, kind, pool));
  return std::shared_ptr<JoinTable>(
      new JoinTable(std::move(rows), std::move(made), kind, pool));
}

arrow::Result<size_t> JoinTable::StartStep() {
  if (kind_ == JoinKeyKind::kNone || num_rows_ == 0) return 0;
  switch (step_) {
    case Step::kNone:
      step_ = Step::kMeasure;
      ranges_.resize(num_chunks_);
      return num_chunks_;
    case Step::kMeasure:
      step_ = Step::kSort;
      ChooseDense();
      ChooseParts();
      sorted_words_.resize(num_rows_);
      if (dense_.empty()) sorted_rows_.resize(num_rows_);
      // Rows whose key is missing are sorted after all parts.
      sorted_.Start(num_chunks_, parts_.size() + 1);
      return num_chunks_;
    case Step::kSort:
      step_ = Step::kFill;
      return parts_.size();
    case Step::kFill:
      step_ = Step::kDone;
      ScratchVector<uint64_t>().swap(sorted_words_);
      ScratchVector<uint32_t>().swap(sorted_rows_);
      return 0;
    case Step::kDone:
      return 0;
  }
  return 0;
}

arrow::Status JoinTable::RunTask(size_t task) {
  switch (step_) {
    case Step::kMeasure:
      if (kind_ == JoinKeyKind::kWord) {
        const auto [begin, end] = RowsOfChunk(task);
        ranges_[task].Include(keys_, begin, end);
      }
      break;
    case Step::kSort:
      SortChunk(task);
      break;
    case Step::kFill:
      if (task == 0 && keys_.any_missing()) FillMissing();
      dense_.empty() ? FillSlots(task) : FillDense(task);
      break;
    default:
      break;
  }
  return arrow::Status::OK();
}

std::pair<uint32_t, uint32_t> JoinTable::RowsOfChunk(size_t chunk) const {
  const size_t begin = chunk * RowsByPart::kRowsInChunk;
  const size_t end = std::min<size_t>(begin + RowsByPart::kRowsInChunk, num_rows_);
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
}

void JoinTable::ChooseDense() {
  NumberRange whole;
  for (const NumberRange& range : ranges_) whole.Include(range);
  if (whole.is_empty()) return;
  least_ = static_cast<uint64_t>(whole.least);
  // A slot takes as much memory as four of these, and a row needs two slots.
  if (whole.width() < uint64_t{8} * num_rows_) dense_.resize(whole.width() + 1);
}

void JoinTable::ChooseParts() {
  if (dense_.empty()) {
    const int bits = RowsByPart::PartBits(num_rows_, kSlotRowsInPart);
    shift_ = 32 - bits;
    parts_.resize(size_t{1} << bits);
    return;
  }
  // The same number of keys for each part, except the last.
  const int bits = RowsByPart::PartBits(dense_.size(), kNumbersInPart);
  shift_ = std::max(0, static_cast<int>(std::bit_width(dense_.size() - 1)) - bits);
  parts_.resize(((dense_.size() - 1) >> shift_) + 1);
}

void JoinTable::SortChunk(size_t chunk) {
  if (dense_.empty()) {
    SortRows(
        chunk, [this](uint64_t word) { return PartOfHash(HashOf(word)); },
        [this](uint32_t place, uint64_t word, uint32_t row) {
          sorted_words_[place] = word;
          sorted_rows_[place] = row;
        });
  } else {
    // A key's offset within a part is below 2^32: offset and row are written as one word.
    const uint64_t mask = (uint64_t{1} << shift_) - 1;
    SortRows(
        chunk, [this](uint64_t word) { return (word - least_) >> shift_; },
        [this, mask](uint32_t place, uint64_t word, uint32_t row) {
          sorted_words_[place] = ((word - least_) & mask) << 32 | row;
        });
  }
}

template <typename PartOf, typename Put>
void JoinTable::SortRows(size_t chunk, PartOf&& part_of, Put&& put) {
  const size_t num_parts = parts_.size();
  const bool any_missing = keys_.any_missing();
  const auto part_of_row = [&](uint32_t row) -> size_t {
    return any_missing && keys_.is_missing(row) ? num_parts : part_of(keys_.word(row));
  };
  const auto [begin, end] = RowsOfChunk(chunk);
  sorted_.SortChunk(
      chunk, begin, end - begin,
      [&, first = begin](size_t i) {
        return part_of_row(first + static_cast<uint32_t>(i));
      },
      [&, first = begin](size_t i, uint32_t place) {
        const uint32_t row = first + static_cast<uint32_t>(i);
        put(place, keys_.word(row), row);
      });
}

void JoinTable::FillSlots(size_t number) {
  Part& part = parts_[number];
  size_t num_rows = 0;
  for (size_t chunk = 0; chunk < num_chunks_; ++chunk) {
    const auto [begin, end] = sorted_.Places(chunk, number);
    num_rows += end - begin;
  }
  part.slots = ScratchVector<Slot>(std::bit_ceil(std::max<size_t>(1, 2 * num_rows)),
                                   Slot{}, ScratchAllocator<Slot>(pool_));
  part.mask = part.slots.size() - 1;
  for (size_t chunk = 0; chunk < num_chunks_; ++chunk) {
    const auto [begin, end] = sorted_.Places(chunk, number);
    for (uint32_t i = begin; i < end; ++i) {
      const uint64_t ahead = sorted_words_[std::min(i + kSlotsAhead, end - 1)];
      __builtin_prefetch(&part.slots[HashOf(ahead) & part.mask], 1);
      const uint64_t word = sorted_words_[i];
      const uint32_t row = sorted_rows_[i];
      uint64_t at = HashOf(word) & part.mask;
      while (
          part.slots[at].first != kNoRow &&
          (part.slots[at].word != word || !AreEqual(keys_, row, part.slots[at].first))) {
        at = (at + 1) & part.mask;
      }
      Slot& slot = part.slots[at];
      if (slot.first == kNoRow) {
        slot = {word, row, row};
      } else {
        if (!part.has_repeats) ExpectRepeats();
        part.has_repeats = true;
        next_[slot.last] = row;
        slot.last = row;
      }
    }
  }
}

void JoinTable::FillDense(size_t number) {
  const uint64_t first = uint64_t{number} << shift_;
  uint32_t* const places = dense_.data() + first;
  std::fill_n(places, std::min(uint64_t{1} << shift_, dense_.size() - first), kNoRow);
  bool has_repeats = false;
  // Backwards: the rows of a key end up in ascending order.
  for (size_t chunk = num_chunks_; chunk-- > 0;) {
    const auto [begin, end] = sorted_.Places(chunk, number);
    for (uint32_t i = end; i-- > begin;) {
      const auto row = static_cast<uint32_t>(sorted_words_[i]);
      uint32_t& place = places[sorted_words_[i] >> 32];
      if (!has_repeats && place != kNoRow) {
        ExpectRepeats();
        has_repeats = true;
      }
      // Unconditionally, not only for repeated keys: that branch would be unpredictable.
      if (has_repeats) next_[row] = place;
      place = row;
    }
  }
  parts_[number].has_repeats = has_repeats;
}

void JoinTable::FillMissing() {
  uint32_t last = kNoRow;
  for (size_t chunk = 0; chunk < num_chunks_; ++chunk) {
    const auto [begin, end] = sorted_.Places(chunk, parts_.size());
    for (uint32_t i = begin; i < end; ++i) {
      const uint32_t row =
          dense_.empty() ? sorted_rows_[i] : static_cast<uint32_t>(sorted_words_[i]);
      if (last == kNoRow) {
        first_missing_ = row;
      } else {
        if (!repeats_missing_) ExpectRepeats();
        repeats_missing_ = true;
        next_[last] = row;
      }
      last = row;
    }
  }
}

void JoinTable::ExpectRepeats() {
  std::call_once(expects_repeats_, [this] { next_.assign(num_rows_, kNoRow); });
}

void JoinTable::Find(const JoinKeys& keys, ScratchVector<uint32_t>* first) const {
  first->resize(keys.num_rows());
  if (num_rows_ == 0 || kind_ == JoinKeyKind::kNone) {
    std::fill(first->begin(), first->end(), num_rows_ == 0 ? kNoRow : 0);
    return;
  }
  if (!dense_.empty()) return FindDense(keys, first);
  std::array<uint64_t, kRowsAhead> hashes;
  for (size_t begin = 0; begin < keys.num_rows(); begin += kRowsAhead) {
    const size_t count = std::min(kRowsAhead, keys.num_rows() - begin);
    for (size_t i = 0; i < count; ++i) {
      hashes[i] = HashOf(keys.word(begin + i));
      const Part& part = parts_[PartOfHash(hashes[i])];
      ReadAhead(&part.slots[hashes[i] & part.mask]);
    }
    for (size_t i = 0; i < count; ++i) {
      const size_t row = begin + i;
      if (keys.is_missing(row)) {
        (*first)[row] = first_missing_;
        continue;
      }
      const Part& part = parts_[PartOfHash(hashes[i])];
      uint64_t at = hashes[i] & part.mask;
      while (part.slots[at].first != kNoRow &&
             (part.slots[at].word != keys.word(row) ||
              !AreEqual(keys, row, part.slots[at].first))) {
        at = (at + 1) & part.mask;
      }
      (*first)[row] = part.slots[at].first;
    }
  }
}

void JoinTable::FindDense(const JoinKeys& keys, ScratchVector<uint32_t>* first) const {
  const uint64_t size = dense_.size();
  const size_t num_rows = keys.num_rows();
  const auto find = [&](size_t row) {
    const uint64_t at = keys.word(row) - least_;
    // No branch on the result: it would be unpredictable.
    const uint32_t found = dense_[at < size ? at : 0];
    (*first)[row] = at < size ? found : kNoRow;
  };
  size_t row = 0;
  const bool is_cached = size * sizeof(uint32_t) <= kSecondCacheBytes;
  for (; !is_cached && row + kRowsAhead < num_rows; ++row) {
    const uint64_t ahead = keys.word(row + kRowsAhead) - least_;
    ReadAhead(&dense_[ahead < size ? ahead : 0]);
    find(row);
  }
  for (; row < num_rows; ++row) find(row);
  for (row = 0; keys.any_missing() && row < num_rows; ++row) {
    if (keys.is_missing(row)) (*first)[row] = first_missing_;
  }
}

bool JoinTable::has_repeats() const {
  if (kind_ == JoinKeyKind::kNone) return num_rows_ > 1;
  const auto repeats = [](const Part& part) { return part.has_repeats; };
  return repeats_missing_ || std::any_of(parts_.begin(), parts_.end(), repeats);
}

}  // namespace xshards::ops
