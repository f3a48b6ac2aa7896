// SPDX-License-Identifier: Apache-2.0
#include <arrow/array/concatenate.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/shards.h"

namespace xshards {
namespace {

using testing::Array;
using testing::Batch;
using testing::TestContext;

class ShardsSummaryTest : public ::testing::Test {
 protected:
  /// Two partitions of rows, and an empty one between them.
  XShards Make() {
    const auto schema = arrow::schema({arrow::field("number", arrow::int64()),
                                       arrow::field("share", arrow::float64()),
                                       arrow::field("text", arrow::large_utf8())});
    const auto one = Batch(schema, R"([{"number": 4, "share": 0.5, "text": "a"},
                                       {"number": null, "share": 1.5, "text": "b"}])");
    const auto two = Batch(schema, R"([{"number": 1, "share": 2.5, "text": "a"},
                                       {"number": 4, "share": null, "text": null}])");
    return XShards::FromBatches(context_, {one, Batch(schema, "[]"), two}).ValueOrDie();
  }

  std::shared_ptr<Context> context_ = TestContext();
};

TEST_F(ShardsSummaryTest, DescribesColumnsOfNumbersAsPandasDoes) {
  ASSERT_OK_AND_ASSIGN(const auto table, Make().Describe());
  EXPECT_EQ(table->schema()->field_names(),
            (std::vector<std::string>{"statistic", "number", "share"}));
  EXPECT_TRUE(table->column(0)->chunk(0)->Equals(
      Array(arrow::large_utf8(),
            R"(["count", "mean", "std", "min", "25%", "50%", "75%", "max"])")));
  // pd.Series([4, None, 1, 4]).describe()
  EXPECT_TRUE(table->column(1)->chunk(0)->ApproxEquals(
      Array(arrow::float64(), "[3, 3, 1.7320508075688772, 1, 2.5, 4, 4, 4]")));
  EXPECT_TRUE(table->column(2)->chunk(0)->ApproxEquals(
      Array(arrow::float64(), "[3, 1.5, 1, 0.5, 1, 1.5, 2, 2.5]")));
}

TEST_F(ShardsSummaryTest, DescribesAnEmptyTable) {
  ASSERT_OK_AND_ASSIGN(const auto none, Make().Select({"text"}).Describe());
  EXPECT_EQ(none->num_columns(), 1);
  EXPECT_EQ(none->num_rows(), 8);
  ASSERT_OK_AND_ASSIGN(const auto empty, Make().Head(0).Describe({"share"}));
  EXPECT_TRUE(empty->column(1)->chunk(0)->Equals(
      Array(arrow::float64(), "[0, NaN, NaN, NaN, NaN, NaN, NaN, NaN]"),
      arrow::EqualOptions::Defaults().nans_equal(true)));
  EXPECT_FAILS(KeyError, "gone", Make().Describe({"gone"}));
}

TEST_F(ShardsSummaryTest, CountsDistinctValues) {
  ASSERT_OK_AND_ASSIGN(const auto counts, Make().CountDistinct());
  EXPECT_EQ(counts,
            (std::map<std::string, int64_t>{{"number", 2}, {"share", 3}, {"text", 2}}));
  ASSERT_OK_AND_ASSIGN(const auto none, Make().Head(0).Select({"text"}).CountDistinct());
  EXPECT_EQ(none, (std::map<std::string, int64_t>{{"text", 0}}));
}

TEST_F(ShardsSummaryTest, ReducesAColumn) {
  const auto text_of = [](const arrow::Result<std::shared_ptr<arrow::Scalar>>& found) {
    return found.ok() ? (*found)->type->ToString() + " " + (*found)->ToString()
                      : found.status().ToString();
  };
  EXPECT_EQ(text_of(Make().Sum("number")), "int64 9");
  EXPECT_EQ(text_of(Make().Mean("number")), "double 3");
  EXPECT_EQ(text_of(Make().Min("share")), "double 0.5");
  EXPECT_EQ(text_of(Make().Max("text")), "large_string b");
  EXPECT_EQ(text_of(Make().StdDev("share")), "double 1");
  EXPECT_EQ(text_of(Make().Reduce("prod", "number")), "int64 16");
  EXPECT_EQ(text_of(Make().Head(0).Sum("number")), "int64 0");
  EXPECT_EQ(text_of(Make().Head(0).Max("number")), "int64 null");
  EXPECT_FAILS(KeyError, "gone", Make().Sum("gone"));
  EXPECT_FAILS(TypeError, "The mean of column 'text' needs numbers", Make().Mean("text"));
}

TEST_F(ShardsSummaryTest, CastsColumnsInTheirPlaces) {
  ASSERT_OK_AND_ASSIGN(const auto table, Make()
                                             .Cast({{"number", arrow::float32()},
                                                    {"share", arrow::large_utf8()}})
                                             .ToTable());
  EXPECT_EQ(table->schema()->field_names(),
            (std::vector<std::string>{"number", "share", "text"}));
  ASSERT_OK_AND_ASSIGN(const auto numbers,
                       arrow::Concatenate(table->column(0)->chunks()));
  EXPECT_TRUE(numbers->Equals(Array(arrow::float32(), "[4, null, 1, 4]")));
  ASSERT_OK_AND_ASSIGN(const auto texts, arrow::Concatenate(table->column(1)->chunks()));
  EXPECT_TRUE(
      texts->Equals(Array(arrow::large_utf8(), R"(["0.5", "1.5", "2.5", null])")));
  EXPECT_FAILS(Invalid, "Column 'text': Failed to parse",
               Make().Cast({{"text", arrow::int64()}}).ToTable());
}

}  // namespace
}  // namespace xshards
