// SPDX-License-Identifier: Apache-2.0
// Any text, read as a JSON document of every orient: columns are valid Arrow arrays,
// blanks around the text change nothing, and the rows of an array of objects are the
// records that the reader of records takes.
#include <optional>
#include <string>
#include <string_view>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>

#include "io/json/document_reader.h"
#include "io/json/on_demand.h"
#include "tests/fuzz/fuzz_input.h"

namespace xshards::io::fuzz {
namespace {

using Read = arrow::Result<std::optional<JsonDocument>>;

Read Parse(const std::string& text, JsonOrient orient) {
  const std::string padded = text + std::string(kJsonPadding, '\0');
  return ParseJsonDocument({padded.data(), text.size()}, "fuzz", orient,
                           arrow::default_memory_pool());
}

void CheckBatch(const std::shared_ptr<arrow::RecordBatch>& batch) {
  Require(batch == nullptr || batch->ValidateFull().ok(), "valid columns");
}

bool AreEqual(const std::shared_ptr<arrow::RecordBatch>& one,
              const std::shared_ptr<arrow::RecordBatch>& other) {
  if (one == nullptr || other == nullptr) return one == other;
  return one->Equals(*other, /*check_metadata=*/true);
}

void RequireSame(const Read& one, const Read& other) {
  Require(one.ok() == other.ok(), "the same outcome");
  if (!one.ok()) return;
  Require(one->has_value() == other->has_value(), "the same kind of layout");
  if (!one->has_value()) return;
  Require(AreEqual((*one)->rows, (*other)->rows), "the same rows");
  Require(AreEqual((*one)->index, (*other)->index), "the same labels of rows");
  Require((*one)->header == (*other)->header, "the same header");
}

// The number of objects in an array; -1 if something else is among them.
int64_t CountRecords(const std::string& text) {
  const std::string padded = text + std::string(kJsonPadding, '\0');
  const char* const end = padded.data() + text.size();
  JsonOnDemand on_demand(JsonLayout::kArray, arrow::default_memory_pool());
  JsonFault fault;
  const char* p = SkipJsonBlanks(padded.data(), true) + 1;
  for (int64_t count = 1;; ++count) {
    p = on_demand.Check(SkipJsonBlanks(p, true), end, &fault);
    if (p == nullptr) return -1;
    p = SkipJsonBlanks(p, true);
    if (*p != ',') return *p == ']' ? count : -1;
    ++p;
  }
}

void Check(const std::string& text, JsonOrient orient) {
  const Read read = Parse(text, orient);
  RequireSame(Parse("\n " + text + "\r\n\t", orient), read);
  if (orient == JsonOrient::kValues) {
    RequireSame(Parse(text, JsonOrient::kColumns), read);
  }
  if (!read.ok() || !read->has_value()) return;
  const JsonDocument& document = **read;
  CheckBatch(document.rows);
  CheckBatch(document.index);
  Require(document.rows->num_rows() > 0, "rows");
  const bool is_array = text[text.find_first_not_of(" \t\r\n")] == '[';
  if (is_array && document.has_keys) {
    Require(CountRecords(text) == document.rows->num_rows(), "the rows of records");
  }
}

}  // namespace
}  // namespace xshards::io::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using xshards::io::JsonOrient;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto orient : {JsonOrient::kIndex, JsonOrient::kSplit, JsonOrient::kTable,
                            JsonOrient::kValues}) {
    xshards::io::fuzz::Check(text, orient);
  }
  return 0;
}
