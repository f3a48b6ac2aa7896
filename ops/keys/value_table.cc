// SPDX-License-Identifier: Apache-2.0
#include "ops/keys/value_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <arrow/array/util.h>

#include "ops/kernels/gather.h"
#include "ops/keys/hash.h"
#include "ops/keys/key_equality.h"
#include "xshards/types/dictionary_indices.h"

namespace xshards::ops {

namespace {

constexpr int kInitialBits = 10;
constexpr size_t kSmallSlots = size_t{1} << 15;
// Far enough ahead for a slot to arrive from memory, near enough to stay in cache.
constexpr size_t kPrefetchDistance = 16;
// With their slots, these fit a core's first-level cache.
constexpr int64_t kBlockRows = 512;
// In addition to the tags of KeyTag, which are far smaller: bytes that fit a word, with
// their count in its highest byte.
constexpr uint32_t kShortBytes = 0x100;
constexpr size_t kMaxShort = 7;

uint64_t ShortWord(const char* bytes, size_t size, const char* end) {
  uint64_t word = 0;
  if (end - bytes >= 8) {
    std::memcpy(&word, bytes, 8);
    word &= (uint64_t{1} << (8 * size)) - 1;
  } else {
    std::memcpy(&word, bytes, size);
  }
  return word | static_cast<uint64_t>(size) << 56;
}

// Internal to this table: it may change, unlike those of hash.h.
uint64_t HashOf(uint64_t word, uint32_t tag) {
  const auto product = static_cast<unsigned __int128>(word ^ 0x9E3779B97F4A7C15) *
                       (0xD6E8FEB86659FD93 ^ (uint64_t{tag} << 1));
  return (static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64)) *
         0xA0761D6478BD642F;
}

/// The end of an array's bytes: reading up to it is safe.
const char* EndOfBytes(const arrow::Array& values) {
  const auto& buffers = values.data()->buffers;
  if (buffers.empty() || buffers.back() == nullptr) return nullptr;
  return buffers.back()->data_as<char>() + buffers.back()->size();
}

/// True if all bytes of the array are in its last buffer.
bool HasOneBuffer(const arrow::DataType& type) {
  return !arrow::is_binary_view_like(type.id());
}

}  // namespace

struct ValueTable::Block {
  size_t size = 0;
  std::array<uint64_t, kBlockRows> words;
  std::array<uint32_t, kBlockRows> tags;
  std::array<uint64_t, kBlockRows> hashes;
  std::array<std::string_view, kBlockRows> bytes;  // where the tag is kBytes

  void SetWord(size_t i, KeyWord key) {
    words[i] = key.word;
    tags[i] = static_cast<uint32_t>(key.tag);
  }
  void SetBytes(size_t i, std::string_view value, const char* end) {
    if (value.size() <= kMaxShort) {
      words[i] = value.empty() ? 0 : ShortWord(value.data(), value.size(), end);
      tags[i] = kShortBytes;
      return;
    }
    words[i] = HashBytes(value.data(), value.size());
    tags[i] = static_cast<uint32_t>(KeyTag::kBytes);
    bytes[i] = value;
  }
  void SetHashes() {
    for (size_t i = 0; i < size; ++i) hashes[i] = HashOf(words[i], tags[i]);
  }

  void FillPairs(std::span<const uint32_t> left, std::span<const uint32_t> right,
                 int64_t begin) {
    size = static_cast<size_t>(std::min(kBlockRows, std::ssize(left) - begin));
    const uint32_t* high = left.data() + begin;
    const uint32_t* low = right.data() + begin;
    for (size_t i = 0; i < size; ++i) {
      SetWord(i, {KeyTag::kInteger, uint64_t{high[i]} << 32 | low[i]});
    }
    SetHashes();
  }

  void Fill(const arrow::Array& values) {
    size = static_cast<size_t>(values.length());
    const char* end = HasOneBuffer(*values.type()) ? EndOfBytes(values) : nullptr;
    VisitKeyValues(
        values,
        [this](int64_t i) { SetWord(static_cast<size_t>(i), {KeyTag::kMissing, 0}); },
        [this](int64_t i, KeyWord key) { SetWord(static_cast<size_t>(i), key); },
        [&](int64_t i, std::string_view value) {
          SetBytes(static_cast<size_t>(i), value,
                   end != nullptr ? end : value.data() + value.size());
        });
    SetHashes();
  }
};

