// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "io/json_inference.h"
#include "tests/io/scan_fixture.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;

class JsonReader : public IoTest {
 protected:
  std::shared_ptr<arrow::Table> Read(const std::string& text,
                                     const JsonOptions& options = {}) {
    return Rows(ReadJson(context_, Write("test.json", text), options));
  }
  arrow::Status Error(const std::string& text, const JsonOptions& options = {}) {
    auto shards = ReadJson(context_, Write("test.json", text), options);
    return shards.ok() ? shards->ToTable().status() : shards.status();
  }
};

TEST_F(JsonReader, InfersTypesAndFillsMissingKeys) {
  const auto table = Read(R"({"i": 1, "f": 1, "b": true, "s": "x", "n": null}
{"f": 2.5, "s": "é\n", "late": "2020-01-01", "i": -3}

{}
)");
  ASSERT_NE(table, nullptr);
  EXPECT_THAT(table->ColumnNames(), ElementsAre("i", "f", "b", "s", "n", "late"));
  EXPECT_EQ(Text(*table, "i"), "[1,-3,null]");
  EXPECT_EQ(Text(*table, "f"), "[1,2.5,null]");
  EXPECT_EQ(Text(*table, "b"), "[true,null,null]");
  EXPECT_EQ(Text(*table, "s"), "[x,é\n,null]");
  EXPECT_EQ(TypeName(*table, "f"), "double");
  EXPECT_EQ(TypeName(*table, "n"), "double");
  EXPECT_EQ(TypeName(*table, "late"), "large_string");
}

TEST_F(JsonReader, ReadsListsAndObjects) {
  const auto table = Read(R"({"l": ["a", null], "o": {"x": 1}}
{"l": [], "o": {"y": "2021-01-01"}}
)");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(TypeName(*table, "l"), "list<item: large_string>");
  EXPECT_EQ(TypeName(*table, "o"), "struct<x: int64, y: large_string>");
}

TEST_F(JsonReader, GivesTheSameRowsWhereverItIsCut) {
  std::string text;
  for (int i = 0; i < 12; ++i) {
    text += "{\"a\": " + std::to_string(i) + (i % 3 == 0 ? ".5" : "") +
            ", \"s\": \"x\\n" + std::string(static_cast<size_t>(i), 'y') + "\"}" +
            (i % 2 == 0 ? "\r\n" : "\n");
  }
  text.pop_back();
  const auto path = Write("split.json", text);
  const auto whole = Rows(ReadJson(context_, path));
  ASSERT_EQ(whole->num_rows(), 12);
  for (size_t bytes = 1; bytes < text.size(); bytes += 3) {
    const auto cut = Rows(
        ReadJson(context_, path, {.split = {.block_size = static_cast<int64_t>(bytes)}}));
    ASSERT_NE(cut, nullptr);
    EXPECT_TRUE(cut->Equals(*whole)) << bytes;
  }
}

TEST_F(JsonReader, WidensOverSplitsAndFiles) {
  const auto one = Write("1.json", "{\"a\": 1}\n{\"a\": 2}\n");
  const auto two = Write("2.json", "{\"a\": 2.5, \"b\": \"x\"}\n");
  const auto table = Rows(ReadJson(context_, std::vector<std::string>{one, two}));
  EXPECT_EQ(Text(*table, "a"), "[1,2,2.5]");
  EXPECT_EQ(Text(*table, "b"), "[null,null,x]");
  const auto three = Write("3.json", "{\"a\": \"text\"}\n");
  const auto error = ReadJson(context_, std::vector<std::string>{one, three}).status();
  EXPECT_FAILS(TypeError, "'a'", error);
  EXPECT_FAILS(TypeError, "3.json", error);
}

TEST_F(JsonReader, TakesTypesAsAsked) {
  const auto table =
      Read(R"({"b": 1, "a": 2, "t": "2020-01-01T00:00:00"}
)",
           {.dtype = {{"a", "float32"}, {"t", "timestamp[s]"}, {"z", "str"}}});
  ASSERT_NE(table, nullptr);
  EXPECT_THAT(table->ColumnNames(), ElementsAre("b", "a", "t", "z"));
  EXPECT_EQ(TypeName(*table, "a"), "float");
  EXPECT_EQ(TypeName(*table, "t"), "timestamp[s]");
  EXPECT_EQ(Text(*table, "z"), "[null]");
}

