// SPDX-License-Identifier: Apache-2.0
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
