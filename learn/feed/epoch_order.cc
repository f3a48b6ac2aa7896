// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/epoch_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace xshards::learn {

namespace {

/// SplitMix64: small, fast, and the same on every machine and standard library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31);
  }

  /// A number below `bound`; for window sizes the bias of the multiplication is below
  /// 2^-32.
  uint64_t Below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
  }

 private:
  uint64_t state_;
};

Random RandomFor(uint64_t seed, int64_t epoch, int64_t stream) {
  Random mix(seed);
  Random of_epoch(mix.Next() ^ static_cast<uint64_t>(epoch));
  return Random(of_epoch.Next() ^ static_cast<uint64_t>(stream));
}

template <typename T>
void Shuffle(std::vector<T>& values, Random random) {
  for (size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[random.Below(i)]);
  }
}

}  // namespace

EpochOrder::EpochOrder(std::vector<int64_t> piece_rows, ShuffleOptions options,
                       int64_t epoch)
    : options_(options), epoch_(epoch), pieces_(piece_rows.size()) {
  std::iota(pieces_.begin(), pieces_.end(), 0);
  if (options_.shuffle) Shuffle(pieces_, RandomFor(options_.seed, epoch_, -1));
  starts_.reserve(pieces_.size() + 1);
  starts_.push_back(0);
  for (const int64_t piece : pieces_) {
    starts_.push_back(starts_.back() + piece_rows[static_cast<size_t>(piece)]);
  }
}

int64_t EpochOrder::num_windows() const {
  if (!options_.shuffle) return static_cast<int64_t>(pieces_.size());
  return (num_rows() + options_.window_rows - 1) / options_.window_rows;
}

int64_t EpochOrder::WindowStart(int64_t window) const {
  if (!options_.shuffle) return starts_[static_cast<size_t>(window)];
  return std::min(window * options_.window_rows, num_rows());
}

int64_t EpochOrder::WindowAt(int64_t position) const {
  if (options_.shuffle) return position / options_.window_rows;
  // The last piece that starts here: earlier ones with the same start are empty.
  return std::upper_bound(starts_.begin(), starts_.end(), position) - starts_.begin() - 1;
}

std::vector<EpochOrder::Span> EpochOrder::WindowSpans(int64_t window) const {
  const int64_t begin = WindowStart(window);
  const int64_t end = WindowStart(window + 1);
  std::vector<Span> spans;
  auto next = std::upper_bound(starts_.begin(), starts_.end(), begin) - 1;
  for (auto i = static_cast<size_t>(next - starts_.begin()); i < pieces_.size(); ++i) {
    if (starts_[i] >= end) break;
    const int64_t first = std::max(starts_[i], begin);
    const int64_t last = std::min(starts_[i + 1], end);
    if (first < last) spans.push_back({pieces_[i], first - starts_[i], last - first});
  }
  return spans;
}

std::vector<uint32_t> EpochOrder::WindowRows(int64_t window) const {
  if (!options_.shuffle) return {};
  std::vector<uint32_t> rows(
      static_cast<size_t>(WindowStart(window + 1) - WindowStart(window)));
  std::iota(rows.begin(), rows.end(), 0U);
  Shuffle(rows, RandomFor(options_.seed, epoch_, window));
  return rows;
}

}  // namespace xshards::learn
