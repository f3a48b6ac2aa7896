// SPDX-License-Identifier: Apache-2.0
#include "io/json_scan.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "io/file_system.h"
#include "io/json_block.h"
#include "io/scan_stream.h"

namespace xshards::io {
namespace {

class JsonSplitStream final : public BatchStream {
 public:
  JsonSplitStream(std::string path, int64_t begin, TextBlocks blocks,
                  std::shared_ptr<arrow::Schema> parsed, UnknownKeys unknown,
                  std::shared_ptr<arrow::Schema> schema, OperatorContext& context)
      : path_(std::move(path)),
        begin_(begin),
        blocks_(std::move(blocks)),
        parsed_(std::move(parsed)),
        unknown_(unknown),
        schema_(std::move(schema)),
        context_(context) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    const int64_t position = begin_ + blocks_.position();
    auto lines = NextLines(blocks_);
    if (!lines.ok()) return WithPath(lines.status(), "Could not read", path_);
    ARROW_RETURN_NOT_OK(CountBytes());
    if (*lines == nullptr) return nullptr;
    auto batch = ParseJson(*lines, parsed_, unknown_, context_.pool);
    if (!batch.ok()) {
      return ExplainJson({.lines = *lines,
                          .schema = parsed_,
                          .unknown = unknown_,
                          .path = path_,
                          .position = position},
                         batch.status(), context_.pool);
    }
    arrow::ArrayVector columns;
    for (const auto& name : schema_->field_names()) {
      columns.push_back((*batch)->GetColumnByName(name));
    }
    return arrow::RecordBatch::Make(schema_, (*batch)->num_rows(), std::move(columns));
  }

 private:
  arrow::Status CountBytes() {
    ARROW_ASSIGN_OR_RAISE(const int64_t bytes_read, blocks_.BytesRead());
    context_.metrics->bytes_read += bytes_read - counted_;
    counted_ = bytes_read;
    return arrow::Status::OK();
  }

  const std::string path_;
  const int64_t begin_;
  TextBlocks blocks_;
  const std::shared_ptr<arrow::Schema> parsed_;  // what is asked of the parser
  const UnknownKeys unknown_;
  const std::shared_ptr<arrow::Schema> schema_;  // what is given
  OperatorContext& context_;
  int64_t counted_ = 0;  // bytes already in the metrics
};

bool IsNested(const arrow::Schema& schema) {
  return std::any_of(schema.fields().begin(), schema.fields().end(),
                     [](const auto& field) { return field->type()->num_fields() > 0; });
}

arrow::Result<std::unique_ptr<BatchStream>> OpenJsonSplit(
    const ScanNode& scan, const Split& split,
    const std::shared_ptr<arrow::Schema>& schema, OperatorContext& context) {
  // Keys that the schema does not know are an error, unless they are outside of what was
  // asked for. Inside an object column they cannot be told apart, so all is parsed.
  const bool all = schema->num_fields() == scan.schema->num_fields() || IsNested(*schema);
  ARROW_ASSIGN_OR_RAISE(
      auto input, TextInput::Open(split.path, {}, split.begin, split.end, context.pool));
  return std::make_unique<JsonSplitStream>(
      split.path, split.begin,
      TextBlocks(std::move(input), TextBlockBytes(context.batch_bytes, scan.limit),
                 context.pool),
      all ? scan.schema : schema, all ? UnknownKeys::kError : UnknownKeys::kIgnore,
      schema, context);
}

}  // namespace

OpenNode MakeJsonScan() { return MakeScan(OpenJsonSplit); }

arrow::Result<std::shared_ptr<arrow::Buffer>> NextLines(TextBlocks& blocks) {
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const auto block, blocks.Next());
    if (block.is_last) {
      blocks.Consume(block.buffer->size());
      if (block.buffer->size() == 0) return nullptr;
      return block.buffer;
    }
    const size_t line_feed = block.text().rfind('\n');
    if (line_feed == std::string_view::npos) continue;
    const auto length = static_cast<int64_t>(line_feed) + 1;
    blocks.Consume(length);
    return arrow::SliceBuffer(block.buffer, 0, length);
  }
}

}  // namespace xshards::io
