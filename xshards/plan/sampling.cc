// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace xshards {

namespace {

// The finalizer of SplitMix64: a bijection, so that keys of different rows differ.
uint64_t Mix(uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
  return word ^ (word >> 31);
}

}  // namespace

uint64_t DrawKey(uint64_t seed, int64_t index) {
  return Mix(Mix(seed + 0x9e3779b97f4a7c15ULL) ^ Mix(static_cast<uint64_t>(index)));
}

double DrawFraction(uint64_t seed, int64_t index) {
  return std::ldexp(static_cast<double>(DrawKey(seed, index) >> 11), -53);
}

int64_t DrawRow(uint64_t seed, int64_t index, int64_t num_rows) {
  using Wide = unsigned __int128;
  const auto scaled =
      static_cast<Wide>(DrawKey(seed, index)) * static_cast<Wide>(num_rows);
  return static_cast<int64_t>(scaled >> 64);
}

uint64_t WeightedDrawKey(uint64_t seed, int64_t row, double weight) {
  if (weight <= 0) return std::numeric_limits<uint64_t>::max();
  // Exponential arrival times of rate `weight`; positive doubles have the order of their
  // bits. log1p distinguishes fractions close to 0.
  const double time = -std::log1p(-DrawFraction(seed, row)) / weight;
  return std::bit_cast<uint64_t>(std::max(time, 0.0));
}

DrawOrder FirstNotDrawn(uint64_t seed, int64_t num_rows, int64_t count) {
  if (count >= num_rows) return kDrawAll;
  // Keys are counted by their leading bits first; only those of one bucket are stored.
  constexpr int kBits = 16;
  std::vector<int64_t> sizes(size_t{1} << kBits);
  for (int64_t row = 0; row < num_rows; ++row) {
    ++sizes[static_cast<size_t>(DrawKey(seed, row) >> (64 - kBits))];
  }
  size_t bucket = 0;
  int64_t before = 0;
  while (before + sizes[bucket] <= count) before += sizes[bucket++];
  std::vector<DrawOrder> held;
  held.reserve(static_cast<size_t>(sizes[bucket]));
  for (int64_t row = 0; row < num_rows; ++row) {
    const uint64_t key = DrawKey(seed, row);
    if (key >> (64 - kBits) == bucket) held.push_back({key, row});
  }
  const auto wanted = held.begin() + (count - before);
  std::nth_element(held.begin(), wanted, held.end());
  return *wanted;
}

}  // namespace xshards
