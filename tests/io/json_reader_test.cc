// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "io/json_block.h"
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
  const auto mixed = Rows(ReadJson(context_, std::vector<std::string>{one, three}));
  EXPECT_EQ(Text(*mixed, "a"), "[1,2,\"text\"]");
  EXPECT_TRUE(IsJsonText(*mixed->schema()->field(0)));
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
  EXPECT_FAILS(Invalid, "one JSON object", Error("[{\"a\": 1}]\n", {.lines = true}));
  EXPECT_FAILS(Invalid, "end of the line", Error("{\"a\": 1} {\"a\": 2}\n"));
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

// Every line is refused, whether its values are wanted or skipped.
TEST_F(JsonReader, RefusesWhatIsNotJson) {
  const std::string deep(2000, '[');
  const std::vector<std::string> wrong = {
      R"({"a": 1)",
      R"({"a": 1,})",
      R"({"a" 1})",
      R"({a: 1})",
      R"({"a": 01})",
      R"({"a": -})",
      R"({"a": 1.})",
      R"({"a": .5})",
      R"({"a": 1e})",
      R"({"a": tru})",
      R"({"a": nul})",
      R"({"a": "x})",
      R"({"a": "\x"})",
      R"({"a": "\u12"})",
      R"({"a": [1,]})",
      R"({"a": [1 2]})",
      R"({"a": {"b"}})",
      R"({"a": "\ud800"})",
      R"({"a": 1}})",
      R"({"a": +1})",
      R"({"a": 'x'})",
      "{\"a\": \"\x01\"}",
      R"({,"a": 1})",
      R"([{"a": 1}])",
      R"({"a": "\ud800\u0041"})",
      "{\"a\": \"\xff\"}",
      R"({"a": 1 "b": 2})",
      R"({"a": )" + deep + "1" + std::string(2000, ']') + "}",
      R"({"a": 1-2})"};
  for (const auto& line : wrong) {
    for (const char* value : {"1", "\"x\"", "[\"x\", 1]"}) {
      // The line is behind the samples, so that the record loop meets it.
      std::string text;
      for (int i = 0; i < 18000; ++i) {
        text += std::string("{\"b\": 1, \"a\": ") + value + "}\n";
      }
      const auto path = Write("wrong.json", text + line + "\n{}\n");
      const JsonOptions options{.lines = true, .split = {.num_partitions = 1}};
      ASSERT_OK_AND_ASSIGN(auto shards, ReadJson(context_, path, options));
      auto scan = ScanOf(shards);
      for (const bool is_skipped : {false, true}) {
        if (is_skipped) scan.columns = std::vector<std::string>{"b"};
        EXPECT_FAILS(Invalid, "line 18001", RunScan(scan).status());
        scan.options["on_bad_lines"] = "skip";
        ASSERT_OK_AND_ASSIGN(const auto rest, RunScan(scan));
        EXPECT_EQ(rest.table->num_rows(), 18001) << line;
        scan.options.erase("on_bad_lines");
      }
    }
  }
}

TEST_F(JsonReader, TakesTheLastOfSeveralValuesOfAKey) {
  const auto table =
      Read(R"({"a": 1, "s": "x", "l": [1, 2], "o": {"p": 1, "p": 2}, "b": true}
{"a": 1, "a": 2, "s": "one", "s": null, "s": "two", "l": [1], "l": [3, 4], "o": {"p": 3}, "o": null, "b": true, "b": false}
{"b": true, "o": {"p": 7, "p": null}, "l": null, "s": "", "a": null, "a": 3}
)");
  ASSERT_NE(table, nullptr);
  ASSERT_OK(table->ValidateFull());
  EXPECT_EQ(Text(*table, "a"), "[1,2,3]");
  EXPECT_EQ(Text(*table, "s"), "[x,two,]");
  EXPECT_EQ(Text(*table, "b"), "[true,false,true]");
  EXPECT_EQ(table->GetColumnByName("l")->chunk(0)->ToString(),
            "[\n  [\n    1,\n    2\n  ],\n  [\n    3,\n    4\n  ],\n  null\n]");
  EXPECT_EQ(table->GetColumnByName("o")->null_count(), 1);
}

