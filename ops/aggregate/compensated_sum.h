// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace xshards::ops {

// Building blocks of sums, means and products. Values are added one by one, partial sums
// are merged; parts() are the numbers that represent a sum in the columns of states.

/// A sum of integers that wraps around, as numpy's does. T is int64_t or uint64_t.
template <typename T>
class WrappingSum {
 public:
  using Number = T;
  using Parts = std::tuple<T>;

  WrappingSum() = default;
  explicit WrappingSum(const Parts& parts)
      : sum_(static_cast<uint64_t>(std::get<0>(parts))) {}

  void Add(T value) { sum_ += static_cast<uint64_t>(value); }
  void Merge(const WrappingSum& other) { sum_ += other.sum_; }
  T value() const { return static_cast<T>(sum_); }
  Parts parts() const { return {value()}; }

 private:
  uint64_t sum_ = 0;
};

/// A product: of integers it wraps around, as numpy's does. T is int64_t, uint64_t or
/// double.
template <typename T>
class Product {
 public:
  using Number = T;
  using Parts = std::tuple<T>;

  Product() = default;
  explicit Product(const Parts& parts)
      : product_(static_cast<Wrapping>(std::get<0>(parts))) {}

  void Add(T value) { product_ *= static_cast<Wrapping>(value); }
  void Merge(const Product& other) { product_ *= other.product_; }
  T value() const { return static_cast<T>(product_); }
  Parts parts() const { return {value()}; }

 private:
  using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;
  Wrapping product_ = 1;
};

/// A sum of integers that is exact. T is int64_t or uint64_t.
template <typename T>
class WideSum {
 public:
  using Number = T;
  using Parts = std::tuple<double>;

  WideSum() = default;
  explicit WideSum(const Parts& parts) : sum_(static_cast<Wide>(std::get<0>(parts))) {}

  void Add(T value) { sum_ += value; }
  void Merge(const WideSum& other) { sum_ += other.sum_; }
  double value() const { return static_cast<double>(sum_); }
  Parts parts() const { return {value()}; }

 private:
  __extension__ using Wide = __int128;
  Wide sum_ = 0;
};

/// A compensated sum of floats: it keeps the rounding error, so that the result hardly
/// depends on the order or the partitioning of values: the state of a part is its sum,
/// rounded once.
class CompensatedSum {
 public:
  using Number = double;
  using Parts = std::tuple<double>;

  CompensatedSum() = default;
  explicit CompensatedSum(const Parts& parts) : sum_(std::get<0>(parts)) {}

  void Add(double value) {
    // Exact if the sum is not smaller than the value; else off by a rounding of the
    // value. Exactness in that case made grouping 5 % slower.
    const double sum = sum_ + value;
    lost_ += value - (sum - sum_);
    sum_ = sum;
  }
  void Merge(const CompensatedSum& other) {
    Add(other.sum_);
    lost_ += other.lost_;
  }
  double value() const {
    // The rounding error of an infinite sum is NaN.
    const double whole = sum_ + lost_;
    return std::isfinite(whole) ? whole : sum_;
  }
  Parts parts() const { return {value()}; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

/// A sum and the number of its values.
template <typename Sum>
class RunningMean {
 public:
  using Number = typename Sum::Number;
  using Parts = std::tuple<double, int64_t>;

  RunningMean() = default;
  explicit RunningMean(const Parts& parts)
      : sum_(std::get<0>(parts)), count_(std::get<1>(parts)) {}

  void Add(Number value) {
    sum_.Add(value);
    ++count_;
  }
  void Merge(const RunningMean& other) {
    sum_.Merge(other.sum_);
    count_ += other.count_;
  }
  double value() const { return sum_.value() / static_cast<double>(count_); }
  bool is_missing() const { return count_ == 0; }
  Parts parts() const { return {sum_.value(), count_}; }

 private:
  Sum sum_;
  int64_t count_ = 0;
};

}  // namespace xshards::ops
