// SPDX-License-Identifier: Apache-2.0
#include "io/json/document_reader.h"

#include <string>
#include <vector>

#include <arrow/array.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json/value_parser.h"
#include "io/text/parse_error.h"
#include "tests/io/scan_fixture.h"
#include "xshards/types/json_text_field.h"

namespace xshards::io {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

arrow::Result<std::optional<JsonDocument>> Parse(const std::string& text,
                                                 JsonOrient orient) {
  const std::string padded = text + std::string(kJsonPadding, '\0');
  return ParseJsonDocument({padded.data(), text.size()}, "a.json", orient,
                           arrow::default_memory_pool());
}

// The columns of a document as text: name, type and values.
std::vector<std::string> Columns(const std::string& text, JsonOrient orient) {
  const auto document = Parse(text, orient);
  EXPECT_TRUE(document.ok()) << document.status();
  if (!document.ok() || !document->has_value()) return {};
  const auto& rows = *(*document)->rows;
  EXPECT_TRUE(rows.ValidateFull().ok());
  std::vector<std::string> columns;
  for (int i = 0; i < rows.num_columns(); ++i) {
    const auto& field = *rows.schema()->field(i);
    std::string column = field.name() + " ";
    column += IsJsonText(field) ? "json" : field.type()->ToString();
    for (int64_t row = 0; row < rows.num_rows(); ++row) {
      column += " " + rows.column(i)->GetScalar(row).ValueOrDie()->ToString();
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

TEST(JsonDocument, HasTheTypesOfRecords) {
  EXPECT_THAT(Columns(R"({"i": [1, -2], "u": [1, 18446744073709551615], "f": [1, 2.5],
                  "n": [1, null], "b": [true, null], "s": ["x", "\u00e9\n"],
                  "none": [null, NaN]})",
                      JsonOrient::kColumns),
              ElementsAre("i int64 1 -2", "u uint64 1 18446744073709551615",
                          "f double 1 2.5", "n int64 1 null", "b bool true null",
                          "s large_string x é\n", "none json null null"));
}

TEST(JsonDocument, KeepsValuesWithoutATypeAsJsonText) {
  EXPECT_THAT(Columns(R"([[1, [1, {"a": "]"}], -1],
                          ["x", null, 18446744073709551615],
                          [1.0, 123456789012345678901, 1e300]])",
                      JsonOrient::kValues),
              ElementsAre("0 json 1 \"x\" 1.0",
                          "1 json [1, {\"a\": \"]\"}] null 123456789012345678901",
                          "2 json -1 18446744073709551615 1e+300"));
}

TEST(JsonDocument, FindsRowsByTheirKeys) {
  const std::string text =
      R"({"a": {"x": 1, "y": 2}, "b": {"z": "q", "y": "r"}, "c": {"x": true}})";
  EXPECT_THAT(Columns(text, JsonOrient::kColumns),
              ElementsAre("a int64 1 2 null", "b large_string null r q",
                          "c json true null null"));
  ASSERT_OK_AND_ASSIGN(const auto document, Parse(text, JsonOrient::kColumns));
  ASSERT_NE(document->index, nullptr);
  EXPECT_EQ(document->index->column(0)->ToString(), "[\n  \"x\",\n  \"y\",\n  \"z\"\n]");
}

TEST(JsonDocument, ReadsRowsOfObjectsAndArrays) {
  EXPECT_THAT(Columns(R"([{"a": 1, "b": 2}, {"b": 3}])", JsonOrient::kValues),
              ElementsAre("a int64 1 null", "b int64 2 3"));
  EXPECT_THAT(
      Columns(R"({"x": {"b": 2, "a": 1}, "y": {"a": 3, "b": 4}})", JsonOrient::kIndex),
      ElementsAre("b int64 2 4", "a int64 1 3"));
  EXPECT_THAT(Columns(R"({"x": [1, "p"], "y": [2]})", JsonOrient::kIndex),
              ElementsAre("0 int64 1 2", "1 large_string p null"));
  EXPECT_THAT(Columns(R"([{"a": 1, "a": 2}])", JsonOrient::kValues),
              ElementsAre("a int64 2"));
}

TEST(JsonDocument, ReadsThePartsOfSplitInAnyOrder) {
  const std::string text = R"({"data": [[1], [2]], "index": ["x", 5], "columns": ["a"]})";
  EXPECT_THAT(Columns(text, JsonOrient::kSplit), ElementsAre("0 int64 1 2"));
  ASSERT_OK_AND_ASSIGN(const auto document, Parse(text, JsonOrient::kSplit));
  EXPECT_EQ(document->header, R"(["a"])");
  EXPECT_FALSE(document->has_keys);
  EXPECT_TRUE(IsJsonText(*document->index->schema()->field(0)));
  ASSERT_OK_AND_ASSIGN(const auto numbered,
                       Parse(R"({"columns": [1], "data": [[1]]})", JsonOrient::kSplit));
  EXPECT_EQ(numbered->index, nullptr);
}

TEST(JsonDocument, GivesTheSchemaOfATableAsText) {
  ASSERT_OK_AND_ASSIGN(const auto document,
                       Parse(R"({"schema": {"fields": [ ]}, "data": [{"a": 1}], "x": 2})",
                             JsonOrient::kTable));
  EXPECT_EQ(document->header, R"({"fields": [ ]})");
  EXPECT_EQ(document->rows->num_columns(), 1);
}

