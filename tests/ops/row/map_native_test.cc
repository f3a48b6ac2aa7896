// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <stdexcept>

#include <arrow/util/key_value_metadata.h>

#include "tests/ops/operator_fixture.h"
#include "xshards/storage/payload.h"

namespace xshards::ops {
namespace {

class MapNative : public OperatorTest {
 protected:
  template <typename F>
  static MapNativeNode Node(F function) {
    return {.name = "",
            .function = std::make_shared<const NativeFunction>(
                MakeNativeFunction(std::move(function)))};
  }
  const std::shared_ptr<arrow::RecordBatch> batch_ =
      Batch({{"a", arrow::int64(), "[1, 2, 3, 4, 5]"}});
};

XSHARDS_FUNCTION(map_native_test_count, [](const ShardView& shard) {
  return Batch({{"count", Column(std::vector<int64_t>{shard.num_rows()})}});
});

TEST_F(MapNative, IsCalledOnceWithTheCompletePartition) {
  int calls = 0;
  const auto out = Get(RunToBatch(Node([&calls](const ShardView& shard) {
                                    ++calls;
                                    return shard;
                                  }),
                                  {Cut(batch_, 2)}));
  EXPECT_EQ(calls, 1);
  ExpectBatch(out, batch_);
}

TEST_F(MapNative, MayReturnAnotherSchema) {
  const auto stream =
      Get(Open(MapNativeNode{.name = "map_native_test_count"}, {Cut(batch_, 2)}));
  EXPECT_EQ(stream->schema(), nullptr);
  const auto out = Get(ReadAll(*stream));
  ExpectArray(out.at(0)->column(0), Json(arrow::int64(), "[5]"));
  EXPECT_EQ(stream->schema()->field_names(), std::vector<std::string>{"count"});
}

TEST_F(MapNative, IsCalledForAnEmptyPartitionToo) {
  const auto out = Get(RunToBatch(MapNativeNode{.name = "map_native_test_count"},
                                  {{batch_->Slice(0, 0)}}));
  ExpectArray(out->column(0), Json(arrow::int64(), "[0]"));
}

TEST_F(MapNative, GivesRowsWhateverTheirMetadataClaims) {
  const auto stream =
      Get(Open(Node([](const ShardView&) {
                 return Get(arrow::RecordBatch::MakeEmpty(arrow::schema(
                     {arrow::field("a", arrow::large_binary())},
                     arrow::key_value_metadata({"xshards.payload"}, {"object"}))));
               }),
               {{batch_}}));
  const auto out = Get(ReadAll(*stream));
  EXPECT_EQ(KindOf(*out.at(0)->schema()), PayloadKind::kTable);
}

TEST_F(MapNative, SplitsALargeOutput) {
  context_.batch_bytes = 4;
  const auto out =
      Get(Run(Node([](const ShardView& shard) { return shard; }), {{batch_}}));
  EXPECT_GT(out.size(), 1);
}

TEST_F(MapNative, TurnsExceptionsIntoErrors) {
  EXPECT_FAILS(UnknownError, "partition 0: threw: no luck",
               Run(Node([](const ShardView&) -> ShardView {
                     throw std::runtime_error("no luck");
                   }),
                   {{batch_}}));
  EXPECT_FAILS(OutOfMemory, "partition 0: threw: the system has no more memory",
               Run(Node([](const ShardView&) -> ShardView { throw std::bad_alloc(); }),
                   {{batch_}}));
  EXPECT_FAILS(UnknownError, "unknown",
               Run(Node([](const ShardView&) -> ShardView { throw 7; }), {{batch_}}));
}

TEST_F(MapNative, KeepsTheErrorCodeAndNamesThePartition) {
  context_.partition_index = 4;
  const auto fails = [](const ShardView&) -> arrow::Result<ShardView> {
    return arrow::Status::KeyError("no such thing");
  };
  EXPECT_FAILS(KeyError, "partition 4: no such thing", Run(Node(fails), {{batch_}}));
}

TEST_F(MapNative, RejectsANullOutput) {
  EXPECT_FAILS(
      Invalid, "null pointer",
      Run(Node([](const ShardView&) { return std::shared_ptr<arrow::RecordBatch>(); }),
          {{batch_}}));
  EXPECT_FAILS(Invalid, "5 vs 99",
               Run(Node([](const ShardView& shard) {
                     return arrow::RecordBatch::Make(shard.schema(), 99,
                                                     shard.batch()->columns());
                   }),
                   {{batch_}}));
}

TEST_F(MapNative, NamesAFunctionThatIsNotRegistered) {
  EXPECT_FAILS(KeyError, "nobody", Open(MapNativeNode{.name = "nobody"}, {{batch_}}));
}

}  // namespace
}  // namespace xshards::ops
