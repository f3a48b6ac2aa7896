// SPDX-License-Identifier: Apache-2.0
#include "ops/aggregate/spilled_rows.h"

#include <map>
#include <set>

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class SpilledRowsTest : public OperatorTest {
 protected:
  static std::shared_ptr<arrow::RecordBatch> Rows(int64_t first, int64_t count,
                                                  int64_t num_keys) {
    std::vector<int64_t> keys(static_cast<size_t>(count));
    std::vector<int64_t> rows(keys.size());
    for (int64_t i = 0; i < count; ++i) {
      rows[static_cast<size_t>(i)] = first + i;
      keys[static_cast<size_t>(i)] = (first + i) * 7919 % num_keys;
    }
    return Batch({{"key", Column(keys)}, {"row", Column(rows)}});
  }

  // The keys of the rows of each part, checked to be in order.
  std::vector<std::set<int64_t>> KeysOf(const std::vector<Partition>& parts,
                                        int64_t* num_rows) {
    std::vector<std::set<int64_t>> keys(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      auto stream = Get(parts[i].Open(nullptr, context_.pool));
      int64_t last = -1;
      while (auto batch = Get(stream->Next())) {
        const auto& key = static_cast<const arrow::Int64Array&>(*batch->column(0));
        const auto& row = static_cast<const arrow::Int64Array&>(*batch->column(1));
        for (int64_t j = 0; j < batch->num_rows(); ++j) {
          keys[i].insert(key.Value(j));
          EXPECT_GT(row.Value(j), last);
          last = row.Value(j);
          ++*num_rows;
        }
      }
    }
    return keys;
  }
};

TEST_F(SpilledRowsTest, AreOnDiskWithTheRowsOfAKeyTogether) {
  context_.batch_bytes = 4096;
  SpilledRows spilled({"key"}, 0, context_);
  for (int64_t first = 0; first < 10000; first += 500) {
    ASSERT_OK(spilled.Append(Rows(first, 500, 300)));
  }
  const auto parts = Get(spilled.Finish());
  ASSERT_EQ(parts.size(), SpilledRows::kNumParts);
  int64_t num_rows = 0;
  std::set<int64_t> all;
  size_t num_keys = 0;
  for (const auto& keys : KeysOf(parts, &num_rows)) {
    EXPECT_GT(keys.size(), 3);
    num_keys += keys.size();
    all.insert(keys.begin(), keys.end());
  }
  EXPECT_EQ(num_rows, 10000);
  EXPECT_EQ(all.size(), 300);
  EXPECT_EQ(num_keys, 300);
  EXPECT_EQ(parts[0].storage(), Storage::kFile);
}

TEST_F(SpilledRowsTest, PartInAnotherWayAtTheNextLevel) {
  SpilledRows first({"key"}, 0, context_);
  ASSERT_OK(first.Append(Rows(0, 5000, 5000)));
  const auto parts = Get(first.Finish());
  SpilledRows second({"key"}, 1, context_);
  auto stream = Get(parts[3].Open(nullptr, context_.pool));
  while (auto batch = Get(stream->Next())) ASSERT_OK(second.Append(batch));
  int64_t num_rows = 0;
  for (const auto& keys : KeysOf(Get(second.Finish()), &num_rows)) {
    EXPECT_GT(keys.size(), 3);
  }
}

TEST_F(SpilledRowsTest, MayBeNone) {
  SpilledRows spilled({"key"}, 0, context_);
  ASSERT_OK(spilled.Append(Rows(0, 0, 1)));
  for (const auto& part : Get(spilled.Finish())) EXPECT_EQ(part.num_rows(), 0);
}

}  // namespace
}  // namespace xshards::ops
