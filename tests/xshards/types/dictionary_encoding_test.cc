// SPDX-License-Identifier: Apache-2.0
#include "xshards/types/dictionary_encoding.h"

#include <arrow/array/array_dict.h>
#include <arrow/array/validate.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {
namespace {

using testing::Array;

std::shared_ptr<arrow::DictionaryArray> Encoded(
    const std::shared_ptr<arrow::Array>& places,
    const std::shared_ptr<arrow::Array>& values) {
  auto made = arrow::DictionaryArray::FromArrays(
      arrow::dictionary(places->type(), values->type()), places, values);
  return std::static_pointer_cast<arrow::DictionaryArray>(made.ValueOrDie());
}

std::shared_ptr<arrow::Array> Decoded(const arrow::DictionaryArray& column) {
  auto values = DecodeValues(column, arrow::default_memory_pool());
  EXPECT_OK(values.status());
  if (!values.ok()) return nullptr;
  EXPECT_OK((*values)->ValidateFull());
  return *values;
}

void ExpectEqual(const std::shared_ptr<arrow::Array>& actual,
                 const std::shared_ptr<arrow::Array>& expected) {
  ASSERT_NE(actual, nullptr);
  EXPECT_TRUE(actual->Equals(*expected)) << actual->ToString();
}

const char kTexts[] =
    R"(["", "a", "sixteen bytes xx", "seventeen bytes x", "é日本", "not used"])";

TEST(EncodedColumns, DecodesTextOfEveryLength) {
  const auto values = Array(arrow::large_utf8(), kTexts);
  const auto column = Encoded(Array(arrow::int32(), "[3, 0, 1, 2, 4, 3, 1]"), values);
  ExpectEqual(Decoded(*column),
              Array(arrow::large_utf8(),
                    R"(["seventeen bytes x", "", "a", "sixteen bytes xx", "é日本",
                        "seventeen bytes x", "a"])"));
}

TEST(EncodedColumns, DecodesMissingRowsAndSlices) {
  const auto values = Array(arrow::large_utf8(), kTexts)->Slice(1);
  const auto column =
      Encoded(Array(arrow::int32(), "[0, null, 3, null, 1, 0, null]"), values);
  const auto expected =
      Array(arrow::large_utf8(),
            R"(["a", null, "é日本", null, "sixteen bytes xx", "a", null])");
  for (int64_t begin = 0; begin < 7; ++begin) {
    const auto slice =
        std::static_pointer_cast<arrow::DictionaryArray>(column->Slice(begin));
    ExpectEqual(Decoded(*slice), expected->Slice(begin));
  }
}

TEST(EncodedColumns, DecodesTypesWithoutAFastPath) {
  ExpectEqual(Decoded(*Encoded(Array(arrow::int8(), "[1, 0, null]"),
                               Array(arrow::large_utf8(), R"(["x", "y"])"))),
              Array(arrow::large_utf8(), R"(["y", "x", null])"));
  ExpectEqual(Decoded(*Encoded(Array(arrow::int32(), "[1, 0, null]"),
                               Array(arrow::large_utf8(), R"([null, "y"])"))),
              Array(arrow::large_utf8(), R"(["y", null, null])"));
  ExpectEqual(Decoded(*Encoded(Array(arrow::int32(), "[1, 1, 0]"),
                               Array(arrow::int64(), "[7, 8]"))),
              Array(arrow::int64(), "[8, 8, 7]"));
}

TEST(EncodedColumns, DecodesAnEmptyArray) {
  const auto none = Array(arrow::large_utf8(), "[]");
  ExpectEqual(Decoded(*Encoded(Array(arrow::int32(), "[]"), none)), none);
  ExpectEqual(Decoded(*Encoded(Array(arrow::int32(), "[null, null]"), none)),
              Array(arrow::large_utf8(), "[null, null]"));
}

TEST(EncodedColumns, DecodesEncodedButNotRequestedDictionaries) {
  const auto type = arrow::dictionary(arrow::int32(), arrow::large_utf8());
  const auto text = arrow::field("text", type);
  ASSERT_OK_AND_ASSIGN(const auto category,
                       WithCategories(arrow::field("category", type),
                                      Array(arrow::large_utf8(), R"(["x"])"), false));
  const auto theirs = WithDtype(arrow::field("theirs", type), "dictionary[pyarrow]");
  const auto number = arrow::field("number", arrow::int64());
  EXPECT_TRUE(IsEncoded(*text));
  EXPECT_FALSE(IsEncoded(*category));
  EXPECT_FALSE(IsEncoded(*theirs));
  EXPECT_FALSE(IsEncoded(*number));
  const auto schema = arrow::schema({text, category, theirs, number});
  const auto shown = DecodedSchema(schema);
  EXPECT_EQ(shown->field(0)->type()->id(), arrow::Type::LARGE_STRING);
  for (int i = 1; i < 4; ++i) {
    EXPECT_TRUE(shown->field(i)->Equals(*schema->field(i), /*check_metadata=*/true));
  }
  EXPECT_EQ(DecodedSchema(shown), shown);
  EXPECT_EQ(DecodedSchema(nullptr), nullptr);
}

TEST(EncodedColumns, DecodesABatchOrForwardsIt) {
  const auto column = Encoded(Array(arrow::int32(), "[1, 0]"),
                              Array(arrow::large_utf8(), R"(["x", "y"])"));
  const auto batch =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("a", column->type()),
                                              arrow::field("b", arrow::int64())}),
                               2, {column, Array(arrow::int64(), "[1, 2]")});
  ASSERT_OK_AND_ASSIGN(const auto decoded,
                       DecodeColumns(batch, arrow::default_memory_pool()));
  EXPECT_OK(decoded->ValidateFull());
  ExpectEqual(decoded->column(0), Array(arrow::large_utf8(), R"(["y", "x"])"));
  EXPECT_EQ(decoded->column(1), batch->column(1));
  ASSERT_OK_AND_ASSIGN(const auto again,
                       DecodeColumns(decoded, arrow::default_memory_pool()));
  EXPECT_EQ(again, decoded);
}

}  // namespace
}  // namespace xshards
