// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/region/parameter_layout.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"

namespace xshards::learn {
namespace {

constexpr auto kFloat64 = ParameterType::kFloat64;

TEST(ParameterLayout, PutsEachParameterOnItsOwnCacheLine) {
  ASSERT_OK_AND_ASSIGN(auto layout, ParameterLayout::Make({{.name = "a", .count = 1},
                                                           {.name = "b", .count = 17},
                                                           {.name = "c", .count = 16}}));
  EXPECT_EQ(layout.parameters()[0].offset, 0);
  EXPECT_EQ(layout.parameters()[1].offset, 64);
  EXPECT_EQ(layout.parameters()[2].offset, 192);
  EXPECT_EQ(layout.vector_bytes(), 256);
}

TEST(ParameterLayout, KeepsOneVectorPerTypeInTheGivenOrder) {
  ASSERT_OK_AND_ASSIGN(
      auto layout,
      ParameterLayout::Make({{.name = "wide", .count = 3, .type = kFloat64, .group = 1},
                             {.name = "narrow", .count = 20}}));
  EXPECT_EQ(layout.parameters()[0].name, "wide");
  EXPECT_EQ(layout.parameters()[0].offset, 128);  // after the 20 floats
  EXPECT_EQ(layout.parameters()[1].offset, 0);
  EXPECT_EQ(layout.vector_bytes(), 192);
  EXPECT_EQ(layout.num_groups(), 2);
}

TEST(ParameterLayout, TakesParametersWithoutElements) {
  ASSERT_OK_AND_ASSIGN(auto layout,
                       ParameterLayout::Make({{.name = "none", .count = 0}}));
  EXPECT_EQ(layout.vector_bytes(), 0);
}

TEST(ParameterLayout, TakesTypesByTheNamesOfDtypes) {
  EXPECT_EQ(ParameterTypeOf("float32").ValueOrDie(), ParameterType::kFloat32);
  EXPECT_EQ(ParameterTypeOf("float64").ValueOrDie(), kFloat64);
  EXPECT_FAILS(TypeError, "float32 or float64, got 'bfloat16'",
               ParameterTypeOf("bfloat16"));
}

TEST(ParameterLayout, RejectsInvalidParameters) {
  EXPECT_FAILS(Invalid, "at least one parameter", ParameterLayout::Make({}));
  EXPECT_FAILS(Invalid, "'w' twice",
               ParameterLayout::Make({{.name = "w", .count = 1}, {.name = "w"}}));
  EXPECT_FAILS(Invalid, "'w' must have at least 0 elements, got -1",
               ParameterLayout::Make({{.name = "w", .count = -1}}));
  EXPECT_FAILS(Invalid, "group of at least 0, got -2",
               ParameterLayout::Make({{.name = "w", .count = 1, .group = -2}}));
}

}  // namespace
}  // namespace xshards::learn