ValueTable::ValueTable()
    : slots_(size_t{1} << kInitialBits, Slot{0, 0, kNoValue}),
      shift_(64 - kInitialBits) {}

bool ValueTable::IsLong(uint32_t id, std::string_view bytes) const {
  const LongValue& value = long_values_[id];
  return value.size == bytes.size() &&
         std::memcmp(long_bytes_.data() + value.begin, bytes.data(), bytes.size()) == 0;
}

[[gnu::always_inline]] inline size_t ValueTable::Probe(const Block& block,
                                                       size_t i) const {
  const uint64_t word = block.words[i];
  const uint32_t tag = block.tags[i];
  const size_t mask = slots_.size() - 1;
  size_t at = block.hashes[i] >> shift_;
  while (slots_[at].id != kNoValue && (slots_[at].word != word || slots_[at].tag != tag ||
                                       (tag == static_cast<uint32_t>(KeyTag::kBytes) &&
                                        !IsLong(slots_[at].id, block.bytes[i])))) {
    at = (at + 1) & mask;
  }
  return at;
}

arrow::Status ValueTable::InsertBlock(const Block& block, int64_t first_row,
                                      uint32_t* ids, std::vector<int64_t>* new_rows) {
  for (size_t i = 0; i < block.size; ++i) {
    const size_t ahead = std::min(i + kPrefetchDistance, block.size - 1);
    __builtin_prefetch(&slots_[block.hashes[ahead] >> shift_]);
    const size_t at = Probe(block, i);
    if (slots_[at].id != kNoValue) {
      ids[i] = slots_[at].id;
      continue;
    }
    if (size_ == kNoValue) {
      return arrow::Status::CapacityError("Expected at most ", kNoValue,
                                          " distinct keys in a partition");
    }
    ids[i] = size_;
    slots_[at] = {block.words[i], block.tags[i], size_};
    if (block.tags[i] == static_cast<uint32_t>(KeyTag::kBytes)) {
      long_values_.resize(size_t{size_} + 1);
      long_values_[size_] = {long_bytes_.size(), block.bytes[i].size()};
      long_bytes_ += block.bytes[i];
    }
    ++size_;
    new_rows->push_back(first_row + static_cast<int64_t>(i));
    if (size_t{size_} * 3 > slots_.size() * 2) Grow();
  }
  return arrow::Status::OK();
}

void ValueTable::FindBlock(const Block& block, uint32_t* ids) const {
  for (size_t i = 0; i < block.size; ++i) {
    const size_t ahead = std::min(i + kPrefetchDistance, block.size - 1);
    __builtin_prefetch(&slots_[block.hashes[ahead] >> shift_]);
    ids[i] = slots_[Probe(block, i)].id;
  }
}

void ValueTable::Grow() {
  // While small, the table grows faster than it fills, so that values are rarely moved
  // twice.
  const int bits = slots_.size() < kSmallSlots ? 2 : 1;
  ScratchVector<Slot> grown(slots_.size() << bits, Slot{0, 0, kNoValue});
  const size_t mask = grown.size() - 1;
  shift_ -= bits;
  for (const Slot& slot : slots_) {
    if (slot.id == kNoValue) continue;
    size_t at = HashOf(slot.word, slot.tag) >> shift_;
    while (grown[at].id != kNoValue) at = (at + 1) & mask;
    grown[at] = slot;
  }
  slots_ = std::move(grown);
}

arrow::Status ValueTable::Insert(const arrow::Array& values, std::vector<uint32_t>* ids,
                                 std::vector<int64_t>* new_rows,
                                 arrow::MemoryPool* pool) {
  ids->resize(static_cast<size_t>(values.length()));
  return Insert(values, ids->data(), new_rows, pool);
}

arrow::Status ValueTable::Insert(const arrow::Array& values, uint32_t* ids,
                                 std::vector<int64_t>* new_rows,
                                 arrow::MemoryPool* pool) {
  if (values.type_id() == arrow::Type::DICTIONARY) {
    return InsertDictionary(static_cast<const arrow::DictionaryArray&>(values), ids,
                            new_rows, pool);
  }
  switch (values.type_id()) {
    case arrow::Type::INT8:
      return InsertIntegers<arrow::Int8Array>(values, ids, new_rows);
    case arrow::Type::INT16:
      return InsertIntegers<arrow::Int16Array>(values, ids, new_rows);
    case arrow::Type::INT32:
      return InsertIntegers<arrow::Int32Array>(values, ids, new_rows);
    case arrow::Type::INT64:
      return InsertIntegers<arrow::Int64Array>(values, ids, new_rows);
    case arrow::Type::UINT8:
      return InsertIntegers<arrow::UInt8Array>(values, ids, new_rows);
    case arrow::Type::UINT16:
      return InsertIntegers<arrow::UInt16Array>(values, ids, new_rows);
    case arrow::Type::UINT32:
      return InsertIntegers<arrow::UInt32Array>(values, ids, new_rows);
    default:
      return InsertWords(values, ids, new_rows);
  }
}

