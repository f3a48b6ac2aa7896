// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/gather.h"

#include <limits>
#include <numeric>

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

using GatherTest = OperatorTest;

TEST_F(GatherTest, TakesRowsInAnyOrderAndRepeatedly) {
  const auto values = Strings({"a", "é", ""}, {true, true, false});
  const auto rows = Get(RowsOrNull({2, 1, 1, 0}, context_.pool));
  EXPECT_EQ(rows->null_count(), 0);
  ExpectArray(Get(Gather(values, rows, context_.pool)),
              Strings({"", "é", "é", "a"}, {false, true, true, true}));
}

TEST_F(GatherTest, NegativeRowsGiveNulls) {
  const auto rows = Get(RowsOrNull({1, -1, 0}, context_.pool));
  ExpectArray(Get(Gather(Json(arrow::int64(), "[7, 8]"), rows, context_.pool)),
              Json(arrow::int64(), "[8, null, 7]"));
}

TEST_F(GatherTest, TakesValuesOfEachWidth) {
  for (const auto& type : {arrow::int8(), arrow::uint16(), arrow::float32(),
                           arrow::int64(), arrow::timestamp(arrow::TimeUnit::NANO),
                           arrow::decimal128(9, 0), arrow::boolean()}) {
    const bool is_bool = type->id() == arrow::Type::BOOL;
    const bool is_decimal = type->id() == arrow::Type::DECIMAL128;
    const char* const json = is_bool      ? "[false, true, null, true, false]"
                             : is_decimal ? R"(["1", "2", null, "4", "5"])"
                                          : "[1, 2, null, 4, 5]";
    // A slice, whose rows do not start at the first byte or bit.
    const auto values = Json(type, json)->Slice(1);
    const auto expected = Json(type, is_bool      ? "[false, null, true, true]"
                                     : is_decimal ? R"(["5", null, "4", "4"])"
                                                  : "[5, null, 4, 4]");
    for (const auto& row_type : {arrow::int64(), arrow::uint32(), arrow::int32()}) {
      const auto rows = Json(row_type, "[0, 3, 1, 2, 2]")->Slice(1);
      ExpectArray(Get(Gather(values, rows, context_.pool)), expected);
    }
  }
}

template <typename T>
class LargeGatherTest : public GatherTest {};
using Widths = ::testing::Types<int8_t, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(LargeGatherTest, Widths);

TYPED_TEST(LargeGatherTest, TakesFromMoreThanIsInCache) {
  // The second cache, and the last one.
  for (const size_t num_bytes : {3'000'000U, 20'000'000U}) {
    const size_t num_values = num_bytes / sizeof(TypeParam);
    std::vector<TypeParam> values(num_values);
    std::iota(values.begin(), values.end(), TypeParam{-5});
    const auto array = Column(values);
    for (const size_t count : {0U, 1U, 63U, 64U, 65U, 1000U}) {
      std::vector<uint32_t> rows;
      std::vector<TypeParam> expected;
      for (size_t i = 0; i < count; ++i) {
        rows.push_back(static_cast<uint32_t>((i + 1) * 399'989 % num_values));
        expected.push_back(values[rows.back()]);
      }
      ExpectArray(Get(Gather(array, Column(rows), this->context_.pool)),
                  Column(expected));
      std::vector<bool> there(count, true);
      for (size_t i = 0; i < count; i += 3) {
        there[i] = false;
        rows[i] = std::numeric_limits<uint32_t>::max();
      }
      ExpectArray(Get(Gather(array, Column(rows, there), this->context_.pool)),
                  Column(expected, there));
    }
  }
}

TEST_F(GatherTest, GivesNullsForMissingRows) {
  // Missing numbers hold anything; slices do not start at the first bit.
  const auto validity = Json(arrow::boolean(), "[true, false, true, false, true]");
  for (const auto& row_type : {arrow::uint32(), arrow::int64()}) {
    const auto numbers = Json(row_type, row_type->id() == arrow::Type::UINT32
                                            ? "[1, 4294967295, 2, 7, 0]"
                                            : "[1, -1, 2, 4294967296, 0]");
    const auto rows = arrow::MakeArray(arrow::ArrayData::Make(
        row_type, 5, {validity->data()->buffers[1], numbers->data()->buffers[1]}));
    for (const auto& type : {arrow::int8(), arrow::float64()}) {
      const auto there = Json(type, "[9, 1, 2, 3]")->Slice(1);
      const auto some = Json(type, "[9, null, 2, 3]")->Slice(1);
      ExpectArray(Get(Gather(there, rows, context_.pool)),
                  Json(type, "[2, null, 3, null, 1]"));
      ExpectArray(Get(Gather(some, rows->Slice(1), context_.pool)),
                  Json(type, "[null, 3, null, null]"));
      ExpectArray(Get(Gather(there, rows->Slice(1, 3), context_.pool)),
                  Json(type, "[null, 3, null]"));
      ExpectArray(Get(Gather(Json(type, "[]"), rows->Slice(1, 1), context_.pool)),
                  Json(type, "[null]"));
    }
  }
}

TEST_F(GatherTest, TakesAllRowsAndNoRows) {
  const auto batch =
      Batch({{"a", arrow::int64(), "[1, 2]"}, {"b", arrow::boolean(), "[true, null]"}});
  const auto some = Get(Gather(batch, Json(arrow::int64(), "[1]"), context_.pool));
  ExpectBatch(some, batch->Slice(1));
  const auto none = Get(Gather(batch, Json(arrow::int64(), "[]"), context_.pool));
  EXPECT_EQ(none->num_rows(), 0);
  EXPECT_TRUE(none->schema()->Equals(*batch->schema()));
}

}  // namespace
}  // namespace xshards::ops
