// SPDX-License-Identifier: Apache-2.0
#include "xshards/types/common_type.h"

#include <arrow/compute/initialize.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {
namespace {

using testing::Array;
using TypePointer = std::shared_ptr<arrow::DataType>;

class CommonTypeTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(arrow::compute::Initialize()); }

  static void ExpectCommon(const TypePointer& left, const TypePointer& right,
                           const TypePointer& expected) {
    for (const auto& [a, b] : {std::pair(left, right), std::pair(right, left)}) {
      const auto common = NumericCommonType(*a, *b);
      ASSERT_NE(common, nullptr);
      EXPECT_TRUE(common->Equals(*expected)) << *a << " and " << *b << ": " << *common;
    }
  }

  static std::shared_ptr<arrow::Field> Common(const TypePointer& left,
                                              const std::string& left_dtype,
                                              const TypePointer& right,
                                              const std::string& right_dtype) {
    return CommonField(WithDtype(arrow::field("x", left), left_dtype),
                       WithDtype(arrow::field("x", right), right_dtype))
        .ValueOrDie();
  }
};

TEST_F(CommonTypeTest, WidensNumbersAsNumpyDoes) {
  ExpectCommon(arrow::int8(), arrow::int64(), arrow::int64());
  ExpectCommon(arrow::int8(), arrow::uint8(), arrow::int16());
  ExpectCommon(arrow::int16(), arrow::uint8(), arrow::int16());
  ExpectCommon(arrow::int32(), arrow::uint32(), arrow::int64());
  ExpectCommon(arrow::int8(), arrow::uint64(), arrow::float64());
  ExpectCommon(arrow::uint8(), arrow::uint64(), arrow::uint64());
  ExpectCommon(arrow::float32(), arrow::int16(), arrow::float32());
  ExpectCommon(arrow::float32(), arrow::int32(), arrow::float64());
  ExpectCommon(arrow::float32(), arrow::float64(), arrow::float64());
  ExpectCommon(arrow::boolean(), arrow::int8(), arrow::int8());
  ExpectCommon(arrow::boolean(), arrow::float32(), arrow::float32());
  EXPECT_EQ(NumericCommonType(*arrow::int8(), *arrow::large_utf8()), nullptr);
}

TEST_F(CommonTypeTest, KeepsTheNullableDtype) {
  EXPECT_EQ(DtypeName(*Common(arrow::int64(), "Int64", arrow::int64(), "")), "Int64");
  EXPECT_EQ(DtypeName(*Common(arrow::int8(), "", arrow::float64(), "Float64")),
            "Float64");
  auto wide = Common(arrow::int8(), "Int8", arrow::int32(), "Int32");
  EXPECT_EQ(DtypeName(*wide), "Int32");
  EXPECT_TRUE(wide->type()->Equals(*arrow::int32()));
  EXPECT_EQ(DtypeName(*Common(arrow::large_utf8(), "", arrow::large_utf8(), "string")),
            "string");
  EXPECT_EQ(DtypeName(*Common(arrow::null(), "", arrow::int64(), "Int64")), "Int64");
}

TEST_F(CommonTypeTest, TakesTheFinerUnitOfTime) {
  auto field = Common(arrow::timestamp(arrow::TimeUnit::SECOND, "UTC"), "",
                      arrow::timestamp(arrow::TimeUnit::NANO, "UTC"), "");
  EXPECT_TRUE(field->type()->Equals(*arrow::timestamp(arrow::TimeUnit::NANO, "UTC")));
}

TEST_F(CommonTypeTest, TreatsBooleansAsNumbersInFrames) {
  const auto type = [](const TypePointer& left, const TypePointer& right) {
    auto field = ConcatField(arrow::field("x", left), arrow::field("x", right));
    return field.ok() ? (*field)->type()->ToString() : field.status().ToString();
  };
  EXPECT_EQ(type(arrow::boolean(), arrow::int8()), "int8");
  EXPECT_EQ(type(arrow::uint8(), arrow::boolean()), "uint8");
  EXPECT_EQ(type(arrow::float32(), arrow::boolean()), "float");
  EXPECT_THAT(type(arrow::boolean(), arrow::float32()),
              ::testing::HasSubstr("no common type"));
  EXPECT_FAILS(TypeError, "no common type",
               ConcatField(arrow::field("x", arrow::boolean()),
                           WithDtype(arrow::field("x", arrow::int64()), "Int64")));
}

