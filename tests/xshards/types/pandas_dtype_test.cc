// SPDX-License-Identifier: Apache-2.0
#include "xshards/types/pandas_dtype.h"

#include <arrow/compute/initialize.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

using testing::Array;

class PandasDtypeTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(arrow::compute::Initialize()); }

  static std::shared_ptr<arrow::Field> Category(const std::string& json, bool ordered) {
    return WithCategories(arrow::field("c", arrow::large_utf8()),
                          Array(arrow::large_utf8(), json), ordered)
        .ValueOrDie();
  }
};

TEST_F(PandasDtypeTest, FindsTheFamilyOfADtype) {
  const auto family = [](const std::string& name) {
    return FamilyOf(*WithDtype(arrow::field("a", arrow::int64()), name));
  };
  EXPECT_EQ(family(""), DtypeFamily::kPlain);
  EXPECT_EQ(family("Int64"), DtypeFamily::kMasked);
  EXPECT_EQ(family("UInt8"), DtypeFamily::kMasked);
  EXPECT_EQ(family("boolean"), DtypeFamily::kMasked);
  EXPECT_EQ(family("string"), DtypeFamily::kText);
  EXPECT_EQ(family("int64[pyarrow]"), DtypeFamily::kArrow);
  EXPECT_EQ(family("category"), DtypeFamily::kCategory);
  EXPECT_EQ(family("interval[int64, right]"), DtypeFamily::kPlain);
}

TEST_F(PandasDtypeTest, NamesTheDtypeOfATypeInAFamily) {
  EXPECT_EQ(DtypeNameIn(DtypeFamily::kMasked, *arrow::int8()), "Int8");
  EXPECT_EQ(DtypeNameIn(DtypeFamily::kMasked, *arrow::uint64()), "UInt64");
  EXPECT_EQ(DtypeNameIn(DtypeFamily::kMasked, *arrow::boolean()), "boolean");
  EXPECT_EQ(DtypeNameIn(DtypeFamily::kText, *arrow::large_utf8()), "string");
  EXPECT_EQ(DtypeNameIn(DtypeFamily::kArrow, *arrow::boolean()), "bool[pyarrow]");
  EXPECT_EQ(DtypeNameIn(DtypeFamily::kPlain, *arrow::int8()), "");
  EXPECT_EQ(DtypeNameIn(DtypeFamily::kMasked, *arrow::date32()), "");
}

TEST_F(PandasDtypeTest, ChangesADtypeAndKeepsOtherMetadata) {
  auto field =
      arrow::field("a", arrow::int64(), arrow::key_value_metadata({"mine"}, {"kept"}));
  auto masked = WithDtype(field, "Int64");
  EXPECT_EQ(DtypeName(*masked), "Int64");
  EXPECT_EQ(*masked->metadata()->Get("mine"), "kept");
  EXPECT_TRUE(WithDtype(masked, "")->Equals(*field, /*check_metadata=*/true));
  EXPECT_EQ(DtypeName(*WithDtypeOf(arrow::field("b", arrow::int8()), *masked)), "Int64");
}

TEST_F(PandasDtypeTest, ANewNameRemovesTheLabel) {
  auto field = arrow::field("0", arrow::int64(),
                            arrow::key_value_metadata({"pandas.label"}, {"0"}));
  EXPECT_TRUE(Renamed(field, "0")->HasMetadata());
  EXPECT_FALSE(Renamed(field, "zero")->HasMetadata());
}

TEST_F(PandasDtypeTest, AComputedColumnKeepsTheLabelOfTheOneItReplaces) {
  const auto labelled = arrow::field(
      "0", arrow::int64(), arrow::key_value_metadata({"pandas.label"}, {"[\"0\", 0]"}));
  const auto input = arrow::schema({labelled, arrow::field("x", arrow::int8())});
  const auto computed = arrow::field("", arrow::float64());
  const auto replacing = InPlace(computed, "0", *input);
  EXPECT_EQ(replacing->name(), "0");
  EXPECT_EQ(replacing->metadata()->Get("pandas.label").ValueOr(""), "[\"0\", 0]");
  EXPECT_FALSE(InPlace(computed, "x", *input)->HasMetadata());
  EXPECT_FALSE(InPlace(computed, "new", *input)->HasMetadata());
}

TEST_F(PandasDtypeTest, ObjectsWithoutAMatchAreNaN) {
  const auto missing = [](const std::shared_ptr<arrow::Field>& field) {
    const auto& metadata = WithUnmatchedRows(field)->metadata();
    return metadata ? metadata->Get("pandas.missing").ValueOr("") : "";
  };
  auto text = arrow::field("a", arrow::large_utf8());
  EXPECT_EQ(missing(text), "");
  EXPECT_EQ(missing(WithDtype(text, "object")), "nan");
  EXPECT_EQ(missing(arrow::field("a", arrow::fixed_size_list(arrow::float32(), 3))),
            "nan");
  auto twice = WithUnmatchedRows(WithUnmatchedRows(WithDtype(text, "object")));
  EXPECT_EQ(twice->metadata()->size(), 2);
}

TEST_F(PandasDtypeTest, CategoriesRoundTripThroughMetadata) {
  auto field = Category(R"(["c", "a", "β"])", true);
  ASSERT_OK_AND_ASSIGN(auto categories, CategoriesOf(*field));
  EXPECT_TRUE(categories->Equals(Array(arrow::large_utf8(), R"(["c", "a", "β"])")));
  EXPECT_TRUE(IsOrdered(*field));
  EXPECT_FALSE(IsOrdered(*Category("[]", false)));
  EXPECT_FAILS(Invalid, "The categories of column 'a' cannot be read",
               CategoriesOf(*WithDtype(arrow::field("a", arrow::int64()), "category")));
}

TEST_F(PandasDtypeTest, UnorderedCategoriesAreEqualInAnyOrder) {
  const auto same = [](const auto& left, const auto& right) {
    return SameCategories(*left, *right).ValueOrDie();
  };
  EXPECT_TRUE(same(Category(R"(["a", "b"])", false), Category(R"(["b", "a"])", false)));
  EXPECT_FALSE(same(Category(R"(["a", "b"])", true), Category(R"(["b", "a"])", true)));
  EXPECT_FALSE(same(Category(R"(["a", "b"])", true), Category(R"(["a", "b"])", false)));
  EXPECT_FALSE(same(Category(R"(["a", "b"])", false), Category(R"(["a"])", false)));
  EXPECT_FALSE(same(Category(R"(["a", "b"])", false), Category(R"(["a", "c"])", false)));
}

TEST_F(PandasDtypeTest, SortsCategoriesByCodeForAnyDictionary) {
  auto field = Category(R"(["c", "a", "b"])", false);
  auto type = arrow::dictionary(arrow::int8(), arrow::large_utf8());
  ASSERT_OK_AND_ASSIGN(auto column, arrow::DictionaryArray::FromArrays(
                                        type, Array(arrow::int8(), "[0, 1, null]"),
                                        Array(arrow::large_utf8(), R"(["b", "c"])")));
  ASSERT_OK_AND_ASSIGN(auto codes,
                       SortValues(column, *field, arrow::default_memory_pool()));
  EXPECT_TRUE(codes->Equals(Array(arrow::int32(), "[2, 0, null]")));
  ASSERT_OK_AND_ASSIGN(auto values, SortValues(column, *arrow::field("c", type),
                                               arrow::default_memory_pool()));
  EXPECT_TRUE(values->Equals(Array(arrow::large_utf8(), R"(["b", "c", null])")));
}

}  // namespace
}  // namespace xshards
