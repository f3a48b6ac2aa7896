// SPDX-License-Identifier: Apache-2.0
#include "xshards/function/native_function.h"

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

using testing::Numbered;

XSHARDS_FUNCTION(keep_two,
                 [](const ShardView& shard) { return shard.batch()->Slice(0, 2); });
XSHARDS_FUNCTION(named_twice, [](const ShardView& shard) { return shard; });
const bool kSecond = RegisterFunction("named_twice", nullptr);

TEST(NativeFunction, TakesAndReturnsShardsBatchesTablesAndResults) {
  ShardView shard(Numbered(3));
  std::vector<NativeFunction> functions;
  functions.push_back(MakeNativeFunction([](const ShardView& view) { return view; }));
  functions.push_back(MakeNativeFunction(
      [](const std::shared_ptr<arrow::RecordBatch>& batch) { return batch; }));
  functions.push_back(MakeNativeFunction(
      [](const std::shared_ptr<arrow::Table>& table) { return table; }));
  functions.push_back(MakeNativeFunction(
      [](const ShardView& view) -> arrow::Result<ShardView> { return view; }));
  for (const auto& function : functions) {
    ASSERT_OK_AND_ASSIGN(auto batch, function(shard));
    EXPECT_TRUE(batch->Equals(*Numbered(3)));
  }
}

TEST(NativeFunction, ForwardsAFailure) {
  auto function = MakeNativeFunction([](const ShardView&) -> arrow::Result<ShardView> {
    return arrow::Status::Invalid("no thanks");
  });
  EXPECT_FAILS(Invalid, "no thanks", function(ShardView(Numbered(1))));
}

TEST(NativeFunction, IsFoundByTheNameItIsRegisteredUnder) {
  ASSERT_OK_AND_ASSIGN(auto function, FindFunction("keep_two"));
  ASSERT_OK_AND_ASSIGN(auto batch, (*function)(ShardView(Numbered(5))));
  EXPECT_EQ(batch->num_rows(), 2);
  EXPECT_FAILS(KeyError, "'no_such'; there are:", FindFunction("no_such"));
  EXPECT_FALSE(kSecond);
  EXPECT_FAILS(Invalid, "Two functions are registered as 'named_twice'",
               FindFunction("named_twice"));
}

}  // namespace
}  // namespace xshards
