// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "io/file_listing.h"
#include "io/file_system.h"
#include "io/json_array_splits.h"
#include "io/json_block.h"
#include "io/json_input.h"
#include "io/json_shape.h"
#include "io/readers.h"
#include "io/text_splits.h"
#include "io/type_names.h"

namespace xshards::io {
namespace {

constexpr int64_t kSampleBytes = 256LL << 10;

// Take in the first records of a split.
arrow::Status ObserveSplit(const Split& split, const JsonOptions& options,
                           JsonShape* shape, arrow::MemoryPool* pool) {
  JsonRecordFormat format;
  format.layout = *options.lines ? JsonLayout::kLines : JsonLayout::kArray;
  format.on_bad_lines = options.on_bad_lines;
  format.path = split.path;
  ARROW_ASSIGN_OR_RAISE(auto input,
                        JsonInput::Open(split, format.layout, kSampleBytes, pool));
  auto block = input->Next();
  if (!block.ok()) return WithPath(block.status(), "Could not read", split.path);
  return ObserveJson(*block, format, shape, pool);
}

// The columns of the samples in the order they appear, then those only asked for.
arrow::Result<std::shared_ptr<arrow::Schema>> InferSchema(
    const std::vector<Split>& splits, const JsonOptions& options,
    arrow::MemoryPool* pool) {
  JsonShape shape;
  for (const auto& split : splits) {
    ARROW_RETURN_NOT_OK(ObserveSplit(split, options, &shape, pool));
  }
  arrow::FieldVector fields = shape.ToFields();
  for (const auto& [name, type_name] : options.dtype) {
    ARROW_ASSIGN_OR_RAISE(auto type, TypeFromName(type_name));
    auto field = arrow::field(name, std::move(type));
    const auto same = std::find_if(fields.begin(), fields.end(),
                                   [&](auto& f) { return f->name() == field->name(); });
    if (same == fields.end()) {
      fields.push_back(std::move(field));
    } else {
      *same = std::move(field);
    }
  }
  return arrow::schema(std::move(fields));
}

// Whether files hold lines, as their first characters say.
arrow::Result<bool> AreLines(const std::vector<InputFile>& files,
                             arrow::MemoryPool* pool) {
  std::optional<JsonLayout> layout;
  for (const auto& file : files) {
    if (file.size == 0) continue;
    ARROW_ASSIGN_OR_RAISE(const auto found, FindJsonLayout(file.path, pool));
    if (found != layout.value_or(found)) {
      return arrow::Status::Invalid(
          "Expected either JSON lines or arrays of objects in all files; '", file.path,
          "' differs from those before it");
    }
    layout = found;
  }
  return layout.value_or(JsonLayout::kLines) == JsonLayout::kLines;
}

}  // namespace

arrow::Result<XShards> ReadJson(std::shared_ptr<Context> context, const Paths& paths,
                                const JsonOptions& asked) {
  ARROW_RETURN_NOT_OK(asked.Validate());
  JsonOptions options = asked;
  arrow::MemoryPool* const pool = context->memory_pool();
  ARROW_ASSIGN_OR_RAISE(const auto files, ListFiles(paths.values));
  if (!options.lines.has_value()) {
    ARROW_ASSIGN_OR_RAISE(options.lines, AreLines(files, pool));
  }
  const int64_t total =
      std::accumulate(files.begin(), files.end(), int64_t{0},
                      [](int64_t sum, const InputFile& f) { return sum + f.size; });
  const int64_t target_bytes = options.split.TargetBytes(total, context->cores());
  ScanNode scan;
  scan.format = "json";
  scan.options = options.ToMap();
  for (const auto& file : files) {
    ARROW_ASSIGN_OR_RAISE(auto splits, *options.lines
                                           ? PlanLineSplits(file, target_bytes, pool)
                                           : PlanArraySplits(file, target_bytes, pool));
    std::move(splits.begin(), splits.end(), std::back_inserter(scan.splits));
  }
  DropEmptySplits(&scan.splits);
  ARROW_ASSIGN_OR_RAISE(scan.schema, InferSchema(scan.splits, options, pool));
  XShards shards(std::move(context), MakeNode(std::move(scan)));
  return options.nrows.has_value() ? shards.Head(*options.nrows) : shards;
}

}  // namespace xshards::io
