// SPDX-License-Identifier: Apache-2.0
#include "ops/keys/key_columns.h"

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

using KeyColumnsTest = OperatorTest;

TEST_F(KeyColumnsTest, PlainColumnsAreNotCopied) {
  const auto column = Json(arrow::int64(), "[1, null]");
  EXPECT_EQ(Get(KeyColumn(column, context_.pool)), column);
}

TEST_F(KeyColumnsTest, DictionariesAreDecoded) {
  const auto column = Get(arrow::DictionaryArray::FromArrays(
      arrow::dictionary(arrow::int8(), arrow::large_utf8()),
      Json(arrow::int8(), "[1, null, 0]"), Strings({"a", "é"})));
  ExpectArray(Get(KeyColumn(column, context_.pool)),
              Strings({"é", "", "a"}, {true, false, true}));
}

TEST_F(KeyColumnsTest, NestedValuesAreEqualExactlyIfTheirBytesAre) {
  const auto lists = Json(arrow::list(arrow::int64()), "[[1, 2], [1], null, [1, 2], []]");
  const auto keys = Get(KeyColumn(lists, context_.pool));
  const auto& bytes = static_cast<const arrow::LargeBinaryArray&>(*keys);
  EXPECT_EQ(bytes.GetView(0), bytes.GetView(3));
  EXPECT_NE(bytes.GetView(0), bytes.GetView(1));
  EXPECT_TRUE(bytes.IsNull(2));
  EXPECT_EQ(bytes.GetView(4).size(), 0);
  const auto sliced = Get(KeyColumn(lists->Slice(3), context_.pool));
  EXPECT_EQ(static_cast<const arrow::LargeBinaryArray&>(*sliced).GetView(0),
            bytes.GetView(0));
}

TEST_F(KeyColumnsTest, NamesTheColumnThatCannotBeAKey) {
  const auto batch = Batch({{"m", arrow::month_interval(), "[1]"}});
  EXPECT_FAILS(NotImplemented, "Column 'm': A column of type month_interval",
               KeyColumns(*batch, {0}, context_.pool));
}

TEST_F(KeyColumnsTest, FindsColumnsByUniqueName) {
  const auto schema =
      arrow::schema({arrow::field("a", arrow::int8()), arrow::field("b", arrow::int8()),
                     arrow::field("b", arrow::int8())});
  EXPECT_EQ(Get(FindColumns(*schema, {"a"})), (std::vector<int>{0}));
  EXPECT_FAILS(KeyError, "There are several columns 'b'", FindColumns(*schema, {"b"}));
  EXPECT_FAILS(KeyError, "There is no column 'c'; there are: a, b, b",
               FindColumns(*schema, {"c"}));
}

}  // namespace
}  // namespace xshards::ops
