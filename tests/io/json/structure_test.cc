// SPDX-License-Identifier: Apache-2.0
#include "io/json/structure.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/json/on_demand.h"
#include "tests/support/status_assertions.h"

namespace xshards::io {
namespace {

JsonShape ShapeOf(const std::vector<std::string>& records) {
  JsonShape shape = JsonShape::OfRecords();
  JsonOnDemand on_demand(JsonLayout::kLines, arrow::default_memory_pool());
  for (std::string text : records) {
    const size_t size = text.size();
    text.append(static_cast<size_t>(kJsonPadding), '\0');
    JsonFault fault;
    EXPECT_NE(on_demand.Observe(text.data(), text.data() + size, &shape, &fault), nullptr)
        << text;
  }
  return shape;
}

std::string FieldsOf(const JsonShape& shape) {
  return arrow::schema(shape.ToFields())->ToString(/*show_metadata=*/true);
}

const std::vector<std::string> kRecords = {
    R"({"a": 1, "l": [{"x": [null]}, {"y": "t"}], "é\n 3 ": {"": {}}, "": null})",
    R"({"a": -2.5, "l": [], "m": [1, "x"], "u": 18446744073709551615})",
    R"({"u": 0, "b": true, "é\n 3 ": {"": {"z": 99999999999999999999}}})"};

TEST(JsonShape, RoundTripsThroughBytes) {
  const auto shape = ShapeOf(kRecords);
  ASSERT_OK_AND_ASSIGN(const auto decoded, JsonShape::Decode(shape.Encode()));
  EXPECT_EQ(FieldsOf(decoded), FieldsOf(shape));
  EXPECT_EQ(decoded.Encode(), shape.Encode());
  const std::string whole = shape.Encode();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FAILS(Invalid, "shape", JsonShape::Decode(whole.substr(0, size)).status());
  }
  EXPECT_FAILS(Invalid, "shape", JsonShape::Decode(whole + "0 0 ").status());
}

TEST(JsonShape, MergeEqualsTheShapeOfAllValues) {
  const auto all = ShapeOf(kRecords);
  auto merged = JsonShape::OfRecords();
  for (const auto& record : kRecords) merged.Merge(ShapeOf({record}));
  EXPECT_EQ(merged.Encode(), all.Encode());
}

// Two columns of too many keys are merged into one such column.
TEST(JsonShape, MergesObjectsOfManyKeys) {
  std::vector<std::string> records;
  for (size_t i = 0; i <= JsonShape::kMaxMembers; ++i) {
    records.push_back("{\"o\": {\"k" + std::to_string(i) + "\": 1}}");
  }
  const auto all = ShapeOf(records);
  EXPECT_TRUE(IsJsonText(*all.ToFields()[0]));
  auto merged = ShapeOf({records[0]});
  EXPECT_FALSE(IsJsonText(*merged.ToFields()[0]));
  merged.Merge(all);
  EXPECT_TRUE(IsJsonText(*merged.ToFields()[0]));
  ASSERT_OK_AND_ASSIGN(const auto decoded, JsonShape::Decode(merged.Encode()));
  EXPECT_EQ(FieldsOf(decoded), FieldsOf(merged));
}

// The type does not depend on the order of values, and never gets narrower.
TEST(JsonShape, OnlyWidens) {
  const std::vector<std::string> values = {"null",
                                           "true",
                                           "1",
                                           "-1",
                                           "18446744073709551615",
                                           "18446744073709551616",
                                           "1.5",
                                           "\"x\"",
                                           "[1]",
                                           "[\"x\"]",
                                           "{\"a\": 1}"};
  for (const auto& first : values) {
    for (const auto& second : values) {
      for (const auto& third : values) {
        const auto two = ShapeOf({"{\"v\": " + first + "}", "{\"v\": " + second + "}"});
        const auto swapped =
            ShapeOf({"{\"v\": " + second + "}", "{\"v\": " + first + "}"});
        EXPECT_EQ(FieldsOf(two), FieldsOf(swapped));
        auto three = ShapeOf({"{\"v\": " + third + "}"});
        three.Merge(two);
        if (IsJsonText(*two.ToFields()[0])) {
          EXPECT_TRUE(IsJsonText(*three.ToFields()[0])) << first << second << third;
        }
      }
    }
  }
}

}  // namespace
}  // namespace xshards::io