TEST(JsonDocument, LeavesOddLayoutsToTheCaller) {
  struct Case {
    JsonOrient orient;
    std::string text;
  };
  for (const auto& [orient, text] : std::vector<Case>{
           {JsonOrient::kColumns, "{}"},
           {JsonOrient::kColumns, "[]"},
           {JsonOrient::kColumns, "null"},
           {JsonOrient::kColumns, R"({"a": 1})"},
           {JsonOrient::kColumns, R"({"a": [1], "b": [1, 2]})"},
           {JsonOrient::kColumns, R"({"a": [1], "b": {"x": 1}})"},
           {JsonOrient::kColumns, R"({"a": [1], "a": [2]})"},
           {JsonOrient::kColumns, R"({"a": ["\ud800"]})"},
           {JsonOrient::kValues, "[1, 2]"},
           {JsonOrient::kValues, R"([[1], {"a": 1}])"},
           {JsonOrient::kIndex, R"({"x": {"a": 1}, "y": {"b": 1}})"},
           {JsonOrient::kIndex, R"({"x": [1], "x": [2]})"},
           {JsonOrient::kSplit, R"({"columns": ["a"], "data": [[1, 2]]})"},
           {JsonOrient::kSplit, R"({"columns": ["a"], "index": [], "data": [[1]]})"},
           {JsonOrient::kTable, R"({"schema": {}, "data": [[1]]})"}}) {
    const auto document = Parse(text, orient);
    ASSERT_TRUE(document.ok()) << text << ": " << document.status();
    EXPECT_FALSE(document->has_value()) << text;
  }
}

TEST(JsonDocument, FindsTheByteThatIsNotUtf8) {
  std::string text = "{\"a\": [\n\"";
  for (int i = 0; i < 5000; ++i) text += "é";
  const auto status = Parse(text + "\xff\"]}", JsonOrient::kColumns).status();
  ASSERT_NE(TextFault::Of(status), nullptr);
  EXPECT_EQ(TextFault::Of(status)->kind(), TextFault::Kind::kUndecodable);
  EXPECT_THAT(status.message(), HasSubstr("Expected UTF-8"));
  EXPECT_THAT(status.message(), HasSubstr("(character 10002)"));
}

TEST(JsonDocument, LimitsNesting) {
  const std::string deep(1021, '[');
  const std::string end(1021, ']');
  EXPECT_EQ(Columns("[[" + deep + end + "]]", JsonOrient::kValues).size(), 1);
  EXPECT_THAT(Parse("[[[[" + deep + end + "]]]]", JsonOrient::kValues).status().message(),
              HasSubstr("1024 deep"));
}

class JsonDocumentFile : public IoTest {};

TEST_F(JsonDocumentFile, NamesTheFileTheLineAndTheFault) {
  struct Case {
    JsonOrient orient;
    std::string text;
    std::string message;
  };
  for (const auto& [orient, text, message] : std::vector<Case>{
           {JsonOrient::kColumns, "5", "Expected an object or an array, got 5"},
           {JsonOrient::kColumns, "", "Expected an object or an array, got the end"},
           {JsonOrient::kSplit, "[[1]]", "Expected an object, got [[1]]"},
           {JsonOrient::kColumns, "{\"a\":\n[1,,2]}", "line 2: Expected"},
           {JsonOrient::kColumns, R"({"a": [1]} x)", "Expected"},
           {JsonOrient::kColumns, R"({"a": [1]} {})", "the end of the document, got {}"},
           {JsonOrient::kColumns, R"({"a": [1])", "a closing '}', got the end of it"},
           {JsonOrient::kColumns, "[[1]", "Expected ',' or ']'"},
           {JsonOrient::kValues, "[[1}", "a closing ']'"},
           {JsonOrient::kColumns, R"({"a": [01]})", "a number without leading zeros"},
           {JsonOrient::kColumns, R"({"a": [tru]})", "a value, got tru]}"},
           {JsonOrient::kColumns, "{\"a\": [\"x\n\"]}",
            "line 1: Expected a closing quote"},
           {JsonOrient::kColumns, R"({"a": ["x]})", "Expected a closing quote"},
           {JsonOrient::kIndex, R"({"x" {}})", "':' after the key"},
           {JsonOrient::kSplit, R"({"columns": [], "name": 5})",
            R"(no other keys than "columns", "index", "data", got "name": 5})"},
           {JsonOrient::kSplit, R"({"data": [[1]]})", R"(keys "columns" and "data")"},
           {JsonOrient::kTable, R"({"data": [{}]})", R"(keys "schema" and "data")"}}) {
    const auto status =
        ReadJsonDocument(Write("a.json", text), orient, context_->memory_pool()).status();
    EXPECT_TRUE(status.IsInvalid()) << text;
    EXPECT_THAT(status.message(), AllOf(HasSubstr("a.json', line"), HasSubstr(message)));
  }
}

TEST_F(JsonDocumentFile, MayHaveAByteOrderMark) {
  const auto plain = Write("a.json", "\xEF\xBB\xBF {\"a\": [1]}\n");
  ASSERT_OK_AND_ASSIGN(const auto document, ReadJsonDocument(plain, JsonOrient::kColumns,
                                                             context_->memory_pool()));
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(document->rows->num_rows(), 1);
  const auto missing = ReadJsonDocument(directory_.File("none.json"),
                                        JsonOrient::kColumns, context_->memory_pool());
  EXPECT_THAT(missing.status().message(), HasSubstr("none.json"));
}

TEST(JsonOrient, IsNamedAsInPandas) {
  ASSERT_OK_AND_ASSIGN(const auto orient, JsonOrientFromName("table"));
  EXPECT_EQ(orient, JsonOrient::kTable);
  EXPECT_THAT(JsonOrientFromName("records").status().message(), HasSubstr("'records'"));
}

}  // namespace
}  // namespace xshards::io
