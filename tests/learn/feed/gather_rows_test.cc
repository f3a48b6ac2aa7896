// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/gather_rows.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace xshards::learn {
namespace {

TEST(GatherRowsTest, CopiesRowsOfAnySizeInTheGivenOrder) {
  const std::vector<uint32_t> rows = {3, 0, 3,  99, 50, 7,  1,  2,  4,  5,  6,
                                      8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
  for (const int64_t row_bytes : {0, 1, 4, 8, 12, 16, 32, 36, 64, 200}) {
    std::vector<uint8_t> source(static_cast<size_t>(100 * row_bytes));
    std::iota(source.begin(), source.end(), uint8_t{0});
    std::vector<uint8_t> target(rows.size() * static_cast<size_t>(row_bytes));
    GatherRows(source.data(), row_bytes, rows, target.data());
    for (size_t i = 0; i < target.size(); ++i) {
      const auto bytes = static_cast<size_t>(row_bytes);
      ASSERT_EQ(target[i], source[rows[i / bytes] * bytes + i % bytes]);
    }
  }
}

}  // namespace
}  // namespace xshards::learn
