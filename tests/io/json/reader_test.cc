// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <gmock/gmock.h>

#include "io/json/options.h"
#include "io/json/scan_options.h"
#include "io/json/structure.h"
#include "io/options/option_codec.h"
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

TEST_F(JsonReader, RowsDoNotDependOnSplits) {
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

TEST_F(JsonReader, ReadsRequestedTypes) {
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

TEST_F(JsonReader, NamesTheLineThatIsNotJson) {
  EXPECT_FAILS(Invalid, "line 2", Error("{\"a\": 1}\n{\"a\": }\n"));
  EXPECT_FAILS(Invalid, "test.json", Error("{\"a\": 1}\nnonsense\n"));
  EXPECT_FAILS(Invalid, "one JSON object", Error("[{\"a\": 1}]\n", {.lines = true}));
  EXPECT_FAILS(Invalid, "end of the line", Error("{\"a\": 1} {\"a\": 2}\n"));
}

TEST_F(JsonReader, EmptyFileHasNoRows) {
  const auto nothing = Read("");
  ASSERT_NE(nothing, nullptr);
  EXPECT_EQ(nothing->num_columns(), 0);
  const auto typed = Read("", {.dtype = {{"a", "int64"}}});
  ASSERT_NE(typed, nullptr);
  EXPECT_EQ(Text(*typed, "a"), "[]");
  EXPECT_EQ(TypeName(*typed, "a"), "int64");
}

TEST_F(JsonReader, ScansOnlyRequestedColumns) {
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
TEST_F(JsonReader, RejectsInvalidJson) {
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
      // The line is after the samples, so that the record loop reads it.
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
        const auto asked = scan.options;
        for (const BadLines way : {BadLines::kSkip, BadLines::kWarn}) {
          JsonScanOptions lenient{.json = options};
          lenient.json.on_bad_lines = way;
          scan.options = MakeOptions(lenient);
          ASSERT_OK_AND_ASSIGN(const auto rest, RunScan(scan));
          EXPECT_EQ(rest.table->num_rows(), 18001) << line;
          const bool is_told = way == BadLines::kWarn;
          EXPECT_EQ(rest.metrics.bad_lines, is_told ? 1 : 0) << line;
          EXPECT_EQ(rest.metrics.first_bad_line.find("line 18001") != std::string::npos,
                    is_told)
              << rest.metrics.first_bad_line;
        }
        scan.options = asked;
      }
    }
  }
}