TEST_F(JsonReader, ReadsNumbersExactly) {
  const auto table = Read(
      R"({"i": 9223372036854775807, "u": 18446744073709551615, "h": 18446744073709551616, "f": 0.1, "n": 1, "w": -1}
{"i": -9223372036854775808, "u": 1, "h": 1, "f": 1e-7, "n": NaN, "w": 18446744073709551615}
{"i": 0, "u": 0, "h": -3, "f": 123456789012345678901234567890, "n": -Infinity, "w": 2}
{"i": 7, "u": 7, "h": 2, "f": -2.2250738585072014e-308, "n": 1E+3, "w": 2}
{"i": 7, "u": 7, "h": 2, "f": 1e400, "n": 4.35, "w": 2}
)");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(Text(*table, "i"), "[9223372036854775807,-9223372036854775808,0,7,7]");
  EXPECT_EQ(Text(*table, "u"), "[18446744073709551615,1,0,7,7]");
  EXPECT_EQ(TypeName(*table, "u"), "uint64");
  EXPECT_EQ(Text(*table, "h"), "[18446744073709551616,1,-3,2,2]");
  EXPECT_TRUE(IsJsonText(*table->schema()->GetFieldByName("h")));
  EXPECT_TRUE(IsJsonText(*table->schema()->GetFieldByName("w")));
  EXPECT_EQ(TypeName(*table, "n"), "double");
  EXPECT_TRUE(IsJsonText(*table->schema()->GetFieldByName("f")));  // has a huge integer
}

TEST_F(JsonReader, UnescapesTextAndKeys) {
  const auto table = Read(
      R"({"a\u0062": "\u00e9\ud83d\ude00\/\"\\\b\f\n\r\t", "long": "0123456789012345678901234567890123456789\n01234567890123456789"}
{"ab": "x", "\u006cong": "y"}
)");
  ASSERT_NE(table, nullptr);
  EXPECT_THAT(table->ColumnNames(), ElementsAre("ab", "long"));
  EXPECT_EQ(Text(*table, "ab"), "[é😀/\"\\\b\f\n\r\t,x]");
  EXPECT_EQ(Text(*table, "long"),
            "[0123456789012345678901234567890123456789\n01234567890123456789,y]");
}

