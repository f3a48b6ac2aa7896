// SPDX-License-Identifier: Apache-2.0
#include "ops/sort/normalized_keys.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <arrow/util/decimal.h>
#include <arrow/visit_type_inline.h>

namespace xshards::ops {

namespace {

constexpr uint64_t kSignBit = uint64_t{1} << 63;

uint64_t OrderedInteger(int64_t value) { return static_cast<uint64_t>(value) ^ kSignBit; }

uint64_t OrderedReal(double value) {
  // Adding 0.0 turns -0.0 into 0.0: they are equal.
  const auto bits = std::bit_cast<uint64_t>(value + 0.0);
  return (bits & kSignBit) != 0 ? ~bits : bits | kSignBit;
}

/// Encodes values of 0 .. `range`, ascending or descending, with missing values first or
/// last.
class CodeRange {
 public:
  CodeRange() = default;
  CodeRange(uint64_t range, bool any_missing, bool ascending, bool nulls_first)
      : range_(range), ascending_(ascending) {
    const bool is_full = range == std::numeric_limits<uint64_t>::max();
    // No code is left for missing values: halve the range.
    drop_ = is_full && any_missing ? 1 : 0;
    first_ = any_missing && nulls_first ? 1 : 0;
    missing_ = nulls_first ? 0 : (range >> drop_) + 1;
    const uint64_t last = (range >> drop_) + (any_missing ? 1 : 0);
    num_bits_ = static_cast<int>(std::bit_width(last));
  }

  int num_bits() const { return num_bits_; }
  bool is_exact() const { return drop_ == 0; }
  uint64_t missing() const { return missing_; }
  uint64_t operator()(uint64_t value) const {
    return ((ascending_ ? value : range_ - value) >> drop_) + first_;
  }

 private:
  uint64_t range_ = 0;
  bool ascending_ = true;
  int drop_ = 0;
  uint64_t first_ = 0;
  uint64_t missing_ = 0;
  int num_bits_ = 0;
};

/// A key whose values are `ValueOf(row)`, numbers from min to max.
template <typename Derived>
class PartBase : public SortWords::Part {
 public:
  int num_bits() const final { return codes_.num_bits(); }
  bool is_exact() const final { return codes_.is_exact() && is_whole_; }

 protected:
  template <typename ValueOf>
  void AppendCodes(const arrow::Array& column, int drop, uint64_t* words,
                   ValueOf&& value_of) const {
    const int shift = num_bits() - drop;
    const auto push = [&](int64_t i, uint64_t code) {
      // Shifting by the full width is undefined; then no bits precede it anyway.
      words[i] = (shift == 64 ? 0 : words[i] << shift) | (code >> drop);
    };
    if (column.null_count() == 0) {
      for (int64_t i = 0; i < column.length(); ++i) push(i, codes_(value_of(i)));
      return;
    }
    for (int64_t i = 0; i < column.length(); ++i) {
      push(i, column.IsNull(i) ? codes_.missing() : codes_(value_of(i)));
    }
  }

  CodeRange codes_;
  bool any_missing_ = false;
  bool is_whole_ = true;  // the code holds the complete value
};

template <typename ArrayType, typename OnValue>
void ForEachValid(const ArrayType& array, OnValue&& on_value) {
  if (array.null_count() == 0) {
    for (int64_t i = 0; i < array.length(); ++i) on_value(i);
    return;
  }
  for (int64_t i = 0; i < array.length(); ++i) {
    if (array.IsValid(i)) on_value(i);
  }
}

/// All types stored as integers.
template <typename Type>
class IntegerPart final : public PartBase<IntegerPart<Type>> {
  using ArrayType = typename arrow::TypeTraits<Type>::ArrayType;

 public:
  void Observe(const arrow::Array& column) override {
    const auto& array = static_cast<const ArrayType&>(column);
    this->any_missing_ |= column.null_count() > 0;
    ForEachValid(array, [&](int64_t i) {
      const uint64_t value = Ordered(array, i);
      min_ = std::min(min_, value);
      max_ = std::max(max_, value);
    });
  }
  void Finish(bool ascending, bool nulls_first) override {
    if (min_ > max_) min_ = max_ = 0;  // all values are missing
    this->codes_ = CodeRange(max_ - min_, this->any_missing_, ascending, nulls_first);
  }
  void Append(const arrow::Array& column, int drop, uint64_t* words) const override {
    const auto& array = static_cast<const ArrayType&>(column);
    this->AppendCodes(column, drop, words,
                      [&](int64_t i) { return Ordered(array, i) - min_; });
  }

 private:
  static uint64_t Ordered(const ArrayType& array, int64_t i) {
    if constexpr (std::is_same_v<Type, arrow::UInt64Type>) {
      return array.Value(i);
    } else {
      return OrderedInteger(static_cast<int64_t>(array.Value(i)));
    }
  }

  uint64_t min_ = std::numeric_limits<uint64_t>::max();
  uint64_t max_ = 0;
};

/// Floats; if all are integers they are encoded as integers, which takes far fewer bits.
template <typename Type>
class RealPart final : public PartBase<RealPart<Type>> {
  using ArrayType = typename arrow::TypeTraits<Type>::ArrayType;
  static constexpr double kMaxInteger = 9007199254740992.0;  // 2^53

