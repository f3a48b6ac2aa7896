// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/tensor_type.h"

#include <memory>
#include <vector>

#include <arrow/type.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"

namespace xshards::learn {
namespace {

using Types = std::vector<std::shared_ptr<arrow::DataType>>;

TensorType Common(const Types& types) { return CommonTensorType(types).ValueOrDie(); }

TEST(TensorTypeTest, NamesRoundTrip) {
  for (const char* name : {"|b1", "|u1", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8"}) {
    ASSERT_OK_AND_ASSIGN(const TensorType type, TensorTypeFromNumpy(name));
    EXPECT_STREQ(NumpyName(type), name);
  }
  EXPECT_FAILS(TypeError, "'<U3'", TensorTypeFromNumpy("<U3"));
}

// numpy.result_type of the same types.
TEST(TensorTypeTest, CommonTypeLosesNothing) {
  EXPECT_EQ(Common({arrow::boolean()}), TensorType::kBool);
  EXPECT_EQ(Common({arrow::boolean(), arrow::uint8()}), TensorType::kUInt8);
  EXPECT_EQ(Common({arrow::int8(), arrow::uint8()}), TensorType::kInt16);
  EXPECT_EQ(Common({arrow::int32(), arrow::uint16()}), TensorType::kInt32);
  EXPECT_EQ(Common({arrow::int32(), arrow::uint32()}), TensorType::kInt64);
  EXPECT_EQ(Common({arrow::int64(), arrow::uint64()}), TensorType::kFloat64);
  EXPECT_EQ(Common({arrow::float32(), arrow::int16()}), TensorType::kFloat32);
  EXPECT_EQ(Common({arrow::float32(), arrow::int32()}), TensorType::kFloat64);
  EXPECT_EQ(Common({arrow::float32(), arrow::float64()}), TensorType::kFloat64);
}

TEST(TensorTypeTest, RejectsText) {
  const Types types = {arrow::large_utf8()};
  EXPECT_FAILS(TypeError, "large_string", CommonTensorType(types));
}

}  // namespace
}  // namespace xshards::learn
