// SPDX-License-Identifier: Apache-2.0
#include "ops/join_table.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace xshards::ops {

namespace {

// A table this small is in cache, and made sooner than threads meet.
constexpr size_t kFewRows = size_t{1} << 16;
// Far enough ahead for a slot to arrive from memory, near enough to stay in cache.
constexpr size_t kSlotsAhead = 16;
// Rows looked for at once, so that what they need comes from memory meanwhile.
constexpr size_t kRowsAhead = 128;
// Rows of which those of one part are picked.
constexpr uint32_t kRowsToPick = 1024;

uint64_t HashOf(uint64_t word) {
  word *= 0x9E3779B97F4A7C15;  // the golden ratio
  word ^= word >> 32;
  word *= 0xBB67AE8584CAA73B;  // the root of 3
  return word ^ (word >> 29);
}

}  // namespace

JoinTable::JoinTable(std::shared_ptr<arrow::RecordBatch> rows, JoinKeys keys,
                     JoinKeyKind kind, arrow::MemoryPool* pool)
    : rows_(std::move(rows)),
      keys_(std::move(keys)),
      kind_(kind),
      num_rows_(static_cast<uint32_t>(keys_.num_rows())),
      num_parts_(keys_.num_rows() <= kFewRows ? 1 : kMaxParts),
      next_(ScratchAllocator<uint32_t>(pool)),
      dense_(ScratchAllocator<uint32_t>(pool)) {
  for (Part& part : parts_) {
    part.slots = ScratchVector<Slot>(1, Slot{}, ScratchAllocator<Slot>(pool));
  }
  if (kind != JoinKeyKind::kNone) next_.assign(keys_.num_rows(), kNoRow);
  if (kind == JoinKeyKind::kWord) ChooseDense();
}

void JoinTable::ChooseDense() {
  auto least = std::numeric_limits<int64_t>::max();
  auto greatest = std::numeric_limits<int64_t>::min();
  for (uint32_t row = 0; row < num_rows_; ++row) {
    if (keys_.is_missing(row)) continue;
    const auto number = static_cast<int64_t>(keys_.word(row));
    least = std::min(least, number);
    greatest = std::max(greatest, number);
  }
  if (least > greatest) return;
  least_ = static_cast<uint64_t>(least);
  const uint64_t range = static_cast<uint64_t>(greatest) - least_;
  // A slot takes as much as four of these, and there would be two of them a row.
  if (range < uint64_t{8} * num_rows_) dense_.assign(range + 1, kNoRow);
}

arrow::Result<std::shared_ptr<JoinTable>> JoinTable::Make(
    std::shared_ptr<arrow::RecordBatch> rows, const std::vector<int>& keys,
    JoinKeyKind kind, arrow::MemoryPool* pool) {
  if (rows->num_rows() >= int64_t{kNoRow}) {
    return arrow::Status::CapacityError("A join holds at most ", kNoRow,
                                        " rows of a partition at once, not ",
                                        rows->num_rows());
  }
  ARROW_ASSIGN_OR_RAISE(auto made, JoinKeys::Make(*rows, keys, kind, pool));
  return std::shared_ptr<JoinTable>(
      new JoinTable(std::move(rows), std::move(made), kind, pool));
}

void JoinTable::Fill(size_t number) {
  if (kind_ == JoinKeyKind::kNone) return;
  if (number == 0 && keys_.any_missing()) FillMissing();
  if (!dense_.empty()) return FillDense(number);
  std::vector<uint32_t> rows;
  rows.reserve(num_rows_ / num_parts_ + num_rows_ / 16);
  for (uint32_t row = 0; row < num_rows_; ++row) {
    if (PartOf(HashOf(keys_.word(row))) == number && !keys_.is_missing(row)) {
      rows.push_back(row);
    }
  }
  Part& part = parts_[number];
  part.slots.assign(std::bit_ceil(std::max<size_t>(1, 2 * rows.size())), Slot{});
  part.mask = part.slots.size() - 1;
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint32_t ahead = rows[std::min(i + kSlotsAhead, rows.size() - 1)];
    __builtin_prefetch(&part.slots[HashOf(keys_.word(ahead)) & part.mask], 1);
    const uint32_t row = rows[i];
    const uint64_t word = keys_.word(row);
    uint64_t at = HashOf(word) & part.mask;
    while (part.slots[at].first != kNoRow &&
           (part.slots[at].word != word || !AreEqual(keys_, row, part.slots[at].first))) {
      at = (at + 1) & part.mask;
    }
    Slot& slot = part.slots[at];
    if (slot.first == kNoRow) {
      slot = {word, row, row};
    } else {
      next_[slot.last] = row;
      slot.last = row;
      part.has_repeats = true;
    }
  }
}