TEST_F(CommonTypeTest, RejectsTypesThatPandasHoldsAsObjects) {
  const auto fails = [](const TypePointer& left, const TypePointer& right) {
    EXPECT_FAILS(TypeError, "Column 'x' is ",
                 CommonField(arrow::field("x", left), arrow::field("x", right)));
  };
  fails(arrow::boolean(), arrow::int64());
  fails(arrow::large_utf8(), arrow::int64());
  fails(arrow::date32(), arrow::timestamp(arrow::TimeUnit::MICRO));
  fails(arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"),
        arrow::timestamp(arrow::TimeUnit::MICRO));
}

TEST_F(CommonTypeTest, DifferentCategoriesBecomeTheirValues) {
  auto dictionary = arrow::dictionary(arrow::int32(), arrow::large_utf8());
  const auto category = [&](const std::string& json, bool ordered) {
    return WithCategories(arrow::field("x", dictionary), Array(arrow::large_utf8(), json),
                          ordered)
        .ValueOrDie();
  };
  auto one = category(R"(["a", "b"])", true);
  ASSERT_OK_AND_ASSIGN(auto same, CommonField(one, category(R"(["a", "b"])", true)));
  EXPECT_TRUE(same->Equals(*one, /*check_metadata=*/true));
  ASSERT_OK_AND_ASSIGN(auto other, CommonField(one, category(R"(["b", "a"])", true)));
  EXPECT_EQ(DtypeName(*other), "");
  ASSERT_OK_AND_ASSIGN(auto text,
                       CommonField(one, arrow::field("x", arrow::large_utf8())));
  EXPECT_TRUE(text->Equals(*arrow::field("x", arrow::large_utf8()), true))
      << text->ToString();
}

TEST_F(CommonTypeTest, DecimalsWidenToHoldIntegers) {
  const auto type = [](const TypePointer& left, const TypePointer& right) {
    const auto found = DecimalCommonType(*left, *right);
    return found == nullptr ? "" : found->ToString();
  };
  const auto cents = arrow::decimal128(12, 2);
  EXPECT_EQ(type(cents, arrow::decimal128(5, 4)), "decimal128(14, 4)");
  EXPECT_EQ(type(cents, arrow::boolean()), "decimal128(12, 2)");
  EXPECT_EQ(type(arrow::int8(), arrow::decimal128(1, 1)), "decimal128(4, 1)");
  EXPECT_EQ(type(arrow::int16(), arrow::int32()), "decimal128(10, 0)");
  EXPECT_EQ(type(cents, arrow::int64()), "decimal128(21, 2)");
  EXPECT_EQ(type(arrow::uint64(), cents), "decimal128(22, 2)");
  EXPECT_EQ(type(arrow::decimal128(38, 38), arrow::int64()), "decimal256(57, 38)");
  EXPECT_EQ(type(arrow::decimal256(76, 70), arrow::int64()), "decimal256(76, 70)");
  EXPECT_EQ(type(arrow::decimal128(3, -2), arrow::int8()), "decimal128(5, 0)");
  EXPECT_EQ(type(cents, arrow::float64()), "");
  EXPECT_EQ(type(arrow::large_utf8(), cents), "");
}

TEST_F(CommonTypeTest, PicklesCombinedWithBytesStayPickles) {
  const auto bytes = WithDtype(arrow::field("x", arrow::large_binary()), "object");
  const auto notes = arrow::key_value_metadata({"xshards.opaque"}, {"pickle"});
  const auto pickles = arrow::field("x", arrow::large_binary())->WithMetadata(notes);
  for (const auto& [left, right] : {std::pair{bytes, pickles}, {pickles, bytes}}) {
    ASSERT_OK_AND_ASSIGN(auto common, CommonField(left, right));
    EXPECT_TRUE(IsOpaque(*common));
  }
}

}  // namespace
}  // namespace xshards
