// SPDX-License-Identifier: Apache-2.0
// Any text, read as CSV: in one block and in small ones it gives the same rows, or the
// same kind of error.
#include <algorithm>
#include <memory>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>

#include "io/csv/block_reader.h"
#include "io/csv/parse/rows.h"
#include "io/csv/parse/tokenizer.h"
#include "io/csv/parse/unquote.h"
#include "io/csv/parse/value_kinds.h"
#include "tests/fuzz/fuzz_input.h"

namespace xshards::io::fuzz {
namespace {

// The scans of all processor families must agree.
void CheckTargets(const CsvInput& input) {
  const CsvMarks marks{
      .sep = static_cast<uint8_t>(input.options.sep),
      .quote = static_cast<uint8_t>(input.options.quotechar.value_or('\0')),
      .has_quote = input.options.quotechar.has_value()};
  const std::string padded = input.text + std::string(kCsvPadding, '"');
  std::vector<uint32_t> expected;
  for (const auto target : {CsvTarget::kBaseline, CsvTarget::kAvx2, CsvTarget::kAvx512}) {
    if (!IsSupported(target)) continue;
    std::vector<uint32_t> ends(padded.size());
    std::vector<uint32_t> last_fields(padded.size());
    CsvFieldEnds found{.ends = ends.data(), .last_fields = last_fields.data()};
    CsvFieldFinder(target)(reinterpret_cast<const uint8_t*>(padded.data()),
                           static_cast<int64_t>(input.text.size()), marks, &found);
    ends.resize(static_cast<size_t>(found.num_ends));
    last_fields.resize(static_cast<size_t>(found.num_lines));
    ends.insert(ends.end(), last_fields.begin(), last_fields.end());
    ends.push_back(found.in_quotes ? 1 : 0);
    ends.push_back(found.is_ascii ? 1 : 0);
    if (target == CsvTarget::kBaseline) expected = ends;
    Require(ends == expected, "all targets to find the same fields");
  }
}

// Let two more bits of the first byte choose a structure that is read byte by byte.
void ChooseStructure(uint8_t choice, CsvOptions* options) {
  switch (choice >> 6) {
    case 1:
      options->skipinitialspace = true;
      options->doublequote = false;
      options->thousands = '.';
      options->decimal = ',';
      break;
    case 2:
      options->delim_whitespace = true;
      options->true_values = {"1", "yes"};
      break;
    case 3:
      options->long_sep = "a,";
      options->quotechar = std::nullopt;
      options->escapechar = std::nullopt;
      break;
    default:
      break;
  }
}

TextBlocks Blocks(const CsvInput& input, int64_t block_bytes) {
  auto stream =
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(input.text));
  return TextBlocks({.text = stream, .bytes = stream}, block_bytes,
                    arrow::default_memory_pool());
}

// As large a block as holds all of the text.
int64_t WholeBytes(const CsvInput& input) {
  return static_cast<int64_t>(input.text.size()) + 1;
}

// Types inferred from the first records, so that numbers and booleans are read too.
std::shared_ptr<arrow::Schema> SchemaOf(const CsvInput& input) {
  auto blocks = Blocks(input, WholeBytes(input));
  const auto block = blocks.Next();
  CsvRows rows(input.options);
  const CsvValues values(input.options);
  arrow::FieldVector fields;
  if (block.ok()) {
    rows.Find(block->mutable_text(), block->buffer->size(), /*is_last=*/true, 0);
    constexpr int64_t kMaxColumns = 8;
    const int64_t count =
        rows.num_rows() == 0 ? 0 : std::min(rows.NumFields(0), kMaxColumns);
    for (int64_t i = 0; i < count; ++i) {
      std::string scratch;
      const auto field = rows.Field(0, i);
      const auto value =
          values.IsEscaped(field) ? values.Unescape(field, &scratch) : field;
      const CsvKinds kind = values.Classify(value);
      fields.push_back(arrow::field("c" + std::to_string(i), TypeOf(kind)));
    }
  }
  return arrow::schema(std::move(fields));
}

arrow::Result<std::shared_ptr<arrow::Table>> Read(
    const CsvInput& input, const std::shared_ptr<arrow::Schema>& schema,
    int64_t block_bytes) {
  ARROW_ASSIGN_OR_RAISE(
      auto reader, CsvBlockReader::Make(
                       input.options, {.path = "fuzz", .columns = schema->field_names()},
                       schema, arrow::default_memory_pool()));
  auto blocks = Blocks(input, block_bytes);
  arrow::RecordBatchVector batches;
  for (bool at_end = false; !at_end;) {
    ARROW_ASSIGN_OR_RAISE(const auto block, blocks.Next());
    ARROW_ASSIGN_OR_RAISE(const int64_t consumed,
                          reader->SetBlock(block, blocks.position()));
    blocks.Consume(consumed);
    at_end = block.is_last && consumed == block.buffer->size();
    if (const int64_t rows = reader->rows_in_block(); rows > 0) {
      ARROW_RETURN_NOT_OK(reader->Start(rows));
      ARROW_RETURN_NOT_OK(reader->Append(rows));
      ARROW_ASSIGN_OR_RAISE(auto batch, reader->Finish());
      ARROW_RETURN_NOT_OK(batch->ValidateFull());
      batches.push_back(std::move(batch));
    }
    ARROW_RETURN_NOT_OK(reader->CheckPassed());
  }
  ARROW_ASSIGN_OR_RAISE(auto table, arrow::Table::FromRecordBatches(schema, batches));
  return table->CombineChunks();
}

}  // namespace
}  // namespace xshards::io::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace xshards::io::fuzz;  // NOLINT(google-build-using-namespace)
  CsvInput input = ToCsvInput(data, size);
  CheckTargets(input);
  if (size > 0) ChooseStructure(data[0], &input.options);
  const auto schema = SchemaOf(input);
  if (schema->num_fields() == 0) return 0;
  const auto whole = Read(input, schema, WholeBytes(input));
  const auto cut = Read(input, schema, input.block_bytes);
  Require(whole.ok() == cut.ok(), "small blocks to fail where one block does");
  if (whole.ok()) {
    Require((*whole)->Equals(**cut), "small blocks to give the rows of one block");
  }
  return 0;
}