void JoinTable::FillDense(size_t number) {
  const uint64_t span = dense_.size() / num_parts_ + 1;
  const uint64_t begin = number * span;
  // Some rows at a time, of which those of this part are picked first: a branch on what
  // is as good as random would be guessed wrong, and the places of those that are picked
  // come from memory together.
  std::array<uint32_t, kRowsToPick> picked;
  // Backwards, so that the rows of a key end up in ascending order.
  for (uint32_t end = num_rows_; end > 0;) {
    const uint32_t first = end - std::min<uint32_t>(end, kRowsToPick);
    size_t count = 0;
    for (uint32_t row = end; row-- > first;) {
      picked[count] = row;
      count += static_cast<size_t>(keys_.word(row) - least_ - begin < span);
    }
    for (size_t i = 0; i < count; ++i) {
      // Of a missing key the word is any: it may lie beyond the end.
      const uint64_t at = keys_.word(picked[i]) - least_;
      if (at < dense_.size()) __builtin_prefetch(&dense_[at], 1);
    }
    for (size_t i = 0; i < count; ++i) {
      const uint32_t row = picked[i];
      if (keys_.is_missing(row)) continue;
      const uint64_t at = keys_.word(row) - least_;
      if (dense_[at] != kNoRow) parts_[number].has_repeats = true;
      next_[row] = dense_[at];
      dense_[at] = row;
    }
    end = first;
  }
}

void JoinTable::FillMissing() {
  uint32_t last = kNoRow;
  for (uint32_t row = 0; row < num_rows_; ++row) {
    if (!keys_.is_missing(row)) continue;
    repeats_missing_ = last != kNoRow;
    (last == kNoRow ? first_missing_ : next_[last]) = row;
    last = row;
  }
}

void JoinTable::Find(const JoinKeys& keys, std::vector<uint32_t>* first) const {
  first->assign(keys.num_rows(), num_rows_ == 0 ? kNoRow : 0);
  if (num_rows_ == 0 || kind_ == JoinKeyKind::kNone) return;
  if (!dense_.empty()) return FindDense(keys, first);
  std::array<uint64_t, kRowsAhead> hashes;
  for (size_t begin = 0; begin < keys.num_rows(); begin += kRowsAhead) {
    const size_t count = std::min(kRowsAhead, keys.num_rows() - begin);
    for (size_t i = 0; i < count; ++i) {
      hashes[i] = HashOf(keys.word(begin + i));
      const Part& part = parts_[PartOf(hashes[i])];
      __builtin_prefetch(&part.slots[hashes[i] & part.mask]);
    }
    for (size_t i = 0; i < count; ++i) {
      const size_t row = begin + i;
      if (keys.is_missing(row)) {
        (*first)[row] = first_missing_;
        continue;
      }
      const Part& part = parts_[PartOf(hashes[i])];
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

void JoinTable::FindDense(const JoinKeys& keys, std::vector<uint32_t>* first) const {
  const uint64_t size = dense_.size();
  for (size_t row = 0; row < keys.num_rows(); ++row) {
    const uint64_t at = keys.word(row) - least_;
    // No branch on what is found: as good as random, it would be guessed wrong.
    const uint32_t found = dense_[at < size ? at : 0];
    (*first)[row] = at < size ? found : kNoRow;
  }
  for (size_t row = 0; keys.any_missing() && row < keys.num_rows(); ++row) {
    if (keys.is_missing(row)) (*first)[row] = first_missing_;
  }
}

bool JoinTable::has_repeats() const {
  if (kind_ == JoinKeyKind::kNone) return num_rows_ > 1;
  const auto repeats = [](const Part& part) { return part.has_repeats; };
  return repeats_missing_ || std::any_of(parts_.begin(), parts_.end(), repeats);
}

int64_t JoinTable::num_bytes() const { return keys_.num_bytes(); }

}  // namespace xshards::ops
