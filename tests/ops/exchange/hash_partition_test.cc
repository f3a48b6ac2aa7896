// SPDX-License-Identifier: Apache-2.0
#include "ops/exchange/hash_partition.h"

#include <set>

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

using HashPartitionTest = OperatorTest;

TEST_F(HashPartitionTest, EqualKeysShareAPartitionInAnyType) {
  const auto integers = Batch({{"k", arrow::int8(), "[1, 2, null]"}});
  const auto floats = Batch({{"k", arrow::float64(), "[1, 2, NaN]"}});
  const auto wide = Batch({{"k", arrow::uint64(), "[1, 2, null]"}});
  const auto expected = Get(HashDestinations(*integers, {"k"}, 64, context_.pool));
  EXPECT_EQ(Get(HashDestinations(*floats, {"k"}, 64, context_.pool)), expected);
  EXPECT_EQ(Get(HashDestinations(*wide, {"k"}, 64, context_.pool)), expected);
}

TEST_F(HashPartitionTest, SpreadsKeysOverAllPartitions) {
  std::vector<int64_t> numbers(1000);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  const auto batch = Batch({{"k", Column(numbers)}});
  std::vector<int> counts(7);
  for (int32_t to : Get(HashDestinations(*batch, {"k"}, 7, context_.pool))) {
    ASSERT_GE(to, 0);
    ASSERT_LT(to, 7);
    ++counts[static_cast<size_t>(to)];
  }
  for (int count : counts) EXPECT_GT(count, 100);
}

TEST_F(HashPartitionTest, NamesAMissingKey) {
  EXPECT_FAILS(
      KeyError, "There is no column 'z'",
      HashDestinations(*Batch({{"k", arrow::int8(), "[]"}}), {"z"}, 2, context_.pool));
}

}  // namespace
}  // namespace xshards::ops
