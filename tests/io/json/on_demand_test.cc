// SPDX-License-Identifier: Apache-2.0
#include "io/json/on_demand.h"

#include <optional>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/json/structure.h"

namespace xshards::io {
namespace {

using ::testing::HasSubstr;

// The length of the record at the start of a text; the expectation if it is invalid.
struct Checked {
  std::optional<int64_t> length;
  std::string expected;
  int64_t at = 0;
};

Checked Check(const std::string& text, JsonLayout layout = JsonLayout::kLines) {
  const std::string padded = text + std::string(kJsonPadding, '\0');
  JsonOnDemand on_demand(layout, arrow::default_memory_pool());
  const char* const begin = padded.data();
  const char* const end = begin + text.size();
  JsonFault fault;
  const char* const after = on_demand.Check(begin, end, &fault);
  JsonShape shape = JsonShape::OfRecords();
  JsonFault same;
  EXPECT_EQ(on_demand.Observe(begin, end, &shape, &same), after) << text;
  if (after != nullptr) return {.length = after - begin};
  EXPECT_STREQ(fault.expected, same.expected) << text;
  return {.expected = fault.expected, .at = fault.at - begin};
}

TEST(JsonOnDemand, ChecksOneRecord) {
  for (const char* text :
       {"{}", "{ }", R"({"a": [1, -2.5e3, "x\n\u00e9\ud83d\ude00", true, null, [], {}]})",
        R"({"n": [NaN, Infinity, -Infinity, 1e400, 123456789012345678901234567890]})",
        R"({"a": {"b": {"c": "}"}}, "a": 1})", "{\"a\"\t:\r1 }"}) {
    EXPECT_EQ(Check(text).length, std::string(text).size()) << text;
    EXPECT_EQ(Check(text, JsonLayout::kArray).length, std::string(text).size()) << text;
  }
  EXPECT_EQ(Check("{\"a\": 1} \r\n{\"a\": }").length, 10);
  EXPECT_EQ(Check("{\"a\":\n1} , x", JsonLayout::kArray).length, 8);
}

TEST(JsonOnDemand, NamesTheExpectedToken) {
  struct Case {
    std::string text;
    std::string expected;
    int64_t at;
  };
  for (const auto& [text, expected, at] : std::vector<Case>{
           {"", "one JSON object", 0},
           {"[1]", "one JSON object", 0},
           {R"({"a": 1, })", "a key in quotes", 9},
           {R"({,"a": 1})", "a key in quotes", 1},
           {R"({"a" 1})", "':'", 1},
           {R"({"a": 1 "b": 2})", "',' or '}'", 8},
           {R"({"a": })", "a value", 6},
           {R"({"a": tru})", "a value", 6},
           {R"({"a": [1 2]})", "',' or ']'", 9},
           {R"({"a": [1,]})", "a value", 9},
           {R"({"a": 01})", "leading zeros", 6},
           {R"({"a": 1x})", "the end of a number", 7},
           {R"({"a": NaNs})", "the end of a number", 9},
           {R"({"a": "\x"})", "escapes", 6},
           {R"({"a": "\ud800"})", "surrogates", 6},
           {R"({"\x": 1})", "escapes", 1},
           {R"({"a": "x})", "a closing quote", 0},
           {"{\"a\": \"\x01\"}", "a closing quote", 0},
           {"{\"a\": \"\xff\"}", "UTF-8", 0},
           {R"({"a": 1} {"a": 2})", "the end of the line", 9},
           {R"({"a": 1}})", "the end of the line", 8},
           {R"({"a": {"b": 1})", "',' or '}'", 14},
           // Skipped as a key, the string would move the members into another object.
           {R"({"o": {"a": "b": 1}, "c": 2}})", "',' or '}'", 15},
       }) {
    const auto checked = Check(text);
    EXPECT_EQ(checked.length, std::nullopt) << text;
    EXPECT_THAT(checked.expected, HasSubstr(expected)) << text;
    EXPECT_EQ(checked.at, at) << text;
  }
}

TEST(JsonOnDemand, FindsRecordsOfTruncatedArrays) {
  const std::string record = R"({"a": "]}\"", "b": [{"c": 1}]})";
  for (size_t size = 1; size < record.size(); ++size) {
    const auto checked = Check(record.substr(0, size), JsonLayout::kArray);
    EXPECT_EQ(checked.length, std::nullopt) << size;
    EXPECT_EQ(checked.at, size);
  }
  EXPECT_EQ(Check(record, JsonLayout::kArray).length, record.size());
}

TEST(JsonOnDemand, LimitsTheDepth) {
  const auto nested = [](size_t depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(Check(nested(kJsonDepth - 1)).length.has_value());
  EXPECT_THAT(Check(nested(kJsonDepth)).expected, HasSubstr("1024 deep"));
}

TEST(JsonOnDemand, Unescapes) {
  JsonOnDemand on_demand(JsonLayout::kLines, arrow::default_memory_pool());
  const std::string text =
      R"(\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00 and more text than a vector holds")" +
      std::string(kJsonPadding, '\0');
  std::string out(text.size() + kJsonPadding, '\0');
  const char* const end = on_demand.Unescape(text.data(), out.data());
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(out.substr(0, static_cast<size_t>(end - out.data())),
            "\"\\/\b\f\n\r\tAé😀 and more text than a vector holds");
  for (const std::string wrong : {R"(\x")", R"(\u12g4")", R"(\ud800")", R"(\udc00")"}) {
    const std::string padded = wrong + std::string(kJsonPadding, '\0');
    EXPECT_FALSE(on_demand.CheckEscapes(padded.data(), padded.data() + wrong.size() - 1))
        << wrong;
  }
}

TEST(JsonOnDemand, CountsItsMemoryInThePool) {
  arrow::ProxyMemoryPool pool(arrow::default_memory_pool());
  {
    JsonOnDemand on_demand(JsonLayout::kLines, &pool);
    EXPECT_EQ(pool.bytes_allocated(), 0);
    const std::string text = "{\"a\": \"" + std::string(1 << 20, 'x') + "\"}";
    const std::string padded = text + std::string(kJsonPadding, '\0');
    JsonFault fault;
    EXPECT_NE(on_demand.Check(padded.data(), padded.data() + text.size(), &fault),
              nullptr);
    EXPECT_GT(pool.bytes_allocated(), 5 << 20);
  }
  EXPECT_EQ(pool.bytes_allocated(), 0);
}

TEST(IsUtf8, DistinguishesTextFromBytes) {
  for (const std::string text : {"", "plain", "é😀", "\xED\x9F\xBF"}) {
    EXPECT_TRUE(IsUtf8(text.data(), text.data() + text.size())) << text;
  }
  for (const std::string bytes : {"\xff", "\xC3", "\xED\xA0\x80", "\xC0\x80", "\x80"}) {
    EXPECT_FALSE(IsUtf8(bytes.data(), bytes.data() + bytes.size()));
  }
}

}  // namespace
}  // namespace xshards::io
