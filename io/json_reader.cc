// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "io/file_listing.h"
#include "io/file_system.h"
#include "io/json_block.h"
#include "io/json_inference.h"
#include "io/json_scan.h"
#include "io/readers.h"
#include "io/text_input.h"
#include "io/text_splits.h"
#include "io/type_names.h"

namespace xshards::io {
namespace {

constexpr int64_t kSampleBytes = 256LL << 10;

// Put columns in the order they appear in the lines; the parser puts those whose type is
// given first.
std::shared_ptr<arrow::Schema> InOrder(const std::shared_ptr<arrow::Buffer>& lines,
                                       const std::shared_ptr<arrow::Schema>& schema,
                                       arrow::MemoryPool* pool) {
  const auto free = ParseJson(lines, nullptr, UnknownKeys::kInfer, pool);
  if (!free.ok()) return schema;
  arrow::FieldVector fields;
  for (const auto& name : (*free)->schema()->field_names()) {
    if (auto field = schema->GetFieldByName(name)) fields.push_back(std::move(field));
  }
  for (const auto& field : schema->fields()) {
    if ((*free)->schema()->GetFieldIndex(field->name()) < 0) fields.push_back(field);
  }
  return arrow::schema(std::move(fields));
}

// The columns in the first lines of a split, in the order they appear.
arrow::Result<std::shared_ptr<arrow::Schema>> SampleSchema(
    const Split& split, const std::shared_ptr<arrow::Schema>& asked,
    arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto input,
                        TextInput::Open(split.path, {}, split.begin, split.end, pool));
  TextBlocks blocks(std::move(input), kSampleBytes, pool);
  auto lines = NextLines(blocks);
  if (!lines.ok()) return WithPath(lines.status(), "Could not read", split.path);
  if (*lines == nullptr) return arrow::schema({});
  const std::string_view text(**lines);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (split.begin == 0 && first != std::string_view::npos && text[first] == '[') {
    return arrow::Status::Invalid("Expected JSON lines, one object a line; '", split.path,
                                  "' holds a JSON array");
  }
  auto batch = ParseJson(*lines, asked, UnknownKeys::kInfer, pool);
  if (!batch.ok()) {
    return ExplainJson({.lines = *lines,
                        .schema = asked,
                        .unknown = UnknownKeys::kInfer,
                        .path = split.path,
                        .position = split.begin},
                       batch.status(), pool);
  }
  if (asked->num_fields() == 0) return (*batch)->schema();
  return InOrder(*lines, (*batch)->schema(), pool);
}

arrow::Result<std::shared_ptr<arrow::Schema>> InferSchema(
    const std::vector<Split>& splits, const JsonOptions& options,
    arrow::MemoryPool* pool) {
  arrow::FieldVector asked;
  for (const auto& [name, type_name] : options.dtype) {
    ARROW_ASSIGN_OR_RAISE(auto type, TypeFromName(type_name));
    asked.push_back(arrow::field(name, std::move(type)));
  }
  auto asked_schema = arrow::schema(asked);
  if (splits.size() == 1 && splits[0].begin == splits[0].end) return asked_schema;
  auto schema = arrow::schema({});
  for (const auto& split : splits) {
    ARROW_ASSIGN_OR_RAISE(const auto sample, SampleSchema(split, asked_schema, pool));
    arrow::FieldVector fields;
    for (const auto& field : sample->fields()) {
      const bool is_asked = options.dtype.contains(field->name());
      fields.push_back(is_asked ? field : field->WithType(PlainJsonType(field->type())));
    }
    auto widened = WidenJson(*schema, *arrow::schema(std::move(fields)));
    if (!widened.ok()) {
      return WithPath(widened.status(), "Could not unify the types of", split.path);
    }
    schema = widened.MoveValueUnsafe();
  }
  arrow::FieldVector settled;
  for (const auto& field : schema->fields()) {
    settled.push_back(arrow::field(field->name(), SettleJsonType(field->type())));
  }
  return arrow::schema(std::move(settled));
}

}  // namespace

arrow::Result<XShards> ReadJson(std::shared_ptr<Context> context, const Paths& paths,
                                const JsonOptions& options) {
  ARROW_RETURN_NOT_OK(options.Validate());
  ARROW_ASSIGN_OR_RAISE(const auto files, ListFiles(paths.values));
  const int64_t total =
      std::accumulate(files.begin(), files.end(), int64_t{0},
                      [](int64_t sum, const InputFile& f) { return sum + f.size; });
  const int64_t target_bytes = options.split.TargetBytes(total, context->cores());
  ScanNode scan;
  scan.format = "json";
  scan.options = options.ToMap();
  for (const auto& file : files) {
    ARROW_ASSIGN_OR_RAISE(auto splits,
                          PlanLineSplits(file, target_bytes, context->memory_pool()));
    std::move(splits.begin(), splits.end(), std::back_inserter(scan.splits));
  }
  DropEmptySplits(&scan.splits);
  ARROW_ASSIGN_OR_RAISE(scan.schema,
                        InferSchema(scan.splits, options, context->memory_pool()));
  XShards shards(std::move(context), MakeNode(std::move(scan)));
  return options.nrows.has_value() ? shards.Head(*options.nrows) : shards;
}

}  // namespace xshards::io
