// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <string>
#include <vector>

#include "tests/ops/aggregate/aggregate_fixture.h"

namespace xshards::ops {
namespace {

/// Groups that do not fit the memory; one key has most rows, the others few.
class SpilledGroupsTest : public AggregateTest {
 protected:
  static constexpr int64_t kNumRows = 120000;

  SpilledGroupsTest() {
    std::mt19937 random(11);
    std::vector<int64_t> keys(kNumRows);
    std::vector<std::string> texts(kNumRows);
    std::vector<int64_t> values(kNumRows);
    for (size_t i = 0; i < keys.size(); ++i) {
      keys[i] = random() % 10 < 5 ? 7 : static_cast<int64_t>(random() % 60000);
      texts[i] = "the key of a group, " + std::to_string(keys[i]);
      values[i] = static_cast<int64_t>(random() % 1000);
    }
    rows_ = Batch({{"k", Column(keys)}, {"t", Strings(texts)}, {"v", Column(values)}});
  }

  void ExpectSameInLittleMemory(AggregateNode node) {
    const auto expected = Get(RunInTwoPhases(node, {rows_}));
    ASSERT_GT(expected->num_rows(), 20000);
    MemoryBudget* const roomy = context_.storage.budget;
    MemoryBudget tight(1 << 20);
    context_.storage.budget = &tight;
    context_.batch_bytes = 1 << 16;
    int64_t spilled = budget_.spilled_bytes();
    const auto complete = Get(RunToBatch(node, {Cut(rows_, 5000)}));
    EXPECT_GT(budget_.spilled_bytes(), spilled);
    spilled = budget_.spilled_bytes();
    const auto in_two_phases = Get(RunInTwoPhases(node, Cut(rows_, 30000)));
    EXPECT_GT(budget_.spilled_bytes(), spilled);
    context_.storage.budget = roomy;
    for (const auto& actual : {complete, in_two_phases}) {
      if (node.ordered) {
        ExpectBatch(actual, expected);
      } else {
        ExpectBatch(Sorted(actual), Sorted(expected));
      }
    }
  }

  std::shared_ptr<arrow::RecordBatch> Sorted(
      const std::shared_ptr<arrow::RecordBatch>& batch) {
    return Get(RunToBatch(SortNode{.keys = {{batch->column_name(0)}}}, {{batch}}));
  }

  std::shared_ptr<arrow::RecordBatch> rows_;
};

TEST_F(SpilledGroupsTest, SpillingKeepsTheResult) {
  ExpectSameInLittleMemory({.keys = {"k"},
                            .aggregates = {{"sum", "v", "sum"},
                                           {"mean", "v", "mean"},
                                           {"nunique", "v", "different"},
                                           {"count", kAllRows, "rows"}}});
  ExpectSameInLittleMemory({.keys = {"t", "k"}, .aggregates = {{"max", "v", "max"}}});
}

TEST_F(SpilledGroupsTest, SpillingKeepsCollectedValues) {
  ExpectSameInLittleMemory({.keys = {"k"},
                            .aggregates = {{"collect_list", "v", "all"},
                                           {"collect_set", "v", "set"},
                                           {"median", "v", "median"},
                                           {"sum_distinct", "v", "sum"},
                                           {"nunique", "v", "different"},
                                           {"mean", "v", "mean"}}});
  ExpectSameInLittleMemory(
      {.keys = {"t", "k"}, .aggregates = {{"collect_list", "t", "texts"}}});
}

TEST_F(SpilledGroupsTest, KeepTheirOrder) {
  ExpectSameInLittleMemory({.keys = {"k"}, .ordered = true});
  ExpectSameInLittleMemory(
      {.keys = {"t"}, .aggregates = {{"first_value", "v", "v"}}, .ordered = true});
}

}  // namespace
}  // namespace xshards::ops