arrow::Status ValueTable::InsertWords(const arrow::Array& values, uint32_t* ids,
                                      std::vector<int64_t>* new_rows) {
  Block block;
  for (int64_t row = 0; row < values.length(); row += kBlockRows) {
    block.Fill(*values.Slice(row, kBlockRows));
    ARROW_RETURN_NOT_OK(InsertBlock(block, row, ids + row, new_rows));
  }
  return arrow::Status::OK();
}

template <typename ArrayType>
arrow::Status ValueTable::InsertIntegers(const arrow::Array& untyped, uint32_t* ids,
                                         std::vector<int64_t>* new_rows) {
  const auto& values = static_cast<const ArrayType&>(untyped);
  const bool has_missing = values.null_count() > 0;
  memo_.Choose(values);
  Block block;
  std::array<size_t, kBlockRows> places;
  std::array<int64_t, kBlockRows> unknown;  // rows
  std::array<uint32_t, kBlockRows> found;
  std::vector<int64_t> fresh;
  int64_t row = 0;
  while (row < values.length() && memo_.has_places()) {
    const int64_t end = std::min(row + kBlockRows, values.length());
    const auto num_rows = static_cast<size_t>(end - row);
    size_t count = 0;
    for (; row < end; ++row) {
      const size_t place = has_missing && values.IsNull(row)
                               ? memo_.PlaceOfMissing()
                               : memo_.PlaceOf(values.Value(row));
      ids[row] = memo_[place];
      // No branch: entries of known values are overwritten.
      places[count] = place;
      unknown[count] = row;
      count += static_cast<size_t>(ids[row] == IntegerMemo::kUnknown);
    }
    memo_.Count(num_rows - count, count);
    if (count == 0) continue;
    block.size = count;
    for (size_t i = 0; i < count; ++i) {
      const bool is_missing = has_missing && values.IsNull(unknown[i]);
      block.SetWord(i, is_missing ? KeyWord{KeyTag::kMissing, 0}
                                  : IntegerKey(values.Value(unknown[i])));
    }
    block.SetHashes();
    fresh.clear();
    ARROW_RETURN_NOT_OK(InsertBlock(block, 0, found.data(), &fresh));
    for (size_t i = 0; i < count; ++i) {
      ids[unknown[i]] = found[i];
      if (memo_.has_places()) memo_.Note(places[i], found[i]);
    }
    for (int64_t i : fresh) new_rows->push_back(unknown[static_cast<size_t>(i)]);
  }
  if (row == values.length()) return arrow::Status::OK();
  std::vector<int64_t> rest;
  ARROW_RETURN_NOT_OK(InsertWords(*values.Slice(row), ids + row, &rest));
  for (int64_t i : rest) new_rows->push_back(row + i);
  return arrow::Status::OK();
}