 public:
  void Observe(const arrow::Array& column) override {
    const auto& array = static_cast<const ArrayType&>(column);
    this->any_missing_ |= column.null_count() > 0;
    ForEachValid(array, [&](int64_t i) {
      const auto value = static_cast<double>(array.Value(i));
      min_ = std::min(min_, value);
      max_ = std::max(max_, value);
    });
    if (min_ < -kMaxInteger || max_ > kMaxInteger) are_integers_ = false;
    if (!are_integers_) return;
    bool all = true;
    ForEachValid(array, [&](int64_t i) {
      const auto value = static_cast<double>(array.Value(i));
      all &= static_cast<double>(static_cast<int64_t>(value)) == value;
    });
    are_integers_ = all;
  }
  void Finish(bool ascending, bool nulls_first) override {
    if (min_ > max_) min_ = max_ = 0;
    first_ = Ordered(min_);
    this->codes_ =
        CodeRange(Ordered(max_) - first_, this->any_missing_, ascending, nulls_first);
  }
  void Append(const arrow::Array& column, int drop, uint64_t* words) const override {
    const auto& array = static_cast<const ArrayType&>(column);
    if (are_integers_) {
      this->AppendCodes(column, drop, words, [&](int64_t i) {
        return OrderedInteger(static_cast<int64_t>(array.Value(i))) - first_;
      });
    } else {
      this->AppendCodes(column, drop, words, [&](int64_t i) {
        return OrderedReal(static_cast<double>(array.Value(i))) - first_;
      });
    }
  }

 private:
  uint64_t Ordered(double value) const {
    return are_integers_ ? OrderedInteger(static_cast<int64_t>(value))
                         : OrderedReal(value);
  }

  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
  bool are_integers_ = true;
  uint64_t first_ = 0;
};

/// Bytes after the prefix that all values share. Up to 7 fit with their length, which
/// distinguishes a value from one that continues with zeros; of longer ones the first 8.
template <typename ArrayType>
class BytesPart final : public PartBase<BytesPart<ArrayType>> {
  static constexpr size_t kWordBytes = 8;

 public:
  void Observe(const arrow::Array& column) override {
    const auto& array = static_cast<const ArrayType&>(column);
    this->any_missing_ |= column.null_count() > 0;
    ForEachValid(array, [&](int64_t i) {
      const std::string_view value = array.GetView(i);
      longest_ = std::max(longest_, value.size());
      if (!any_) {
        any_ = true;
        first_ = value;
        shared_ = value.size();
        return;
      }
      size_t same = 0;
      const size_t end = std::min(shared_, value.size());
      while (same < end && value[same] == first_[same]) ++same;
      shared_ = same;
    });
  }
  void Finish(bool ascending, bool nulls_first) override {
    const size_t length = longest_ - shared_;
    this->is_whole_ = length < kWordBytes;
    num_bytes_ = std::min(length, kWordBytes);
    length_bits_ = this->is_whole_ ? static_cast<int>(std::bit_width(length)) : 0;
    const auto bits = static_cast<int>(8 * num_bytes_) + length_bits_;
    const uint64_t all = std::numeric_limits<uint64_t>::max();
    this->codes_ = CodeRange(bits == 0 ? 0 : all >> (64 - bits), this->any_missing_,
                             ascending, nulls_first);
  }
  void Append(const arrow::Array& column, int drop, uint64_t* words) const override {
    const auto& array = static_cast<const ArrayType&>(column);
    this->AppendCodes(column, drop, words, [&](int64_t i) {
      const std::string_view value = array.GetView(i).substr(shared_);
      uint64_t code = 0;
      const size_t there = std::min(value.size(), num_bytes_);
      for (size_t b = 0; b < there; ++b) {
        code = code << 8 | static_cast<uint8_t>(value[b]);
      }
      // Without bytes there is nothing to shift.
      if (there < num_bytes_) code = there == 0 ? 0 : code << 8 * (num_bytes_ - there);
      return code << length_bits_ | (length_bits_ > 0 ? value.size() : 0);
    });
  }

 private:
  bool any_ = false;
  std::string first_;
  size_t shared_ = 0;   // length of the common prefix
  size_t longest_ = 0;  // value
  size_t num_bytes_ = 0;
  int length_bits_ = 0;
};

/// Decimals that fit into a word are encoded completely, others by their upper word.
template <typename Type>
class DecimalPart final : public PartBase<DecimalPart<Type>> {
  using ArrayType = typename arrow::TypeTraits<Type>::ArrayType;
  static constexpr int kNumWords = std::is_same_v<Type, arrow::Decimal128Type> ? 2 : 4;