TEST_F(JsonReader, UsesTheLastValueOfARepeatedKey) {
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

TEST_F(JsonReader, AcceptsVaryingBlanks) {
  const std::string start =
      R"({"i":1,"f":1.5,"b":true,"s":"x","n":null,"l":[1,2],"o":{"p":false},"m":)";
  std::vector<std::string> lines = {start + "1}", start + "\"t\"}"};
  for (const char* blank : {"", " ", "\t", "  \r "}) {
    std::string spaced;
    for (const char c : lines[0]) {
      const bool is_mark = std::string_view("{}[]:,").find(c) != std::string_view::npos;
      spaced += is_mark ? blank + std::string(1, c) + blank : std::string(1, c);
    }
    lines.push_back(spaced);
  }
  // Every line after every other.
  std::string text;
  for (const auto& first : lines) {
    for (const auto& second : lines) {
      text.append(first).append("\n").append(second).append("\n");
    }
  }
  const auto table = Read(text);
  ASSERT_NE(table, nullptr);
  ASSERT_OK(table->ValidateFull());
  for (const char* column : {"i", "f", "b", "s", "n", "l", "o"}) {
    const auto values = table->GetColumnByName(column);
    for (int64_t row = 0; row < table->num_rows(); ++row) {
      EXPECT_EQ(values->GetScalar(row).ValueOrDie()->ToString(),
                values->GetScalar(0).ValueOrDie()->ToString())
          << column << " in row " << row;
    }
  }
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

TEST_F(JsonReader, ReadsArraysForAnySplits) {
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
}

TEST_F(JsonReader, NamesFilesThatAreNotArrays) {
  for (const char* text :
       {"[", "[{\"a\": 1}", "[{\"a\": 1},", "[{\"a\": 1},]", "[{\"a\": 1}] x", "[1]",
        "[{\"a\": 1} {\"a\": 2}]", "[{\"a\": 1}]]", "[{\"a\": \"x]"}) {
    EXPECT_FAILS(Invalid, "test.json", Error(text));
  }
  EXPECT_EQ(Read("[]")->num_rows(), 0);
  EXPECT_EQ(Read(" [ ] ")->num_columns(), 0);
  EXPECT_EQ(Read("[{}]")->num_rows(), 1);
}

TEST_F(JsonReader, ChecksArraysAtSplits) {
  // A cut is before every record, even if the comma is missing.
  for (const char* text : {R"([{"a": 1} {"a": 2}])", R"([{"a": 1},, {"a": 2}])",
                           R"([{"a": 1}, 3, {"a": 2}])", R"([{"a": 1}, {"a": 2})",
                           R"([{"a": 1}], {"a": 2}])"}) {
    SCOPED_TRACE(text);
    EXPECT_FAILS(Invalid, "test.json", Error(text, {.split = {.block_size = 1}}));
  }
}

// Records of one value until the samples end, and then others.
std::string Behind(const std::string& sampled, const std::vector<std::string>& records) {
  std::string text;
  for (int i = 0; text.size() < (300 << 10); ++i) {
    text += "{\"id\": " + std::to_string(i) + ", \"n\": " + sampled + "}\n";
  }
  for (const auto& record : records) text += record + "\n";
  return text;
}

TEST_F(JsonReader, WidensTypesForValuesAfterTheSamples) {
  struct Case {
    std::string sampled;
    std::vector<std::string> values;
    std::string type;  // "json": text that is marked so
    std::string last;
  };
  const std::string max_uint64 = "18446744073709551615";
  const std::string huge = "123456789012345678901";
  const std::string beyond_double = "9007199254740993";
  for (const auto& [sampled, values, type, last] : std::vector<Case>{
           {"5", {"-7"}, "int64", "-7"},
           {"5", {"null"}, "int64", "null"},
           {"5", {max_uint64}, "uint64", max_uint64},
           {"5", {max_uint64, "-1"}, "json", "-1"},
           {"5", {max_uint64, "-1", "0.5"}, "json", "0.5"},
           {"0.5", {max_uint64, "-1"}, "json", "-1"},
           {"0.5", {max_uint64, "1"}, "double", "1"},
           {"0.5", {beyond_double}, "double", "9.007199254740992e+15"},
           {"5", {"1.5"}, "double", "1.5"},
           {"5", {huge}, "json", huge},
           {"1.5", {huge}, "json", huge},
           {"5", {"true"}, "json", "true"},
           {"true", {"null"}, "bool", "null"},
           {"true", {"1"}, "json", "1"},
           {"null", {"7", beyond_double}, "int64", beyond_double},
           {"null", {"false"}, "bool", "false"},
           {"null", {"\"x\""}, "large_string", "x"},
           {"\"x\"", {"[1]"}, "json", "[1]"},
           {"[]", {"[1]", "[2.5]"}, "list<item: double>", "list<item: double>[2.5]"},
           {"[1]", {"{\"a\": 1}"}, "json", "{\"a\": 1}"},
           {"{\"a\": 1}",
            {"{\"b\": 2}"},
            "struct<a: int64, b: int64>",
            "{a:int64 = null, b:int64 = 2}"},
       }) {
    std::vector<std::string> records;
    for (const auto& value : values)
      records.push_back("{\"id\": 0, \"n\": " + value + "}");
    const auto text = Behind(sampled, records);
    for (const int num_partitions : {1, 2, 7}) {
      const auto table = Read(text, {.split = {.num_partitions = num_partitions}});
      ASSERT_NE(table, nullptr);
      ASSERT_OK(table->ValidateFull());
      const bool is_json = IsJsonText(*table->schema()->GetFieldByName("n"));
      EXPECT_EQ(is_json ? "json" : TypeName(*table, "n"), type)
          << sampled << " " << values[0];
      EXPECT_EQ(TypeName(*table, "id"), "int64");
      const auto column = table->GetColumnByName("n");
      EXPECT_EQ(column->GetScalar(column->length() - 1).ValueOrDie()->ToString(), last);
      EXPECT_EQ(column->GetScalar(0).ValueOrDie()->is_valid, sampled != "null");
    }
  }
}

TEST_F(JsonReader, AddsKeysFoundAfterTheSamples) {
  const auto text = Behind("1", {R"({"late": 2, "n": 1})"});
  const auto table = Read(text, {.split = {.num_partitions = 1}});
  ASSERT_NE(table, nullptr);
  EXPECT_THAT(table->ColumnNames(), ElementsAre("id", "n", "late"));
  const auto late = table->GetColumnByName("late");
  EXPECT_EQ(late->null_count(), table->num_rows() - 1);
  EXPECT_EQ(late->GetScalar(table->num_rows() - 1).ValueOrDie()->ToString(), "2");
}

TEST_F(JsonReader, InfersTypesOnceForAllPlans) {
  ASSERT_OK_AND_ASSIGN(
      const auto shards,
      ReadJson(context_, Write("test.json", Behind("5", {R"({"n": "x"})"}))));
  ASSERT_OK_AND_ASSIGN(const auto inferred, shards.schema());
  EXPECT_EQ(inferred->GetFieldByName("n")->type()->ToString(), "int64");
  // A column that is not read is not checked, nor is any when rows are counted.
  ASSERT_OK(shards.Select({"id"}).ToTable());
  ASSERT_OK(shards.Count());
  ASSERT_OK_AND_ASSIGN(const auto still, shards.schema());
  EXPECT_TRUE(still->Equals(*inferred));
  ASSERT_OK(shards.Select({"n"}).ToTable());
  ASSERT_OK_AND_ASSIGN(const auto found, shards.schema());
  EXPECT_TRUE(IsJsonText(*found->GetFieldByName("n")));
}

TEST_F(JsonReader, NamesTheValueThatDoesNotFitARequestedType) {
  const auto text = Behind("1", {R"({"n": 1.5})"});
  const auto error = Error(text, {.dtype = {{"n", "int64"}}});
  const auto lines = std::count(text.begin(), text.end(), '\n');
  const std::string place = "line " + std::to_string(lines);
  for (const char* part : {"test.json", place.c_str(), "'n'", "int64", "1.5", "dtype"}) {
    EXPECT_FAILS(Invalid, part, error);
  }
  // The other column may still widen.
  const auto table =
      Read(Behind("1", {R"({"n": 2, "id": "x"})"}), {.dtype = {{"n", "int64"}}});
  ASSERT_NE(table, nullptr);
  EXPECT_TRUE(IsJsonText(*table->schema()->GetFieldByName("id")));
}

TEST_F(JsonReader, ReadsObjectsOfManyKeysAsJson) {
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text += "{\"o\": {\"key" + std::to_string(i) + "\": 1}}\n";
  }
  const auto table = Read(text);
  ASSERT_NE(table, nullptr);
  EXPECT_TRUE(IsJsonText(*table->schema()->field(0)));
  EXPECT_EQ(table->column(0)->GetScalar(7).ValueOrDie()->ToString(), "{\"key7\": 1}");
}

TEST_F(JsonReader, IgnoresFaultsAfterTheRequestedRows) {
  const std::string rows = "{\"a\": 1}\n{\"a\": 2}\n";
  for (const char* const wrong : {"{\"a\": \n", "{\"a\": \"\xff\"}\n", "[1]\n"}) {
    const std::string text = rows + wrong + "{\"a\": 3}\n";
    for (const int nrows : {0, 1, 2}) {
      const auto table = Read(text, {.nrows = nrows, .split = {.block_size = 9}});
      ASSERT_NE(table, nullptr) << wrong;
      EXPECT_EQ(table->num_rows(), nrows) << wrong;
    }
    EXPECT_FAILS(Invalid, "line 3", Error(text, {.nrows = 3}));
  }
  const auto array = Read("[{\"a\": 1}, {\"a\": 2}, {\"a\": x}]", {.nrows = 2});
  ASSERT_NE(array, nullptr);
  EXPECT_EQ(array->num_rows(), 2);
}

TEST_F(JsonReader, ReadsOnlyTheRequestedRows) {
  const auto table = Read("{\"a\": 1}\n{\"a\": 2}\n{\"a\": \"x\", \"b\": 1}\n",
                          {.nrows = 2, .split = {.block_size = 1}});
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(TypeName(*table, "a"), "int64");
  EXPECT_EQ(table->num_columns(), 1);
}

}  // namespace
}  // namespace xshards::io
