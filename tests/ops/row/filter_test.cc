// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class Filter : public OperatorTest {};

TEST_F(Filter, KeepsRowsWhereThePredicateIsTrueNotMissing) {
  const auto batch = Batch({{"a", arrow::float64(), "[1, null, 3, NaN, 5]"},
                            {"b", arrow::large_utf8(), R"(["v", "w", null, "y", "ζ"])"}});
  const auto out = Get(RunToBatch(FilterNode{col("a") > lit(2.0)}, {{batch}}));
  ExpectBatch(out, Batch({{"a", arrow::float64(), "[3, 5]"},
                          {"b", arrow::large_utf8(), R"([null, "ζ"])"}}));
}

TEST_F(Filter, AgreesWithALoopForAnyBatchBoundaries) {
  std::mt19937 random(11);
  std::vector<int64_t> values(10000);
  for (auto& value : values) value = static_cast<int64_t>(random() % 100);
  std::vector<int64_t> expected;
  for (int64_t value : values) {
    if (value >= 90) expected.push_back(value);
  }
  for (int64_t rows : {1, 7, 1000, 20000}) {
    const auto out = Get(RunToBatch(FilterNode{col("a") >= lit(90)},
                                    {Cut(Batch({{"a", Column(values)}}), rows)}));
    ExpectArray(out->column(0), Column(expected));
  }
}

TEST_F(Filter, JoinsSmallOutputs) {
  const auto batch = Batch({{"a", Column(std::vector<int64_t>(1000, 1))}});
  EXPECT_EQ(Get(Run(FilterNode{col("a") == lit(1)}, {Cut(batch, 10)})).size(), 1);
  context_.batch_bytes = 1600;
  EXPECT_EQ(Get(Run(FilterNode{col("a") == lit(1)}, {Cut(batch, 10)})).size(), 10);
}

TEST_F(Filter, KeepsTheSchemaIfNoRowRemains) {
  const auto batch = Batch({{"a", arrow::int64(), "[1, 2]"}});
  for (bool late : {false, true}) {
    const FilterNode node{col("a") > lit(5)};
    const auto stream = Get(late ? OpenLate(node, {{batch}}) : Open(node, {{batch}}));
    EXPECT_EQ(Get(stream->Next()), nullptr);
    ASSERT_NE(stream->schema(), nullptr);
    EXPECT_TRUE(stream->schema()->Equals(*batch->schema()));
  }
}

TEST_F(Filter, ForwardsABatchIfAllRowsStay) {
  const auto batch = Batch({{"a", arrow::int64(), "[1, 2]"}});
  const auto out = Get(Run(FilterNode{col("a") > lit(0)}, {{batch}}));
  EXPECT_EQ(out.at(0), batch);
}

TEST_F(Filter, RejectsAPredicateThatIsNotBoolean) {
  const auto batch = Batch({{"a", arrow::int64(), "[1]"}});
  EXPECT_FAILS(TypeError, "int64", Open(FilterNode{col("a") + lit(1)}, {{batch}}));
  EXPECT_FAILS(KeyError, "nope", Open(FilterNode{col("nope") > lit(1)}, {{batch}}));
}

TEST_F(Filter, StopsBetweenBatches) {
  arrow::StopSource source;
  context_.stop = source.token();
  const auto batch = Batch({{"a", arrow::int64(), "[1, 2]"}});
  const auto stream = Get(Open(FilterNode{col("a") > lit(5)}, {{batch, batch}}));
  source.RequestStop();
  EXPECT_TRUE(stream->Next().status().IsCancelled());
}

}  // namespace
}  // namespace xshards::ops
