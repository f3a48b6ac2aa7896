// SPDX-License-Identifier: Apache-2.0
#include "io/json/block_reader.h"

#include <string>

#include <arrow/table.h>

#include "io/json/structure.h"
#include "tests/io/scan_fixture.h"
#include "xshards/plan/inferred_types.h"

namespace xshards::io {
namespace {

class JsonRecordsTest : public IoTest {
 protected:
  // The types of a text in lines.
  static std::shared_ptr<arrow::Schema> SchemaOf(std::string lines) {
    const size_t size = lines.size();
    lines.append(static_cast<size_t>(kJsonPadding), '\0');
    JsonShape shape = JsonShape::OfRecords();
    JsonOnDemand on_demand(JsonLayout::kLines, arrow::default_memory_pool());
    JsonFault fault;
    for (const char* p = lines.data(); *p != '\0'; ++p) {
      p = on_demand.Observe(p, lines.data() + size, &shape, &fault);
      if (p == nullptr) return nullptr;
    }
    return arrow::schema(shape.ToFields());
  }
  static arrow::Result<std::shared_ptr<arrow::RecordBatch>> ReadBlock(
      const JsonRecordFormat& format, std::string text) {
    const auto size = static_cast<int64_t>(text.size());
    text.append(static_cast<size_t>(kJsonPadding), '\0');
    ARROW_ASSIGN_OR_RAISE(auto records,
                          JsonRecords::Make(format, arrow::default_memory_pool()));
    ARROW_RETURN_NOT_OK(
        records->Append({.text = text.data(), .size = size, .is_last = true}));
    return records->Finish();
  }
};

TEST_F(JsonRecordsTest, ReadsArraysInBlocksOfEverySize) {
  std::string text = "\xEF\xBB\xBF \n[\n ";
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    const std::string record =
        "{\"a\": " + std::to_string(i * 12345) +
        ", \"l\": [{\"x\": \"},{[\\\\\"}, {\"x\": null}], \"é\": \"ü" +
        std::string(static_cast<size_t>(i), 'y') + "\", \"f\": -1.5e" +
        std::to_string(i) + ", \"u\": \"\\ud83d\\ude00\", \"b\": false}";
    text += (i > 0 ? (i % 2 == 0 ? "," : " ,\n  ") : "") + record;
    lines += record + "\n";
  }
  text += "\n]\n ";
  const auto path = Write("array.json", text);
  JsonRecordFormat format{.path = path};
  format.wanted = format.known = SchemaOf(lines);
  ASSERT_NE(format.known, nullptr);
  ASSERT_OK_AND_ASSIGN(const auto expected, ReadBlock(format, lines));
  ASSERT_EQ(expected->num_rows(), 40);
  format.layout = JsonLayout::kArray;
  const Split split{.path = path, .begin = 0, .end = static_cast<int64_t>(text.size())};
  for (int64_t bytes = 1; bytes < 300; ++bytes) {
    ASSERT_OK_AND_ASSIGN(auto input, JsonInput::Open(split, JsonLayout::kArray, bytes,
                                                     arrow::default_memory_pool()));
    ASSERT_OK_AND_ASSIGN(auto records,
                         JsonRecords::Make(format, arrow::default_memory_pool()));
    for (bool is_last = false; !is_last;) {
      ASSERT_OK_AND_ASSIGN(const auto block, input.Next());
      ASSERT_OK_AND_ASSIGN(const int64_t used, records->Append(block));
      input.Consume(used);
      is_last = block.is_last;
    }
    ASSERT_OK_AND_ASSIGN(const auto batch, records->Finish());
    ASSERT_OK(batch->ValidateFull());
    EXPECT_TRUE(batch->Equals(*expected)) << bytes;
  }
}

TEST_F(JsonRecordsTest, ReadsAnEmptyTextBeforeAnyAllocation) {
  JsonRecordFormat format{.path = "lines.json"};
  format.on_bad_lines = BadLines::kSkip;
  format.wanted = format.known = SchemaOf("{\"a\": \"\"}\n");
  ASSERT_NE(format.known, nullptr);
  ASSERT_OK_AND_ASSIGN(auto records,
                       JsonRecords::Make(format, arrow::default_memory_pool()));
  for (const std::string line : {"{\"a\":\n", "{\"a\": \"\"}\n"}) {
    const std::string padded = line + std::string(kJsonPadding, '\0');
    ASSERT_OK(records->Append({.text = padded.data(),
                               .size = static_cast<int64_t>(line.size()),
                               .is_last = true}));
  }
  ASSERT_OK_AND_ASSIGN(const auto batch, records->Finish());
  ASSERT_OK(batch->ValidateFull());
  ASSERT_EQ(batch->num_rows(), 1);
  EXPECT_EQ(batch->column(0)->GetScalar(0).ValueOrDie()->ToString(), "");
}

TEST_F(JsonRecordsTest, AllTargetsAgree) {
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    const auto n = static_cast<size_t>(i);
    text += "{\"i\":" + std::to_string(i % 7 == 0 ? -i : i * 1000003LL) + ",\"s\":\"" +
            std::string(n % 70, static_cast<char>('a' + i % 26)) +
            (i % 5 == 0 ? "\\u00e9\\\"" : "é") +
            "\",\"a key that is longer than a vector of bytes\":" + std::to_string(i) +
            "." + std::to_string(i * 7919) + ",\"" + std::string(n % 200, 'k') +
            "\":null" + (i % 11 == 0 ? ",\"extra\":[true,null]" : "") + "}\n";
  }
  JsonRecordFormat format;
  format.known = SchemaOf(text);
  ASSERT_EQ(format.known->num_fields(), 204);
  std::shared_ptr<arrow::RecordBatch> whole;
  std::shared_ptr<arrow::RecordBatch> some;
  for (const auto target : {JsonTarget::kBaseline, JsonTarget::kAvx2}) {
    if (!IsSupported(target)) continue;
    format.target = target;
    format.wanted = format.known;
    ASSERT_OK_AND_ASSIGN(const auto batch, ReadBlock(format, text));
    ASSERT_OK(batch->ValidateFull());
    EXPECT_EQ(batch->num_rows(), 3000);
    if (whole == nullptr) whole = batch;
    EXPECT_TRUE(batch->Equals(*whole));
    format.wanted = arrow::schema({format.known->GetFieldByName("s")});
    ASSERT_OK_AND_ASSIGN(const auto texts, ReadBlock(format, text));
    if (some == nullptr) some = texts;
    EXPECT_TRUE(texts->Equals(*some));
    EXPECT_TRUE(texts->column(0)->Equals(*whole->GetColumnByName("s")));
  }
}

TEST_F(JsonRecordsTest, DistinguishesInferredFromRequestedTypes) {
  JsonRecordFormat format{.path = "test.json"};
  format.wanted = format.known = SchemaOf("{\"n\": 1, \"s\": {\"x\": 1}}\n");
  for (const char* line : {"{\"n\": 1.5}", "{\"new\": 1}", "{\"s\": {\"y\": 1}}",
                           "{\"s\": {\"x\": \"text\"}, \"n\": 1}"}) {
    SCOPED_TRACE(line);
    format.inferred = true;
    EXPECT_NE(TypeMismatchLocation::Of(ReadBlock(format, line).status()), nullptr);
    format.inferred = false;
    const auto known = ReadBlock(format, line).status();
    EXPECT_FAILS(Invalid, "did the file change", known);
    EXPECT_EQ(TypeMismatchLocation::Of(known), nullptr);
  }
  // Invalid JSON never triggers type inference.
  format.inferred = true;
  const auto fault = ReadBlock(format, "{\"n\": 1.5, }").status();
  EXPECT_FAILS(Invalid, "a key in quotes", fault);
  EXPECT_EQ(TypeMismatchLocation::Of(fault), nullptr);
}

}  // namespace
}  // namespace xshards::io
