// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/context.h"
#include "xshards/execution/fragments/fragment.h"
#include "xshards/plan/codec.h"

namespace xshards {
namespace {

using testing::Numbered;
using testing::TestContext;

Fragment Example() {
  return {.index = 3,
          .root = MakeNode(
              FilterNode{col("id") > lit(1)},
              {MakeNode(LiteralNode{.schema = Numbered(0)->schema(),
                                    .partitions = {Partition(
                                        {BlockStore::FromBatches({Numbered(5)})}, 0)}})}),
          .sink = {}};
}

TEST(PlanDecoder, RejectsTruncatedBytes) {
  auto context = TestContext();
  ASSERT_OK_AND_ASSIGN(auto encoded, EncodeFragment(Example(), context->storage()));
  for (int64_t length = 0; length < encoded.bytes->size(); ++length) {
    auto cut = arrow::SliceBuffer(encoded.bytes, 0, length);
    auto fragment = DecodeFragment(cut, encoded.segments, context->storage());
    EXPECT_FALSE(fragment.ok()) << "cut at " << length;
  }
}

TEST(PlanDecoder, SurvivesEverySingleDamagedByte) {
  auto context = TestContext();
  ASSERT_OK_AND_ASSIGN(auto encoded, EncodeFragment(Example(), context->storage()));
  for (int64_t position = 0; position < encoded.bytes->size(); ++position) {
    auto damaged = encoded.bytes->ToString();
    damaged[static_cast<size_t>(position)] ^= 0x55;
    // Some damage cannot be seen (a changed letter of a name); none may crash.
    auto fragment = DecodeFragment(arrow::Buffer::FromString(std::move(damaged)),
                                   encoded.segments, context->storage());
    if (position < 4) {
      EXPECT_FALSE(fragment.ok());
    }
  }
}

TEST(PlanDecoder, RefusesNodesWithTooFewOrTooManyInputs) {
  auto context = TestContext();
  const auto leaf = Example().root->inputs[0];
  const auto decode = [&](const NodeVariant& node, size_t num_inputs) -> arrow::Status {
    const Fragment fragment{.root = MakeNode(node, std::vector<Plan>(num_inputs, leaf)),
                            .sink = {}};
    ARROW_ASSIGN_OR_RAISE(auto encoded, EncodeFragment(fragment, context->storage()));
    return DecodeFragment(encoded.bytes, encoded.segments, context->storage()).status();
  };
  const std::vector<std::tuple<NodeVariant, size_t, size_t>> cases = {
      {ScanNode{.format = "csv"}, 0, 0},
      {leaf->node, 0, 0},
      {FilterNode{col("id") > lit(1)}, 1, 1},
      {LimitNode{3}, 1, 1},
      {SortNode{}, 1, 1},
      {AggregateNode{}, 1, 1},
      {MapNativeNode{.name = "f"}, 1, 1},
      {MapPythonNode{.function_hash = "f"}, 1, 2},
      {JoinNode{}, 2, 2},
      {ZipNode{}, 2, 2},
      {UnionNode{}, 1, 5},
  };
  for (const auto& [node, min, max] : cases) {
    for (size_t count = 0; count <= 5; ++count) {
      if (count >= min && count <= max) {
        EXPECT_OK(decode(node, count));
      } else {
        EXPECT_FAILS(Invalid, std::to_string(count) + " inputs", decode(node, count));
      }
    }
  }
}

TEST(PlanDecoder, RefusesForeignBytesAndLeftovers) {
  auto context = TestContext();
  EXPECT_FAILS(Invalid, "not a fragment of this version",
               DecodeFragment(arrow::Buffer::FromString("PK\x03\x04 a zip file"), {},
                              context->storage()));
  ASSERT_OK_AND_ASSIGN(auto encoded, EncodeFragment(Example(), context->storage()));
  EXPECT_FAILS(Invalid, "1 bytes too many",
               DecodeFragment(arrow::Buffer::FromString(encoded.bytes->ToString() + "x"),
                              encoded.segments, context->storage()));
}

TEST(PlanDecoder, RejectsAReferenceToAMissingSegment) {
  auto context = TestContext();
  ASSERT_OK_AND_ASSIGN(auto encoded, EncodeFragment(Example(), context->storage()));
  EXPECT_FAILS(Invalid, "segment 0 of 0",
               DecodeFragment(encoded.bytes, {}, context->storage()));
}

}  // namespace
}  // namespace xshards
