// SPDX-License-Identifier: Apache-2.0
#include "ops/aggregate/moments.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace xshards::ops {
namespace {

std::vector<double> Values(size_t count, double center) {
  std::mt19937 random(5);
  std::lognormal_distribution<double> draw;
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) values.push_back(center + draw(random));
  return values;
}

template <typename Moments>
Moments OneByOne(const std::vector<double>& values) {
  Moments moments;
  for (const double value : values) moments.Add(value);
  return moments;
}

template <typename Moments>
Moments InRuns(const std::vector<double>& values, size_t run) {
  Moments moments;
  for (size_t begin = 0; begin < values.size(); begin += run) {
    const size_t count = std::min(run, values.size() - begin);
    AddRun(values.data() + begin, static_cast<int64_t>(count), &moments);
  }
  return moments;
}

void ExpectClose(double found, double expected) {
  EXPECT_NEAR(found, expected, 1e-9 * std::abs(expected));
}

TEST(Moments, OfRunsAreThoseOfTheirValues) {
  for (const size_t count : {1U, 7U, 8U, 9U, 2047U, 2048U, 2049U, 5000U}) {
    const auto values = Values(count, 3);
    const auto spread = OneByOne<SpreadMoments>(values);
    const auto shape = OneByOne<ShapeMoments>(values);
    for (const size_t run : {size_t{1}, size_t{3}, size_t{100}, count}) {
      const auto spread_of_runs = InRuns<SpreadMoments>(values, run);
      EXPECT_EQ(spread_of_runs.count, spread.count);
      ExpectClose(spread_of_runs.mean, spread.mean);
      ExpectClose(spread_of_runs.m2, spread.m2);
      const auto shape_of_runs = InRuns<ShapeMoments>(values, run);
      EXPECT_EQ(shape_of_runs.count, shape.count);
      ExpectClose(shape_of_runs.mean, shape.mean);
      ExpectClose(shape_of_runs.m2, shape.m2);
      ExpectClose(shape_of_runs.m3, shape.m3);
      ExpectClose(shape_of_runs.m4, shape.m4);
    }
  }
}

TEST(Moments, DoNotSufferFromValuesFarFromZero) {
  // What adding 2^30 leaves of the values is exact, so only their mean may differ.
  const double far = std::exp2(30);
  auto near_values = Values(5000, 0);
  auto far_values = near_values;
  for (size_t i = 0; i < near_values.size(); ++i) {
    near_values[i] = std::round(near_values[i] * 1024) / 1024;
    far_values[i] = near_values[i] + far;
  }
  const auto expected = InRuns<SpreadMoments>(near_values, 5000);
  const auto found = InRuns<SpreadMoments>(far_values, 5000);
  ExpectClose(found.m2, expected.m2);
  // One value far from the others does not make them coarse, either.
  near_values[0] = 1e6;
  ExpectClose(InRuns<SpreadMoments>(near_values, 5000).m2,
              OneByOne<SpreadMoments>(near_values).m2);
}

TEST(Moments, OfEqualValuesHaveNoSpread) {
  const std::vector<double> values(3000, 0.1);
  for (const size_t run : {1U, 11U, 3000U}) {
    const auto spread = InRuns<SpreadMoments>(values, run);
    EXPECT_EQ(spread.mean, 0.1);
    EXPECT_EQ(spread.m2, 0);
    const auto shape = InRuns<ShapeMoments>(values, run);
    EXPECT_EQ(shape.m2, 0);
    EXPECT_EQ(shape.m4, 0);
  }
}

TEST(Moments, OfInfiniteValuesAreNotKnown) {
  auto values = Values(100, 0);
  values[50] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(InRuns<SpreadMoments>(values, 100).m2));
  EXPECT_TRUE(std::isnan(InRuns<ShapeMoments>(values, 100).m2));
}

}  // namespace
}  // namespace xshards::ops
