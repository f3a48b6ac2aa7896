// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>

#include <arrow/array/builder_binary.h>

#include "ops/aggregate/accumulator.h"
#include "ops/kernels/numeric_values.h"
#include "ops/kernels/vector_array.h"
#include "ops/keys/hash.h"

namespace xshards::ops {

namespace {

// 2^12 registers: a standard error of 1.04 / 64 = 1.6 %.
constexpr int kIndexBits = 12;
constexpr size_t kNumRegisters = size_t{1} << kIndexBits;
constexpr int kMaxRank = 64 - kIndexBits + 1;

/// A HyperLogLog of hashes. A group of few values has a sorted list of its non-zero
/// registers, a larger one all registers, a byte each.
class Sketch {
 public:
  void Add(uint64_t hash) {
    const auto index = static_cast<uint32_t>(hash >> (64 - kIndexBits));
    // The bit at the end keeps the rank of a hash whose other bits are all 0 in range.
    const uint64_t rest = (hash << kIndexBits) | (uint64_t{1} << (kIndexBits - 1));
    Raise(index, static_cast<uint8_t>(std::countl_zero(rest) + 1));
  }

  void Merge(std::string_view state) {
    if (state.size() == kNumRegisters) {
      for (uint32_t index = 0; index < kNumRegisters; ++index) {
        const auto rank = static_cast<uint8_t>(state[index]);
        if (rank > 0) Raise(index, rank);
      }
      return;
    }
    for (size_t at = 0; at + sizeof(uint32_t) <= state.size(); at += sizeof(uint32_t)) {
      uint32_t entry = 0;
      std::memcpy(&entry, state.data() + at, sizeof(entry));
      Raise(entry >> 8, static_cast<uint8_t>(entry & 0xff));
    }
  }

  std::string_view state() const {
    if (!dense_.empty()) {
      return {reinterpret_cast<const char*>(dense_.data()), dense_.size()};
    }
    return {reinterpret_cast<const char*>(sparse_.data()),
            sparse_.size() * sizeof(uint32_t)};
  }

  int64_t Estimate() const {
    std::array<int64_t, kMaxRank + 1> counts{};  // of registers by rank
    if (dense_.empty()) {
      counts[0] = static_cast<int64_t>(kNumRegisters - sparse_.size());
      for (uint32_t entry : sparse_) ++counts[entry & 0xff];
    } else {
      for (uint8_t rank : dense_) ++counts[rank];
    }
    return EstimateFrom(counts);
  }

  int64_t num_bytes() const {
    return static_cast<int64_t>(dense_.capacity() +
                                sparse_.capacity() * sizeof(uint32_t));
  }

 private:
  // A list of this many entries is as large as all registers.
  static constexpr size_t kMaxEntries = kNumRegisters / sizeof(uint32_t) - 1;

  void Raise(uint32_t index, uint8_t rank) {
    if (!dense_.empty()) {
      dense_[index] = std::max(dense_[index], rank);
      return;
    }
    const uint32_t entry = index << 8 | rank;
    const auto at = std::lower_bound(sparse_.begin(), sparse_.end(), index << 8);
    if (at != sparse_.end() && *at >> 8 == index) {
      *at = std::max(*at, entry);
      return;
    }
    if (sparse_.size() < kMaxEntries) {
      sparse_.insert(at, entry);
      return;
    }
    dense_.resize(kNumRegisters);
    for (uint32_t one : sparse_) dense_[one >> 8] = static_cast<uint8_t>(one & 0xff);
    sparse_ = {};
    dense_[index] = std::max(dense_[index], rank);
  }

  // Ertl's estimator ("New cardinality estimation algorithms for HyperLogLog sketches"):
  // unbiased from one value to 2^64 of them, without tables or thresholds.
  static int64_t EstimateFrom(const std::array<int64_t, kMaxRank + 1>& counts) {
    const auto registers = static_cast<double>(kNumRegisters);
    const auto share = [&](int rank) {
      return static_cast<double>(counts[static_cast<size_t>(rank)]) / registers;
    };
    double sum = registers * Tau(1 - share(kMaxRank));
    for (int rank = kMaxRank - 1; rank >= 1; --rank) {
      sum = 0.5 * (sum + static_cast<double>(counts[static_cast<size_t>(rank)]));
    }
    sum += registers * Sigma(share(0));
    const double alpha = 0.5 / std::numbers::ln2;
    return std::llround(alpha * registers * registers / sum);
  }