TEST_F(JsonReader, NeverDropsAKeyThatItFindsLater) {
  std::string text;
  for (int i = 0; i < 40000; ++i) text += "{\"a\": 1}\n";
  const auto error = Error(text + "{\"a\": 1, \"late\": 2}\n");
  for (const char* part : {"test.json", "line 40001", "'late'"}) {
    EXPECT_FAILS(Invalid, part, error);
  }
  const auto wrong = Error(text + "{\"a\": 1.5}\n" + text);
  for (const char* part : {"test.json", "line 40001", "'a'", "int64", "1.5"}) {
    EXPECT_FAILS(Invalid, part, wrong);
  }
  const auto table =
      Read(text + "{\"a\": 1, \"late\": 2}\n", {.dtype = {{"late", "int64"}}});
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->num_rows(), 40001);
}

TEST_F(JsonReader, TellsWhatIsNotJson) {
  EXPECT_FAILS(Invalid, "line 2", Error("{\"a\": 1}\n{\"a\": }\n"));
  EXPECT_FAILS(Invalid, "test.json", Error("{\"a\": 1}\nnonsense\n"));
  EXPECT_FAILS(Invalid, "JSON array", Error("[{\"a\": 1}]\n"));
  EXPECT_FAILS(Invalid, "line 2", Error("{\"a\": 1}\n{\"a\": \"x\"}\n"));
}

TEST_F(JsonReader, GivesNoRowsOfAnEmptyFile) {
  const auto nothing = Read("");
  ASSERT_NE(nothing, nullptr);
  EXPECT_EQ(nothing->num_columns(), 0);
  const auto typed = Read("", {.dtype = {{"a", "int64"}}});
  ASSERT_NE(typed, nullptr);
  EXPECT_EQ(Text(*typed, "a"), "[]");
  EXPECT_EQ(TypeName(*typed, "a"), "int64");
}

TEST_F(JsonReader, ScansOnlyWhatIsAsked) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += "{\"a\": " + std::to_string(i) + ", \"b\": \"x\", \"c\": {\"d\": 1}}\n";
  }
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadJson(context_, Write("scan.json", text)));
  auto scan = ScanOf(shards);
  ASSERT_OK_AND_ASSIGN(const auto all, RunScan(scan));
  EXPECT_EQ(all.metrics.bytes_read, static_cast<int64_t>(text.size()));
  EXPECT_EQ(all.metrics.rows_read, 5000);
  for (const auto& columns :
       std::vector<std::vector<std::string>>{{"b", "a"}, {"c"}, {}, {"c", "b"}}) {
    scan.columns = columns;
    ASSERT_OK_AND_ASSIGN(const auto some, RunScan(scan));
    EXPECT_EQ(some.table->ColumnNames(), columns);
    EXPECT_EQ(some.table->num_rows(), 5000);
    for (const auto& name : columns) {
      EXPECT_TRUE(
          some.table->GetColumnByName(name)->Equals(*all.table->GetColumnByName(name)));
    }
  }
  scan.limit = 3;
  ASSERT_OK_AND_ASSIGN(const auto first, RunScan(scan));
  EXPECT_EQ(first.table->num_rows(), 3);
}

TEST_F(JsonReader, ReadsOnlyTheFirstRows) {
  EXPECT_EQ(Read("{\"a\": 1}\n{\"a\": 2}\n{\"a\": 3}\n", {.nrows = 2})->num_rows(), 2);
}

TEST(JsonInference, WidensByParts) {
  const auto object = [](std::shared_ptr<arrow::DataType> type) {
    return arrow::struct_({arrow::field("x", arrow::list(std::move(type)))});
  };
  ASSERT_OK_AND_ASSIGN(const auto widened,
                       WidenJson(object(arrow::int64()), object(arrow::float64())));
  EXPECT_TRUE(widened->Equals(*object(arrow::float64())));
  EXPECT_FAILS(TypeError, "int64",
               WidenJson(object(arrow::int64()), object(arrow::boolean())));
}

}  // namespace
}  // namespace xshards::io
