// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/epoch_order.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace xshards::learn {
namespace {

using Visit = std::pair<int64_t, int64_t>;  // piece, row of the piece

/// The rows of an epoch, computed from the class's contract the simple way.
std::vector<Visit> Visits(const EpochOrder& order) {
  std::vector<Visit> visits;
  for (int64_t window = 0; window < order.num_windows(); ++window) {
    EXPECT_EQ(order.WindowStart(window), static_cast<int64_t>(visits.size()));
    std::vector<Visit> lying;
    for (const auto& span : order.WindowSpans(window)) {
      for (int64_t i = 0; i < span.length; ++i) {
        lying.emplace_back(span.piece, span.begin + i);
      }
    }
    const auto rows = order.WindowRows(window);
    if (rows.empty()) {
      visits.insert(visits.end(), lying.begin(), lying.end());
    }
    for (const uint32_t row : rows) visits.push_back(lying.at(row));
  }
  return visits;
}

const std::vector<int64_t> kPieces = {5, 0, 17, 1, 0, 40, 3};

std::vector<Visit> InOrder(const std::vector<int64_t>& pieces) {
  std::vector<Visit> all;
  for (size_t piece = 0; piece < pieces.size(); ++piece) {
    for (int64_t row = 0; row < pieces[piece]; ++row) {
      all.emplace_back(static_cast<int64_t>(piece), row);
    }
  }
  return all;
}

TEST(EpochOrderTest, WithoutShufflingRowsKeepTheirOrder) {
  const EpochOrder order(kPieces, {}, 3);
  EXPECT_EQ(Visits(order), InOrder(kPieces));
  EXPECT_EQ(order.WindowAt(4), 0);
  EXPECT_EQ(order.WindowAt(5), 2);
  EXPECT_EQ(order.WindowAt(65), 6);
}

TEST(EpochOrderTest, EveryRowIsVisitedOnceForAnyWindow) {
  for (const int64_t window_rows : {1, 2, 7, 66, 1000}) {
    const EpochOrder order(kPieces,
                           {.shuffle = true, .seed = 1, .window_rows = window_rows}, 0);
    auto visits = Visits(order);
    EXPECT_NE(visits, InOrder(kPieces)) << window_rows;
    std::sort(visits.begin(), visits.end());
    EXPECT_EQ(visits, InOrder(kPieces)) << window_rows;
  }
}

TEST(EpochOrderTest, OrderIsAFunctionOfSeedAndEpoch) {
  const ShuffleOptions options{.shuffle = true, .seed = 7, .window_rows = 20};
  const auto first = Visits(EpochOrder(kPieces, options, 0));
  EXPECT_EQ(first, Visits(EpochOrder(kPieces, options, 0)));
  EXPECT_NE(first, Visits(EpochOrder(kPieces, options, 1)));
  EXPECT_NE(first, Visits(EpochOrder(kPieces, {true, 8, 20}, 0)));
}

// A row is as likely to come early as late: its mean position over many epochs is near
// the middle.
TEST(EpochOrderTest, RowPositionsAreUniform) {
  const std::vector<int64_t> pieces = {50, 50};
  constexpr int kEpochs = 2000;
  std::vector<double> sums(100);
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    const auto visits = Visits(
        EpochOrder(pieces, {.shuffle = true, .seed = 5, .window_rows = 100}, epoch));
    for (size_t place = 0; place < visits.size(); ++place) {
      const auto [piece, row] = visits[place];
      sums[static_cast<size_t>(50 * piece + row)] += static_cast<double>(place);
    }
  }
  // The standard deviation of a mean is 28.9 / sqrt(2000) = 0.65.
  for (const double sum : sums) EXPECT_NEAR(sum / kEpochs, 49.5, 5 * 0.65);
}

TEST(EpochOrderTest, EmptyPiecesGiveAnEmptyEpoch) {
  for (const bool shuffle : {false, true}) {
    EXPECT_EQ(EpochOrder({}, {.shuffle = shuffle}, 0).num_rows(), 0);
    EXPECT_TRUE(Visits(EpochOrder({0, 0}, {.shuffle = shuffle}, 0)).empty());
  }
}

}  // namespace
}  // namespace xshards::learn
