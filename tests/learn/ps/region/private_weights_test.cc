// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/region/private_weights.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include <gtest/gtest.h>

#include "tests/learn/ps/replica_group.h"
#include "tests/support/status_assertions.h"
#include "xshards/memory/huge_pages.h"

namespace xshards::learn {
namespace {

using testing::VectorOf;

// Less than a page, small pages only, complete huge pages, and a huge page and some small
// ones.
constexpr int64_t kCounts[] = {1, 70'001, kHugePage / 2, kHugePage / 2 + 70'001};

std::shared_ptr<ParameterRegion> MakeRegion(int64_t count) {
  auto layout = ParameterLayout::Make({{.name = "only", .count = count}}).ValueOrDie();
  return ParameterRegion::Create(layout, {.num_replicas = 2, .num_states = 2}, nullptr)
      .ValueOrDie();
}

int64_t FromHugePage(const std::byte* data) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(data)) % kHugePage;
}

TEST(ParameterRegion, LargeVectorsBeginOnAHugePage) {
  for (const int64_t count : kCounts) {
    const auto region = MakeRegion(count);
    if (region->vector_bytes() < kHugePage) continue;
    EXPECT_EQ(FromHugePage(region->weights()), 0);
    for (const int32_t index : {0, 1}) {
      EXPECT_EQ(FromHugePage(region->state(index)), 0);
      EXPECT_EQ(FromHugePage(region->gradient(index)), 0);
    }
  }
}

TEST(ParameterRegion, VectorsAreZeroAndDoNotOverlap) {
  for (const int64_t count : kCounts) {
    const auto region = MakeRegion(count);
    const auto bytes = static_cast<size_t>(region->vector_bytes());
    std::byte* const vectors[] = {region->weights(), region->state(0), region->state(1),
                                  region->gradient(0), region->gradient(1)};
    for (size_t i = 0; i < std::size(vectors); ++i) {
      const std::span<std::byte> all(vectors[i], bytes);
      // Values of a vector filled earlier would show here if they overlapped.
      EXPECT_TRUE(std::ranges::all_of(all, [](std::byte b) { return b == std::byte{}; }));
      std::ranges::fill(all, static_cast<std::byte>(i + 1));
    }
    for (size_t i = 0; i < std::size(vectors); ++i) {
      EXPECT_EQ(vectors[i][0], static_cast<std::byte>(i + 1));
      EXPECT_EQ(vectors[i][bytes - 1], static_cast<std::byte>(i + 1));
    }
  }
}

TEST(PrivateWeights, ShowSharedWeights) {
  for (const int64_t count : kCounts) {
    const auto region = MakeRegion(count);
    const auto shared = VectorOf<float>(region->weights(), region->parameters()[0]);
    shared.back() = 3;
    ASSERT_OK_AND_ASSIGN(const auto view, PrivateWeights::Map(region));
    const auto own = VectorOf<float>(view->data(), region->parameters()[0]);
    EXPECT_EQ(own.back(), 3);
    shared.front() = 4;  // pages not written to follow the shared weights
    EXPECT_EQ(own.front(), 4);
  }
}

TEST(PrivateWeights, KeepWritesPrivateUntilRefreshed) {
  for (const int64_t count : kCounts) {
    const auto region = MakeRegion(count);
    const auto shared = VectorOf<float>(region->weights(), region->parameters()[0]);
    ASSERT_OK_AND_ASSIGN(const auto view, PrivateWeights::Map(region));
    const auto own = VectorOf<float>(view->data(), region->parameters()[0]);
    own.back() = 5;
    EXPECT_EQ(own.back(), 5);
    EXPECT_EQ(shared.back(), 0);
    shared.back() = 6;
    view->Refresh();
    EXPECT_EQ(own.back(), 6);
  }
}

}  // namespace
}  // namespace xshards::learn