  static double Sigma(double x) {
    if (x == 1) return std::numeric_limits<double>::infinity();
    double sum = x;
    for (double weight = 1, before = -1; sum != before; weight *= 2) {
      before = sum;
      x *= x;
      sum += x * weight;
    }
    return sum;
  }

  static double Tau(double x) {
    if (x == 0 || x == 1) return 0;
    double sum = 1 - x;
    double weight = 1;
    for (double before = -1; sum != before;) {
      before = sum;
      x = std::sqrt(x);
      weight *= 0.5;
      sum -= (1 - x) * (1 - x) * weight;
    }
    return sum / 3;
  }

  std::vector<uint32_t> sparse_;  // register << 8 | rank, sorted
  std::vector<uint8_t> dense_;    // empty, or all registers
};

/// approx_count_distinct. A state is the bytes of a Sketch. Hashes are those of keys, so
/// that a value counts once whatever the width or encoding of its column.
class SketchAccumulator final : public Accumulator {
 public:
  explicit SketchAccumulator(AccumulatorOptions options) : options_(std::move(options)) {}

  void Resize(size_t num_groups) override { sketches_.resize(num_groups); }

  arrow::Status Consume(const std::shared_ptr<arrow::Array>& values,
                        const std::vector<uint32_t>& groups) override {
    ARROW_ASSIGN_OR_RAISE(const auto hashes,
                          HashRows({values}, values->length(), options_.pool));
    ForEachValid(*values, [&](int64_t i) {
      const auto row = static_cast<size_t>(i);
      Change(groups[row], [&](Sketch& sketch) { sketch.Add(hashes[row]); });
    });
    return arrow::Status::OK();
  }

  arrow::Status Merge(const arrow::ArrayVector& states,
                      const std::vector<uint32_t>& groups) override {
    const auto& bytes = static_cast<const arrow::LargeBinaryArray&>(*states[0]);
    for (int64_t i = 0; i < bytes.length(); ++i) {
      Change(groups[static_cast<size_t>(i)],
             [&](Sketch& sketch) { sketch.Merge(bytes.GetView(i)); });
    }
    return arrow::Status::OK();
  }

  std::vector<std::shared_ptr<arrow::DataType>> state_types() const override {
    return {arrow::large_binary()};
  }

  arrow::Result<arrow::ArrayVector> States() override {
    arrow::LargeBinaryBuilder builder(options_.pool);
    for (const auto& sketch : sketches_) {
      ARROW_RETURN_NOT_OK(builder.Append(sketch.state()));
    }
    ARROW_ASSIGN_OR_RAISE(auto states, builder.Finish());
    return arrow::ArrayVector{std::move(states)};
  }

  arrow::Result<std::shared_ptr<arrow::Array>> Finish() override {
    std::vector<int64_t> counts;
    counts.reserve(sketches_.size());
    for (const auto& sketch : sketches_) counts.push_back(sketch.Estimate());
    return ToArray(std::move(counts));
  }

  int64_t num_bytes() const override {
    return held_bytes_ + static_cast<int64_t>(sketches_.capacity() * sizeof(Sketch));
  }

 private:
  // The memory of sketches is queried after every batch, and there may be many of them.
  template <typename Action>
  void Change(uint32_t group, const Action& action) {
    Sketch& sketch = sketches_[group];
    held_bytes_ -= sketch.num_bytes();
    action(sketch);
    held_bytes_ += sketch.num_bytes();
  }

  const AccumulatorOptions options_;
  std::vector<Sketch> sketches_;
  int64_t held_bytes_ = 0;  // of sketches_, outside it
};

}  // namespace

MadeAccumulator MakeSketchAccumulator(const AccumulatorOptions& options) {
  return std::make_unique<SketchAccumulator>(options);
}

}  // namespace xshards::ops
