// SPDX-License-Identifier: Apache-2.0
#include "ops/keys/hash.h"

#include <bit>
#include <cstring>
#include <string_view>

#include "ops/keys/key_columns.h"
#include "ops/keys/key_equality.h"
#include "xshards/types/dictionary_indices.h"

namespace xshards::ops {

namespace {

static_assert(std::endian::native == std::endian::little,
              "hashes are defined over little-endian loads");

// Odd constants with about half their bits set: the golden ratio and the fractional
// parts of the square roots of 2, 3, 5 and 7.
constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
constexpr uint64_t kRoot2 = 0x6A09E667F3BCC909;
constexpr uint64_t kRoot3 = 0xBB67AE8584CAA73B;
constexpr uint64_t kRoot5 = 0x3C6EF372FE94F82B;
constexpr uint64_t kRoot7 = 0xA54FF53A5F1D36F1;

template <typename T>
uint64_t Load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// A bijection: different words of one tag never collide.
uint64_t Mix(uint64_t x) {
  x ^= x >> 32;
  x *= kRoot3;
  x ^= x >> 29;
  x *= kRoot5;
  return x ^ (x >> 32);
}

uint64_t Fold(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t HashWord(KeyWord key) {
  return Mix(key.word + (static_cast<uint64_t>(key.tag) + 1) * kGolden);
}

// Combines the value hashes of one column with those of the preceding columns.
class RowHasher {
 public:
  RowHasher(std::vector<uint64_t>& hashes, bool is_first)
      : hashes_(hashes.data()), is_first_(is_first) {}

  void Add(int64_t row, uint64_t value_hash) const {
    hashes_[row] = is_first_ ? value_hash : Mix(hashes_[row] * kGolden + value_hash);
  }
  void AddMissing(int64_t row) const { Add(row, HashWord({KeyTag::kMissing, 0})); }

  void AddColumn(const arrow::Array& plain) const {
    VisitKeyValues(
        plain, [this](int64_t row) { AddMissing(row); },
        [this](int64_t row, KeyWord key) { Add(row, HashWord(key)); },
        [this](int64_t row, std::string_view bytes) {
          Add(row, HashBytes(bytes.data(), bytes.size()));
        });
  }

 private:
  uint64_t* const hashes_;
  const bool is_first_;
};

// Each value of the dictionary is hashed once.
arrow::Status AddDictionary(const arrow::DictionaryArray& column, const RowHasher& hasher,
                            arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(
      auto values, HashRows({column.dictionary()}, column.dictionary()->length(), pool));
  values.push_back(HashWord({KeyTag::kMissing, 0}));
  ForEachPlace(column,
               [&](int64_t row, size_t place) { hasher.Add(row, values[place]); });
  return arrow::Status::OK();
}

/// True if hashing the values of a dictionary is cheaper than hashing those of its rows.
bool IsWorthHashing(const arrow::Array& column) {
  return column.type_id() == arrow::Type::DICTIONARY &&
         static_cast<const arrow::DictionaryArray&>(column).dictionary()->length() <=
             column.length();
}

}  // namespace

uint64_t HashBytes(const void* data, size_t size) {
  const auto* at = static_cast<const uint8_t*>(data);
  const auto* end = at + size;
  uint64_t hash = (size + 1) * kGolden;
  for (; end - at > 16; at += 16) {
    hash = Fold(Load<uint64_t>(at) ^ kRoot2, Load<uint64_t>(at + 8) ^ hash);
  }
  // The last 1..16 bytes, as two loads that may overlap.
  const auto left = static_cast<size_t>(end - at);
  uint64_t low = 0;
  uint64_t high = 0;
  if (left >= 8) {
    low = Load<uint64_t>(at);
    high = Load<uint64_t>(end - 8);
  } else if (left >= 4) {
    low = Load<uint32_t>(at);
    high = Load<uint32_t>(end - 4);
  } else if (left > 0) {
    low = at[0] | static_cast<uint64_t>(at[left / 2]) << 8;
    high = end[-1];
  }
  return Mix(Fold(low ^ kRoot7, high ^ hash) + hash);
}

arrow::Result<std::vector<uint64_t>> HashRows(const arrow::ArrayVector& columns,
                                              int64_t num_rows, arrow::MemoryPool* pool) {
  std::vector<uint64_t> hashes(static_cast<size_t>(num_rows));
  for (size_t i = 0; i < columns.size(); ++i) {
    const RowHasher hasher(hashes, /*is_first=*/i == 0);
    if (IsWorthHashing(*columns[i])) {
      ARROW_RETURN_NOT_OK(AddDictionary(
          static_cast<const arrow::DictionaryArray&>(*columns[i]), hasher, pool));
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto plain, KeyColumn(columns[i], pool));
    hasher.AddColumn(*plain);
  }
  return hashes;
}

}  // namespace xshards::ops
