// SPDX-License-Identifier: Apache-2.0
#include "io/json_block.h"

#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array/array_nested.h>
#include <arrow/chunked_array.h>
#include <arrow/json/chunked_builder.h>
#include <arrow/json/converter.h>
#include <arrow/json/options.h>
#include <arrow/json/parser.h>
#include <arrow/util/task_group.h>

#include "io/quoted_names.h"
#include "io/text_input.h"

namespace xshards::io {
namespace {

arrow::json::UnexpectedFieldBehavior ToArrow(UnknownKeys unknown) {
  switch (unknown) {
    case UnknownKeys::kError:
      return arrow::json::UnexpectedFieldBehavior::Error;
    case UnknownKeys::kIgnore:
      return arrow::json::UnexpectedFieldBehavior::Ignore;
    case UnknownKeys::kInfer:
      break;
  }
  return arrow::json::UnexpectedFieldBehavior::InferType;
}

// The ends of the lines of a text, each behind its line feed.
std::vector<int64_t> LineEnds(std::string_view text) {
  std::vector<int64_t> ends;
  for (size_t at = 0; at < text.size();) {
    const size_t line_feed = text.find('\n', at);
    at = line_feed == std::string_view::npos ? text.size() : line_feed + 1;
    ends.push_back(static_cast<int64_t>(at));
  }
  return ends;
}

std::string Shorten(std::string_view text) {
  constexpr size_t kShown = 200;
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  if (text.size() <= kShown) return std::string(text);
  return std::string(text.substr(0, kShown)) + "...";
}

// What is wrong with one line: the column that does not convert, or the unknown key.
std::string Reason(const std::shared_ptr<arrow::Buffer>& line,
                   const arrow::Schema& schema, const arrow::Status& status,
                   arrow::MemoryPool* pool) {
  for (const auto& field : schema.fields()) {
    const auto alone = arrow::schema({field});
    const auto parsed = ParseJson(line, alone, UnknownKeys::kIgnore, pool);
    if (parsed.ok() || ParseJson(line, arrow::schema({}), UnknownKeys::kIgnore, pool)
                           .status()
                           .IsInvalid()) {
      continue;
    }
    return "Expected " + field->type()->ToString() + " for key '" + field->name() +
           "' (" + parsed.status().message() +
           "); types are inferred from samples of the files, pass dtype={'" +
           field->name() + "': ...} with a wider type";
  }
  const auto inferred = ParseJson(line, nullptr, UnknownKeys::kInfer, pool);
  if (!inferred.ok()) return "Expected one JSON object: " + inferred.status().message();
  std::vector<std::string> extra;
  for (const auto& name : (*inferred)->schema()->field_names()) {
    if (schema.GetFieldIndex(name) < 0) extra.push_back(name);
  }
  if (!extra.empty()) {
    return "Expected only keys seen in samples of the files, got " + QuotedNames(extra) +
           "; to read them pass dtype={'" + extra[0] + "': ...} with their types";
  }
  return status.message() + " (expected " + schema.ToString() + ")";
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ParseJson(
    const std::shared_ptr<arrow::Buffer>& lines,
    const std::shared_ptr<arrow::Schema>& schema, UnknownKeys unknown,
    arrow::MemoryPool* pool) {
  arrow::json::ParseOptions options;
  options.explicit_schema = schema;
  options.unexpected_field_behavior = ToArrow(unknown);
  std::unique_ptr<arrow::json::BlockParser> parser;
  ARROW_RETURN_NOT_OK(arrow::json::BlockParser::Make(pool, options, &parser));
  ARROW_RETURN_NOT_OK(parser->ReserveScalarStorage(lines->size()));
  ARROW_RETURN_NOT_OK(parser->Parse(lines));
  std::shared_ptr<arrow::Array> parsed;
  ARROW_RETURN_NOT_OK(parser->Finish(&parsed));

  const auto type =
      arrow::struct_(schema == nullptr ? arrow::FieldVector{} : schema->fields());
  std::shared_ptr<arrow::json::ChunkedArrayBuilder> builder;
  ARROW_RETURN_NOT_OK(arrow::json::MakeChunkedArrayBuilder(
      arrow::internal::TaskGroup::MakeSerial(), pool,
      unknown == UnknownKeys::kInfer ? arrow::json::GetPromotionGraph() : nullptr, type,
      &builder));
  builder->Insert(0, arrow::field("", parsed->type()), parsed);
  std::shared_ptr<arrow::ChunkedArray> converted;
  ARROW_RETURN_NOT_OK(builder->Finish(&converted));
  const auto& rows = static_cast<const arrow::StructArray&>(*converted->chunk(0));
  return arrow::RecordBatch::Make(arrow::schema(converted->type()->fields()),
                                  rows.length(), rows.fields());
}

arrow::Status ExplainJson(const JsonFailure& failure, const arrow::Status& status,
                          arrow::MemoryPool* pool) {
  const std::string_view text(*failure.lines);
  const auto ends = LineEnds(text);
  if (ends.empty()) return status;
  const auto fails = [&](size_t num_lines) {
    const auto prefix = arrow::SliceBuffer(failure.lines, 0, ends[num_lines - 1]);
    return !ParseJson(prefix, failure.schema, failure.unknown, pool).ok();
  };
  // The first line whose inclusion makes it fail, by bisection.
  size_t good = 0;
  size_t bad = ends.size();
  while (good + 1 < bad) {
    const size_t middle = good + (bad - good) / 2;
    (fails(middle) ? bad : good) = middle;
  }
  const int64_t begin = good == 0 ? 0 : ends[good - 1];
  const auto line = arrow::SliceBuffer(failure.lines, begin, ends[good] - begin);
  const auto schema = failure.schema == nullptr ? arrow::schema({}) : failure.schema;
  std::string place = "'" + failure.path + "'";
  const auto number = LineNumber(failure.path, {}, failure.position + begin, pool);
  if (number.ok()) place += ", line " + std::to_string(*number);
  return arrow::Status::Invalid("Could not read ", place, ": ",
                                Reason(line, *schema, status, pool),
                                ". The line: ", Shorten(std::string_view(*line)));
}

}  // namespace xshards::io
