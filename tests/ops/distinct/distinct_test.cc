// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

using arrow::int64;

class DistinctTest : public OperatorTest {
 protected:
  /// The distinct rows of two partitions.
  std::shared_ptr<arrow::RecordBatch> Both(
      Keep keep, const std::shared_ptr<arrow::RecordBatch>& one,
      const std::shared_ptr<arrow::RecordBatch>& two) {
    DistinctNode node{.keys = one->schema()->field_names(), .keep = keep};
    node.phase = DistinctPhase::kPartialRows;
    arrow::RecordBatchVector moved;
    for (const auto& rows : {one, two}) {
      for (auto& batch : Get(Run(node, {{rows}}))) moved.push_back(std::move(batch));
    }
    node.phase = DistinctPhase::kFinalRows;
    return Get(RunToBatch(node, {moved}));
  }
};

TEST_F(DistinctTest, KeepsTheFirstOfEqualRows) {
  const auto one = Batch({{"a", arrow::int8(), "[1, 1, 2, null, null]"},
                          {"b", arrow::utf8(), R"(["x", "x", "x", null, null])"}});
  const auto two =
      Batch({{"a", arrow::int8(), "[2, 1]"}, {"b", arrow::utf8(), R"(["x", "ö"])"}});
  ExpectBatch(Both(Keep::kFirst, one, two),
              Batch({{"a", arrow::int8(), "[1, 2, null, 1]"},
                     {"b", arrow::utf8(), R"(["x", "x", null, "ö"])"}}));
}

TEST_F(DistinctTest, KeepsTheLastOfEqualRows) {
  const auto one = Batch({{"a", int64(), "[1, 2, 1, null, 3]"}});
  const auto two = Batch({{"a", int64(), "[2, null, 4]"}});
  ExpectBatch(Both(Keep::kLast, one, two), Batch({{"a", int64(), "[1, 3, 2, null, 4]"}}));
}

TEST_F(DistinctTest, GivesNoRowsOfNone) {
  const auto none = Batch({{"a", int64(), "[]"}});
  for (const auto phase : {DistinctPhase::kPartialRows, DistinctPhase::kFinalRows}) {
    for (const Keep keep : {Keep::kFirst, Keep::kLast}) {
      const DistinctNode node{.keys = {"a"}, .keep = keep, .phase = phase};
      const auto stream = Get(Open(node, {{none}}));
      EXPECT_EQ(Get(stream->Next()), nullptr);
      EXPECT_EQ(stream->schema()->field_names(), std::vector<std::string>{"a"});
    }
  }
}

TEST_F(DistinctTest, RunsInPhasesOnly) {
  const auto rows = Batch({{"a", int64(), "[1]"}});
  EXPECT_FAILS(Invalid, "phase of a Distinct", Open(DistinctNode{}, {{rows}}));
  EXPECT_FAILS(KeyError, "nope",
               Open(DistinctNode{.keys = {"nope"}, .phase = DistinctPhase::kPartialRows},
                    {{rows}}));
}

}  // namespace
}  // namespace xshards::ops