 public:
  void Observe(const arrow::Array& column) override {
    const auto& array = static_cast<const ArrayType&>(column);
    this->any_missing_ |= column.null_count() > 0;
    ForEachValid(array, [&](int64_t i) {
      const auto words = WordsOf(array, i);
      const auto low = static_cast<int64_t>(words[0]);
      for (int word = 1; word < kNumWords; ++word) {
        are_small_ &= static_cast<int64_t>(words[word]) == low >> 63;
      }
      lows_.Add(OrderedInteger(low));
      highs_.Add(High(words));
    });
  }
  void Finish(bool ascending, bool nulls_first) override {
    const MinMax& values = are_small_ ? lows_ : highs_;
    this->is_whole_ = are_small_;
    first_ = values.any() ? values.min : 0;
    const uint64_t range = values.any() ? values.max - values.min : 0;
    this->codes_ = CodeRange(range, this->any_missing_, ascending, nulls_first);
  }
  void Append(const arrow::Array& column, int drop, uint64_t* words) const override {
    const auto& array = static_cast<const ArrayType&>(column);
    this->AppendCodes(column, drop, words, [&](int64_t i) {
      const auto value = WordsOf(array, i);
      return (are_small_ ? OrderedInteger(static_cast<int64_t>(value[0])) : High(value)) -
             first_;
    });
  }

 private:
  struct MinMax {
    uint64_t min = std::numeric_limits<uint64_t>::max();
    uint64_t max = 0;
    bool any() const { return min <= max; }
    void Add(uint64_t value) {
      min = std::min(min, value);
      max = std::max(max, value);
    }
  };
  static std::array<uint64_t, kNumWords> WordsOf(const ArrayType& array, int64_t i) {
    std::array<uint64_t, kNumWords> words;
    std::memcpy(words.data(), array.GetValue(i), sizeof(words));
    return words;
  }
  static uint64_t High(const std::array<uint64_t, kNumWords>& words) {
    return OrderedInteger(static_cast<int64_t>(words[kNumWords - 1]));
  }

  bool are_small_ = true;
  MinMax lows_;
  MinMax highs_;
  uint64_t first_ = 0;
};

/// All values are missing: takes no bits.
class NullPart final : public SortWords::Part {
 public:
  void Observe(const arrow::Array& /*column*/) override {}
  void Finish(bool /*ascending*/, bool /*nulls_first*/) override {}
  int num_bits() const override { return 0; }
  bool is_exact() const override { return true; }
  void Append(const arrow::Array&, int, uint64_t*) const override {}
};

struct PartMaker {
  std::unique_ptr<SortWords::Part> made;

  template <typename Type>
  arrow::Status Visit(const Type&) {
    if constexpr (std::is_same_v<Type, arrow::NullType>) {
      made = std::make_unique<NullPart>();
    } else if constexpr (std::is_same_v<Type, arrow::FloatType> ||
                         std::is_same_v<Type, arrow::DoubleType>) {
      made = std::make_unique<RealPart<Type>>();
    } else if constexpr (std::is_same_v<Type, arrow::Decimal128Type> ||
                         std::is_same_v<Type, arrow::Decimal256Type>) {
      made = std::make_unique<DecimalPart<Type>>();
    } else if constexpr (arrow::is_base_binary_type<Type>::value ||
                         std::is_same_v<Type, arrow::FixedSizeBinaryType>) {
      using ArrayType = typename arrow::TypeTraits<Type>::ArrayType;
      made = std::make_unique<BytesPart<ArrayType>>();
    } else if constexpr (arrow::has_c_type<Type>::value &&
                         !arrow::is_interval_type<Type>::value &&
                         !std::is_same_v<Type, arrow::HalfFloatType>) {
      made = std::make_unique<IntegerPart<Type>>();
    } else {
      return arrow::Status::NotImplemented("its values have no order");
    }
    return arrow::Status::OK();
  }
};

}  // namespace

arrow::Result<SortWords> SortWords::Make(std::span<const arrow::ArrayVector> inputs,
                                         const std::vector<SortKey>& keys,
                                         bool nulls_first) {
  SortWords words;
  // Every key is checked, so that a type without order is always reported.
  for (size_t i = 0; i < keys.size(); ++i) {
    PartMaker maker;
    const auto& type = *inputs[0][i]->type();
    arrow::Status status = arrow::VisitTypeInline(type, &maker);
    if (!status.ok()) {
      return status.WithMessage("Cannot sort by '", keys[i].column, "' (",
                                type.ToString(), "): ", status.message());
    }
    // The word is full, or equal words do not yet mean equal keys.
    if (words.first_open_key_ < i) continue;
    for (const auto& input : inputs) maker.made->Observe(*input[i]);
    maker.made->Finish(keys[i].ascending, nulls_first);
    const int bits = maker.made->num_bits();
    const int drop = std::max(0, words.num_bits_ + bits - 64);
    if (drop == bits && bits > 0) continue;
    if (maker.made->is_exact() && drop == 0) words.first_open_key_ = i + 1;
    words.num_bits_ += bits - drop;
    words.parts_.push_back({std::move(maker.made), drop});
  }
  return words;
}

std::vector<uint64_t> SortWords::Encode(const arrow::ArrayVector& columns) const {
  std::vector<uint64_t> words(static_cast<size_t>(columns[0]->length()), 0);
  for (size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].part->Append(*columns[i], parts_[i].drop, words.data());
  }
  return words;
}

}  // namespace xshards::ops