TEST_F(JsonReader, KeepsMixedValuesAsJson) {
  const auto table = Read(R"({"m": 1, "o": {"x": 1}}
{"m": [1, {"a": "b"}], "o": {"x": "y"}}
{"m": null, "o": {}}
{"o": null, "m" : "text\n"}
)");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(Text(*table, "m"), "[1,[1, {\"a\": \"b\"}],null,\"text\\n\"]");
  EXPECT_EQ(Text(*table, "o"), "[{\"x\": 1},{\"x\": \"y\"},{},null]");
  for (const auto& field : table->schema()->fields()) EXPECT_TRUE(IsJsonText(*field));
}

TEST_F(JsonReader, ReadsArraysWhereverTheyAreCut) {
  std::string text = "\xEF\xBB\xBF \n[\n ";
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    const std::string record =
        "{\"a\": " + std::to_string(i * 12345) +
        ", \"l\": [{\"x\": \"},{[\\\\\"}, {\"x\": null}], \"é\": \"ü" +
        std::string(static_cast<size_t>(i), 'y') + "\", \"b\": false}";
    text += (i > 0 ? (i % 2 == 0 ? "," : " ,\n  ") : "") + record;
    lines += record + "\n";
  }
  text += "\n]\n ";
  const auto path = Write("array.json", text);
  const auto whole = Rows(ReadJson(context_, Write("lines.json", lines)));
  ASSERT_EQ(whole->num_rows(), 40);
  for (int64_t bytes = 1; bytes < 2000; bytes += 37) {
    ASSERT_OK_AND_ASSIGN(auto shards,
                         ReadJson(context_, path, {.split = {.block_size = bytes}}));
    const auto cut = Rows(shards);
    ASSERT_NE(cut, nullptr);
    EXPECT_TRUE(cut->Equals(*whole)) << bytes;
    if (bytes == 1) {
      EXPECT_EQ(ScanOf(shards).splits.size(), 40);
    }
  }
  // One split in blocks of every size.
  for (int64_t bytes = 1; bytes < 300; ++bytes) {
    Split split{.path = path, .begin = 0, .end = static_cast<int64_t>(text.size())};
    ASSERT_OK_AND_ASSIGN(auto input, JsonInput::Open(split, JsonLayout::kArray, bytes,
                                                     arrow::default_memory_pool()));
    JsonRecordFormat format{.layout = JsonLayout::kArray,
                            .path = path,
                            .wanted = whole->schema(),
                            .known = whole->schema()};
    ASSERT_OK_AND_ASSIGN(auto records,
                         JsonRecords::Make(format, arrow::default_memory_pool()));
    for (bool is_last = false; !is_last;) {
      ASSERT_OK_AND_ASSIGN(const auto block, input->Next());
      ASSERT_OK_AND_ASSIGN(const int64_t used, records->Append(block));
      input->Consume(used);
      is_last = block.is_last;
    }
    ASSERT_OK_AND_ASSIGN(const auto batch, records->Finish());
    ASSERT_OK_AND_ASSIGN(const auto table, arrow::Table::FromRecordBatches({batch}));
    EXPECT_TRUE(table->Equals(*whole)) << bytes;
  }
}

TEST_F(JsonReader, TellsWhatIsNoArray) {
  for (const char* text :
       {"[", "[{\"a\": 1}", "[{\"a\": 1},", "[{\"a\": 1},]", "[{\"a\": 1}] x", "[1]",
        "[{\"a\": 1} {\"a\": 2}]", "[{\"a\": 1}]]", "[{\"a\": \"x]"}) {
    EXPECT_FAILS(Invalid, "test.json", Error(text));
  }
  EXPECT_EQ(Read("[]")->num_rows(), 0);
  EXPECT_EQ(Read(" [ ] ")->num_columns(), 0);
  EXPECT_EQ(Read("[{}]")->num_rows(), 1);
}

TEST_F(JsonReader, AllTargetsAgree) {
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    const auto n = static_cast<size_t>(i);
    text += "{\"i\":" + std::to_string(i % 7 == 0 ? -i : i * 1000003LL) + ",\"s\":\"" +
            std::string(n % 70, static_cast<char>('a' + i % 26)) +
            (i % 5 == 0 ? "\\u00e9\\\"" : "é") +
            "\",\"a key that is longer than a vector of bytes\":" + std::to_string(i) +
            "." + std::to_string(i * 7919) +
            (i % 11 == 0 ? ",\"extra\":[true,null]" : "") + "}\n";
  }
  text.append(static_cast<size_t>(kJsonPadding), '\0');
  const auto size = static_cast<int64_t>(text.size()) - kJsonPadding;
  JsonShape shape;
  JsonRecordFormat format;
  const JsonInput::Block block{.text = text.data(), .size = size, .is_last = true};
  ASSERT_OK(ObserveJson(block, format, &shape, arrow::default_memory_pool()));
  format.wanted = format.known = arrow::schema(shape.ToFields());
  EXPECT_EQ(format.known->num_fields(), 4);
  std::shared_ptr<arrow::RecordBatch> expected;
  for (const auto target : {JsonTarget::kBaseline, JsonTarget::kAvx2}) {
    if (!IsSupported(target)) continue;
    format.target = target;
    ASSERT_OK_AND_ASSIGN(auto records,
                         JsonRecords::Make(format, arrow::default_memory_pool()));
    ASSERT_OK(records->Append(block).status());
    ASSERT_OK_AND_ASSIGN(const auto batch, records->Finish());
    ASSERT_OK(batch->ValidateFull());
    EXPECT_EQ(batch->num_rows(), 3000);
    if (expected == nullptr) expected = batch;
    EXPECT_TRUE(batch->Equals(*expected));
  }
}

}  // namespace
}  // namespace xshards::io