arrow::Status ValueTable::InsertDictionary(const arrow::DictionaryArray& values,
                                           uint32_t* ids, std::vector<int64_t>* new_rows,
                                           arrow::MemoryPool* pool) {
  const auto& dictionary = values.dictionary();
  if (values.data()->dictionary != dictionary_) {
    dictionary_ = values.data()->dictionary;
    // With enough rows, look up all values of the dictionary at once.
    if (size_ > 0 && dictionary->length() <= values.length()) {
      ARROW_RETURN_NOT_OK(FindPlaces(*dictionary, &dictionary_ids_, pool));
    } else {
      dictionary_ids_.assign(static_cast<size_t>(dictionary->length()) + 1, kNoValue);
    }
  }
  bool all_known = true;
  ForEachPlace(values, [&](int64_t row, size_t place) {
    ids[row] = dictionary_ids_[place];
    all_known &= ids[row] != kNoValue;
  });
  if (all_known) return arrow::Status::OK();
  // The values not looked up before, each once.
  std::vector<int64_t> places;
  std::vector<int64_t> rows;
  ForEachPlace(values, [&](int64_t row, size_t place) {
    if (dictionary_ids_[place] != kNoValue) return;
    dictionary_ids_[place] = 0;
    places.push_back(static_cast<int64_t>(place));
    rows.push_back(row);
  });
  if (!places.empty()) {
    auto taken = places;
    std::replace(taken.begin(), taken.end(), dictionary->length(), int64_t{-1});
    ARROW_ASSIGN_OR_RAISE(auto indices, RowsOrNull(std::move(taken), pool));
    ARROW_ASSIGN_OR_RAISE(auto distinct, Gather(dictionary, indices, pool));
    std::vector<uint32_t> distinct_ids;
    std::vector<int64_t> new_values;
    ARROW_RETURN_NOT_OK(Insert(*distinct, &distinct_ids, &new_values, pool));
    for (size_t i = 0; i < places.size(); ++i) {
      dictionary_ids_[static_cast<size_t>(places[i])] = distinct_ids[i];
    }
    for (int64_t value : new_values) {
      new_rows->push_back(rows[static_cast<size_t>(value)]);
    }
  }
  ForEachPlace(values,
               [&](int64_t row, size_t place) { ids[row] = dictionary_ids_[place]; });
  return arrow::Status::OK();
}

arrow::Status ValueTable::Find(const arrow::Array& values, std::vector<uint32_t>* ids,
                               arrow::MemoryPool* pool) const {
  if (values.type_id() == arrow::Type::DICTIONARY) {
    const auto& encoded = static_cast<const arrow::DictionaryArray&>(values);
    std::vector<uint32_t> ids_of_values;
    ARROW_RETURN_NOT_OK(FindPlaces(*encoded.dictionary(), &ids_of_values, pool));
    ids->resize(static_cast<size_t>(values.length()));
    ForEachPlace(encoded, [&](int64_t row, size_t place) {
      (*ids)[static_cast<size_t>(row)] = ids_of_values[place];
    });
    return arrow::Status::OK();
  }
  ids->resize(static_cast<size_t>(values.length()));
  Block block;
  for (int64_t row = 0; row < values.length(); row += kBlockRows) {
    block.Fill(*values.Slice(row, kBlockRows));
    FindBlock(block, ids->data() + row);
  }
  return arrow::Status::OK();
}

arrow::Status ValueTable::FindPlaces(const arrow::Array& dictionary,
                                     std::vector<uint32_t>* ids,
                                     arrow::MemoryPool* pool) const {
  ARROW_RETURN_NOT_OK(Find(dictionary, ids, pool));
  ARROW_ASSIGN_OR_RAISE(auto null, arrow::MakeArrayOfNull(arrow::null(), 1, pool));
  std::vector<uint32_t> id_of_null;
  ARROW_RETURN_NOT_OK(Find(*null, &id_of_null, pool));
  ids->push_back(id_of_null[0]);
  return arrow::Status::OK();
}

arrow::Status ValueTable::InsertPairs(std::span<const uint32_t> left,
                                      std::span<const uint32_t> right,
                                      std::vector<uint32_t>* ids,
                                      std::vector<int64_t>* new_rows) {
  ids->resize(left.size());
  return InsertPairs(left, right, ids->data(), new_rows);
}

arrow::Status ValueTable::InsertPairs(std::span<const uint32_t> left,
                                      std::span<const uint32_t> right, uint32_t* ids,
                                      std::vector<int64_t>* new_rows) {
  Block block;
  for (int64_t row = 0; row < std::ssize(left); row += kBlockRows) {
    block.FillPairs(left, right, row);
    ARROW_RETURN_NOT_OK(InsertBlock(block, row, ids + row, new_rows));
  }
  return arrow::Status::OK();
}

void ValueTable::FindPairs(std::span<const uint32_t> left,
                           std::span<const uint32_t> right,
                           std::vector<uint32_t>* ids) const {
  ids->resize(left.size());
  Block block;
  for (int64_t row = 0; row < std::ssize(left); row += kBlockRows) {
    // A pair with kNoValue was never inserted.
    block.FillPairs(left, right, row);
    FindBlock(block, ids->data() + row);
  }
}

int64_t ValueTable::num_bytes() const {
  return static_cast<int64_t>(slots_.capacity() * sizeof(Slot) +
                              long_values_.capacity() * sizeof(LongValue) +
                              dictionary_ids_.capacity() * sizeof(uint32_t) +
                              long_bytes_.capacity()) +
         memo_.num_bytes();
}

}  // namespace xshards::ops
