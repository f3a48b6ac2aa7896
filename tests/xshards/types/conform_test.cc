// SPDX-License-Identifier: Apache-2.0
#include "xshards/types/conform.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {
namespace {

using testing::Batch;

const auto kIntAndText =
    arrow::schema({arrow::field("a", arrow::int32()), arrow::field("b", arrow::utf8())});

TEST(Conform, ReturnsTheSameBatchIfNothingDiffers) {
  auto batch = Batch(kIntAndText, R"([{"a": 1, "b": "x"}])");
  ASSERT_OK_AND_ASSIGN(auto same,
                       Conform(batch, kIntAndText, arrow::default_memory_pool()));
  EXPECT_EQ(same, batch);
}

TEST(Conform, ReordersCastsAndFillsInMissingColumns) {
  auto wanted = arrow::schema({arrow::field("b", arrow::large_utf8()),
                               arrow::field("c", arrow::float64()),
                               arrow::field("a", arrow::float64())});
  ASSERT_OK_AND_ASSIGN(auto batch, Conform(Batch(kIntAndText, R"([{"a": 1, "b": "x"}])"),
                                           wanted, arrow::default_memory_pool()));
  EXPECT_TRUE(batch->Equals(*Batch(wanted, R"([{"b": "x", "c": null, "a": 1.0}])")));
}

TEST(Conform, NamesTheColumnThatCannotBeCast) {
  auto wanted = arrow::schema({arrow::field("b", arrow::int64())});
  EXPECT_FAILS(TypeError, "Column 'b' is expected to be int64",
               Conform(Batch(kIntAndText, R"([{"a": 1, "b": "x"}])"), wanted,
                       arrow::default_memory_pool()));
}

TEST(Unify, WidensNumbersAndNullToAnyType) {
  auto left = arrow::schema(
      {arrow::field("a", arrow::int64()), arrow::field("b", arrow::null())});
  auto right = arrow::schema(
      {arrow::field("a", arrow::float64()), arrow::field("b", arrow::large_utf8())});
  ASSERT_OK_AND_ASSIGN(auto both, Unify(left, right));
  EXPECT_TRUE(both->Equals(*right));
}

TEST(Conform, RoundsIntegersCastToFloatsAsPandasDoes) {
  auto wanted = arrow::schema({arrow::field("a", arrow::float64())});
  auto batch = Batch(arrow::schema({arrow::field("a", arrow::int64())}),
                     R"([{"a": 9007199254740993}])");
  ASSERT_OK_AND_ASSIGN(auto floats, Conform(batch, wanted, arrow::default_memory_pool()));
  EXPECT_TRUE(floats->Equals(*Batch(wanted, R"([{"a": 9007199254740992}])")));
}

TEST(Unify, KeepsTheDtypesOfBothSides) {
  auto masked = WithDtype(arrow::field("a", arrow::int64()), "Int64");
  auto left = arrow::schema({arrow::field("a", arrow::int64())});
  auto right =
      arrow::schema({masked, WithDtype(arrow::field("b", arrow::int8()), "Int8")});
  ASSERT_OK_AND_ASSIGN(auto both, Unify(left, right));
  EXPECT_TRUE(both->Equals(*right, /*check_metadata=*/true)) << *both;
}

TEST(Unify, RejectsTextAndNumbers) {
  EXPECT_FAILS(TypeError, "no common type",
               Unify(arrow::schema({arrow::field("a", arrow::int64())}),
                     arrow::schema({arrow::field("a", arrow::large_utf8())})));
}

}  // namespace
}  // namespace xshards
