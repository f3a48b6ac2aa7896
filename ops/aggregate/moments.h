// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <arrow/array.h>

#include "ops/kernels/numeric_values.h"

namespace xshards::ops {

// Central moments, as states that are merged without the cancellation of plain power
// sums. A single value is also a state; many values are summed up block by block, which
// needs no division per value.

/// The sum of term(i) for i below `count`: several independent sums, since each addition
/// to one of them waits for the previous one.
template <typename Term>
double SumTerms(int64_t count, Term&& term) {
  std::array<double, 8> sums{};
  constexpr auto kSideBySide = static_cast<int64_t>(sums.size());
  int64_t i = 0;
  for (; count - i >= kSideBySide; i += kSideBySide) {
    for (int64_t k = 0; k < kSideBySide; ++k) sums[static_cast<size_t>(k)] += term(i + k);
  }
  for (; i < count; ++i) sums[0] += term(i);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// Exact if all values are equal.
inline double MeanOf(const double* values, int64_t count) {
  const double first = values[0];
  const double beyond = SumTerms(count, [=](int64_t i) { return values[i] - first; });
  return first + beyond / static_cast<double>(count);
}

/// The count, the mean and the sum of squared deviations.
struct SpreadMoments {
  int64_t count = 0;
  double mean = 0;
  double m2 = 0;

  static SpreadMoments Of(const double* values, int64_t count) {
    const double mean = MeanOf(values, count);
    const double m2 = SumTerms(count, [=](int64_t i) {
      const double distance = values[i] - mean;
      return distance * distance;
    });
    return {.count = count, .mean = mean, .m2 = m2};
  }

  void Add(double value) {
    ++count;
    const double distance = value - mean;
    mean += distance / static_cast<double>(count);
    m2 += distance * (value - mean);
  }

  void Merge(const SpreadMoments& other) {
    if (other.count == 0) return;
    const auto total = static_cast<double>(count + other.count);
    const double distance = other.mean - mean;
    const double share = static_cast<double>(other.count) / total;
    m2 += other.m2 + distance * distance * static_cast<double>(count) * share;
    mean += distance * share;
    count += other.count;
  }
};

/// The count, the mean and the sums of the 2nd, 3rd and 4th powers of deviations.
struct ShapeMoments {
  double count = 0;
  double mean = 0;
  double m2 = 0;
  double m3 = 0;
  double m4 = 0;

  static ShapeMoments Of(const double* values, int64_t count) {
    const double mean = MeanOf(values, count);
    const auto sum_powers = [=](auto&& power) {
      return SumTerms(count, [=](int64_t i) { return power(values[i] - mean); });
    };
    return {.count = static_cast<double>(count),
            .mean = mean,
            .m2 = sum_powers([](double d) { return d * d; }),
            .m3 = sum_powers([](double d) { return d * d * d; }),
            .m4 = sum_powers([](double d) { return d * d * (d * d); })};
  }

  void Add(double value) { Merge({.count = 1, .mean = value}); }

  void Merge(const ShapeMoments& other) {
    if (other.count == 0) return;
    if (count == 0) {
      *this = other;  // keeps its exact mean, without rounding
      return;
    }
    const double total = count + other.count;
    const double distance = other.mean - mean;
    const double step = distance / total;
    const double cross = distance * step * count * other.count;
    m4 += other.m4 +
          cross * step * step *
              (count * count - count * other.count + other.count * other.count) +
          6 * step * step * (count * count * other.m2 + other.count * other.count * m2) +
          4 * step * (count * other.m3 - other.count * m3);
    m3 += other.m3 + cross * step * (count - other.count) +
          3 * step * (count * other.m2 - other.count * m2);
    m2 += other.m2 + cross;
    mean += step * other.count;
    count = total;
  }
};

/// Add consecutive values to a state.
template <typename Moments>
void AddRun(const double* values, int64_t count, Moments* moments) {
  constexpr int64_t kBlock = 2048;  // fits the first-level cache
  constexpr int64_t kFew = 8;       // too few for a block
  while (count >= kFew) {
    const int64_t in_block = std::min(count, kBlock);
    moments->Merge(Moments::Of(values, in_block));
    values += in_block;
    count -= in_block;
  }
  for (int64_t i = 0; i < count; ++i) moments->Add(values[i]);
}

/// Add non-null numbers to the state of their group.
template <typename Moments>
void AddToGroups(const arrow::DoubleArray& numbers, const std::vector<uint32_t>& groups,
                 std::vector<Moments>* moments) {
  const double* raw = numbers.raw_values();
  if (moments->size() == 1) {
    ForEachValidRun(numbers, [&](int64_t begin, int64_t end) {
      AddRun(raw + begin, end - begin, &moments->front());
    });
  } else {
    ForEachValid(numbers, [&](int64_t i) {
      (*moments)[groups[static_cast<size_t>(i)]].Add(raw[i]);
    });
  }
}

}  // namespace xshards::ops
