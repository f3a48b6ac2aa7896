// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/array.h>
#include <arrow/result.h>

#include "xshards/plan/plan.h"

namespace xshards::ops {

/// Packs the sort keys of a row, or as much of them as fits, into one 64-bit word: of two
/// rows, the one with the smaller word comes first. Directions and missing values are
/// part of the encoding, so that words compare as plain numbers.
///
/// Each key takes as many bits as its actual values need: a two-letter code and a delay
/// in minutes take 30 together.
class SortWords {
 public:
  /// Find the ranges of the values of some inputs, each with one array per key (from
  /// SortColumns, of equal types); their words can then be compared with each other.
  /// NotImplemented names a column whose type has no order.
  static arrow::Result<SortWords> Make(std::span<const arrow::ArrayVector> inputs,
                                       const std::vector<SortKey>& keys,
                                       bool nulls_first);

  /// The words of the rows of one of the inputs.
  std::vector<uint64_t> Encode(const arrow::ArrayVector& columns) const;

  /// How many of a word's lower bits are in use.
  int num_bits() const { return num_bits_; }
  /// The first key that equal words do not decide; the number of keys if there is none.
  size_t first_open_key() const { return first_open_key_; }

  /// One key's part of the word.
  class Part {
   public:
    virtual ~Part() = default;
    /// Extend the range by the values of an array.
    virtual void Observe(const arrow::Array& column) = 0;
    /// All arrays have been observed.
    virtual void Finish(bool ascending, bool nulls_first) = 0;
    virtual int num_bits() const = 0;
    /// False if values that differ may have equal codes.
    virtual bool is_exact() const = 0;
    /// Append the code of each row, without its lowest `drop` bits, to its word.
    virtual void Append(const arrow::Array& column, int drop, uint64_t* words) const = 0;
  };

 private:
  struct Packed {
    std::unique_ptr<Part> part;
    int drop = 0;
  };

  std::vector<Packed> parts_;
  int num_bits_ = 0;
  size_t first_open_key_ = 0;
};

}  // namespace xshards::ops
