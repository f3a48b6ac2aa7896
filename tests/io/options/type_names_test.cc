// SPDX-License-Identifier: Apache-2.0
#include "io/options/type_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/options/quoted_names.h"
#include "tests/support/status_assertions.h"

namespace xshards::io {
namespace {

TEST(OptionNames, AreListedWhereOneIsUnknown) {
  ASSERT_OK(CheckOptionName("a", {"a", "b"}, "writing"));
  EXPECT_FAILS(Invalid, "Unknown option of writing: 'z'; expected one of 'a', 'b'",
               CheckOptionName("z", {"a", "b"}, "writing"));
  EXPECT_FAILS(Invalid, "expected one of none", CheckOptionName("z", {}, "writing"));
}

TEST(TypeNames, KnowArrowsAndPandasNames) {
  for (const auto& [name, type] :
       std::vector<std::pair<std::string, std::shared_ptr<arrow::DataType>>>{
           {"int64", arrow::int64()},
           {"Int32", arrow::int32()},
           {"str", arrow::large_utf8()},
           {"object", arrow::large_utf8()},
           {"double", arrow::float64()},
           {"datetime64[ns]", arrow::timestamp(arrow::TimeUnit::NANO)},
           {"decimal128(10, 2)", arrow::decimal128(10, 2)},
           {"decimal128(5,0)", arrow::decimal128(5, 0)}}) {
    ASSERT_OK_AND_ASSIGN(const auto found, TypeFromName(name));
    EXPECT_TRUE(found->Equals(*type)) << name;
  }
  for (const char* name : {"", "integer", "decimal128(10)", "decimal128(a, b)"}) {
    EXPECT_FALSE(TypeFromName(name).ok()) << name;
  }
}

TEST(TypeNames, EveryTypeOfArrowsNameReadsBack) {
  for (const auto& type :
       {arrow::int8(), arrow::uint64(), arrow::float64(), arrow::large_utf8(),
        arrow::boolean(), arrow::date32(), arrow::timestamp(arrow::TimeUnit::MICRO),
        arrow::decimal128(12, 3)}) {
    ASSERT_OK_AND_ASSIGN(const auto found, TypeFromName(type->ToString()));
    EXPECT_TRUE(found->Equals(*type)) << type->ToString();
  }
}

}  // namespace
}  // namespace xshards::io
