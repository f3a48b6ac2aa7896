// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/array.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "ops/keys/small_range_table.h"
#include "xshards/memory/scratch_vector.h"

namespace xshards::ops {

/// Numbers the distinct values of one column 0, 1, 2, ... in order of first appearance.
/// Values are equal as defined in key_equality.h, whatever the types of the arrays.
///
/// Numbers and short strings are words and stored in the table itself; longer values are
/// found by their hash and compared. A dictionary's values are looked up once each, and
/// so are integers of a small range.
class ValueTable {
 public:
  static constexpr uint32_t kNoValue = std::numeric_limits<uint32_t>::max();

  ValueTable();

  /// Give every row the number of its value, adding values not seen before; the rows at
  /// which those appeared are appended to `new_rows`. The array is of a plain key type
  /// (see KeyColumn) or a dictionary of one. CapacityError past 2^32 - 1 values.
  arrow::Status Insert(const arrow::Array& values, std::vector<uint32_t>* ids,
                       std::vector<int64_t>* new_rows, arrow::MemoryPool* pool);
  /// The same, with the numbers written to `ids`.
  arrow::Status Insert(const arrow::Array& values, uint32_t* ids,
                       std::vector<int64_t>* new_rows, arrow::MemoryPool* pool);
  /// Insert for a value made of two numbers.
  arrow::Status InsertPairs(std::span<const uint32_t> left,
                            std::span<const uint32_t> right, std::vector<uint32_t>* ids,
                            std::vector<int64_t>* new_rows);
  arrow::Status InsertPairs(std::span<const uint32_t> left,
                            std::span<const uint32_t> right, uint32_t* ids,
                            std::vector<int64_t>* new_rows);
  /// Give every row the number of its value, or kNoValue.
  arrow::Status Find(const arrow::Array& values, std::vector<uint32_t>* ids,
                     arrow::MemoryPool* pool) const;
  /// The same for pairs; kNoValue where either is kNoValue.
  void FindPairs(std::span<const uint32_t> left, std::span<const uint32_t> right,
                 std::vector<uint32_t>* ids) const;

  uint32_t size() const { return size_; }
  /// The memory it uses.
  int64_t num_bytes() const;

 private:
  // Some rows, converted to the table's representation.
  struct Block;
  // Open addressing by the highest bits of the hash, so that growing reads and writes the
  // slots nearly sequentially. `id` is kNoValue in an empty slot.
  struct Slot {
    uint64_t word;
    uint32_t tag;
    uint32_t id;
  };
  // The bytes of a value that does not fit a word.
  struct LongValue {
    size_t begin = 0;
    size_t size = 0;
  };

  /// The slot where a value is, or the empty one where it would be.
  size_t Probe(const Block& block, size_t i) const;
  bool IsLong(uint32_t id, std::string_view bytes) const;
  arrow::Status InsertBlock(const Block& block, int64_t first_row, uint32_t* ids,
                            std::vector<int64_t>* new_rows);
  void FindBlock(const Block& block, uint32_t* ids) const;
  arrow::Status InsertDictionary(const arrow::DictionaryArray& values, uint32_t* ids,
                                 std::vector<int64_t>* new_rows, arrow::MemoryPool* pool);
  /// Insert for integers except uint64: the small-range table holds int64 only.
  template <typename ArrayType>
  arrow::Status InsertIntegers(const arrow::Array& values, uint32_t* ids,
                               std::vector<int64_t>* new_rows);
  arrow::Status InsertWords(const arrow::Array& values, uint32_t* ids,
                            std::vector<int64_t>* new_rows);
  /// The numbers of a dictionary's values and, last, of null: kNoValue if unknown.
  arrow::Status FindPlaces(const arrow::Array& dictionary, std::vector<uint32_t>* ids,
                           arrow::MemoryPool* pool) const;
  void Grow();

  ScratchVector<Slot> slots_;  // a power of two, at most two thirds full
  int shift_;                  // of a hash, to the slot where probing begins
  uint32_t size_ = 0;
  std::vector<LongValue> long_values_;  // by number, up to the last long value
  std::string long_bytes_;
  // The last dictionary, which the next array often shares, and the numbers of its values
  // as far as they were looked up; that of null at the end.
  std::shared_ptr<arrow::ArrayData> dictionary_;
  std::vector<uint32_t> dictionary_ids_;
  IntegerMemo memo_;
};

}  // namespace xshards::ops
