// SPDX-License-Identifier: Apache-2.0
// Any text, read as JSON records: with the types that all its records give it is read in
// one block and in small ones, by the loops of all processors, to the same rows. The
// loops take the lines that simdjson takes.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>

#include "io/json/block_input.h"
#include "io/json/block_reader.h"
#include "io/json/on_demand.h"
#include "io/json/record_boundaries.h"
#include "io/json/structure.h"
#include "tests/fuzz/fuzz_input.h"

namespace xshards::io::fuzz {
namespace {

struct JsonFuzzInput {
  JsonLayout layout = JsonLayout::kLines;
  bool has_gaps = false;  // some keys are not wanted
  int64_t block_bytes = 1;
  std::string text;
};

JsonFuzzInput ToJsonInput(const uint8_t* data, size_t size) {
  constexpr size_t kOptionBytes = 2;
  JsonFuzzInput input;
  if (size < kOptionBytes) return input;
  if ((data[0] & 1) != 0) input.layout = JsonLayout::kArray;
  input.has_gaps = (data[0] & 2) != 0;
  input.block_bytes = 1 + data[1];
  input.text.assign(reinterpret_cast<const char*>(data) + kOptionBytes,
                    size - kOptionBytes);
  return input;
}

// The shape and number of all records; of an array, up to the first invalid one.
JsonShape ShapeOf(const JsonFuzzInput& input, int64_t* num_records) {
  const std::string padded = input.text + std::string(kJsonPadding, '\0');
  const char* p = padded.data();
  const char* const end = p + input.text.size();
  if (std::string_view(padded).starts_with("\xEF\xBB\xBF")) p += 3;
  const bool is_array = input.layout == JsonLayout::kArray;
  JsonShape shape = JsonShape::OfRecords();
  JsonOnDemand on_demand(input.layout, arrow::default_memory_pool());
  JsonFault fault;
  if (is_array) {
    p = SkipJsonBlanks(p, true);
    if (*p == '[') ++p;
  }
  while ((p = SkipJsonBlanks(p, true)) < end) {
    const char* const record = p;
    p = on_demand.Check(record, end, &fault);
    if (p != nullptr) {
      Require(on_demand.Observe(record, end, &shape, &fault) == p, "the same record");
      ++*num_records;
    } else if (is_array) {
      break;
    }
    if (is_array) {
      p = SkipJsonBlanks(p, true);
      if (*p == ',') ++p;
    } else {
      p = JsonLineEnd(p == nullptr ? record : p, end);
    }
  }
  return shape;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Read(
    const JsonFuzzInput& input, const std::shared_ptr<arrow::Schema>& schema,
    JsonTarget target, int64_t block_bytes) {
  JsonRecordFormat format;
  format.layout = input.layout;
  format.on_bad_lines = BadLines::kSkip;
  format.path = "fuzz";
  format.known = schema;
  format.wanted = schema;
  format.target = target;
  if (input.has_gaps && schema->num_fields() > 1) {
    ARROW_ASSIGN_OR_RAISE(format.wanted, schema->RemoveField(0));
  }
  auto* const pool = arrow::default_memory_pool();
  auto stream =
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(input.text));
  JsonInput blocks({.path = "fuzz"}, input.layout,
                   TextBlocks({.text = stream, .bytes = stream}, block_bytes, pool));
  ARROW_ASSIGN_OR_RAISE(auto records, JsonRecords::Make(std::move(format), pool));
  for (bool is_done = false; !is_done;) {
    ARROW_ASSIGN_OR_RAISE(const auto block, blocks.Next());
    ARROW_ASSIGN_OR_RAISE(const int64_t used, records->Append(block));
    blocks.Consume(used);
    is_done = block.is_last;
  }
  ARROW_ASSIGN_OR_RAISE(auto batch, records->Finish());
  ARROW_RETURN_NOT_OK(batch->ValidateFull());
  return batch;
}

}  // namespace
}  // namespace xshards::io::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace xshards::io;        // NOLINT(google-build-using-namespace)
  using namespace xshards::io::fuzz;  // NOLINT(google-build-using-namespace)
  const JsonFuzzInput input = ToJsonInput(data, size);
  int64_t num_records = 0;
  const auto schema = arrow::schema(ShapeOf(input, &num_records).ToFields());
  const auto whole_bytes = static_cast<int64_t>(input.text.size()) + 1;
  const auto whole = Read(input, schema, JsonTarget::kBaseline, whole_bytes);
  // Lines that are no records are left out, so that all others are read.
  Require(whole.ok() || input.layout == JsonLayout::kArray, "lines to be read");
  Require(!whole.ok() || (*whole)->num_rows() == num_records, "all records");
  const auto options = arrow::EqualOptions::Defaults().nans_equal(true);
  for (const auto target : {JsonTarget::kBaseline, JsonTarget::kAvx2}) {
    if (!IsSupported(target)) continue;
    for (const int64_t block_bytes : {whole_bytes, input.block_bytes}) {
      const auto other = Read(input, schema, target, block_bytes);
      Require(whole.ok() == other.ok(), "the same end of all ways to read");
      if (!whole.ok()) continue;
      Require((*whole)->Equals(**other, false, options), "the same rows");
    }
  }
  return 0;
}
