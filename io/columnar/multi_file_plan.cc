// SPDX-License-Identifier: Apache-2.0
#include "io/columnar/multi_file_plan.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <arrow/compute/cast.h>

#include "io/options/type_names.h"
#include "io/scan/hive_scan.h"
#include "io/scan/scan_stream.h"
#include "io/text/text_splits.h"
#include "xshards/types/conform.h"

namespace xshards::io {
namespace {

struct Inspected {
  std::string path;
  TypedFile file;
};

arrow::Result<std::shared_ptr<arrow::Schema>> UnifyFiles(
    const std::vector<Inspected>& files) {
  auto schema = files[0].file.schema;
  for (const auto& [path, file] : files) {
    auto unified = Unify(schema, file.schema);
    if (!unified.ok()) {
      return unified.status().WithMessage(
          "Expected columns of a common type in all files; '", path,
          "' differs from those before it, the first being '", files[0].path,
          "': ", unified.status().message());
    }
    schema = unified.MoveValueUnsafe();
  }
  return schema;
}

/// The schema that was asked for, if what is in the files can be cast to it.
arrow::Result<std::shared_ptr<arrow::Schema>> AskedSchema(
    const arrow::Schema& asked, const std::vector<Inspected>& files) {
  arrow::FieldVector fields;
  for (const auto& field : asked.fields()) {
    // What else a field tells, as which dtype pandas has for it, stays.
    fields.push_back(field->WithType(EngineType(field->type()))->WithNullable(true));
  }
  auto schema = arrow::schema(std::move(fields));
  for (const auto& [path, file] : files) {
    for (const auto& field : schema->fields()) {
      const auto found = file.schema->GetFieldByName(field->name());
      if (found == nullptr || found->type()->Equals(*field->type()) ||
          arrow::compute::CanCast(*found->type(), *field->type())) {
        continue;
      }
      return arrow::Status::TypeError(
          "schema has column '", field->name(), "' as ", field->type()->ToString(),
          ", which ", found->type()->ToString(), " of '", path, "' cannot be cast to");
    }
  }
  return schema;
}

/// The columns of text that can be had as dictionaries, of every file that has them.
std::vector<std::string> EncodableColumns(const std::vector<Inspected>& files,
                                          const arrow::Schema& schema) {
  std::vector<std::string> encodable;
  for (const auto& field : schema.fields()) {
    const std::string& name = field->name();
    const auto is_plain = [&](const Inspected& inspected) {
      return inspected.file.schema->GetFieldIndex(name) >= 0 &&
             !inspected.file.encodable.contains(name);
    };
    const auto has_it = [&](const Inspected& inspected) {
      return inspected.file.encodable.contains(name);
    };
    if (field->type()->id() == arrow::Type::LARGE_STRING &&
        std::any_of(files.begin(), files.end(), has_it) &&
        std::none_of(files.begin(), files.end(), is_plain)) {
      encodable.push_back(name);
    }
  }
  return encodable;
}

std::set<std::string> OwnColumns(const std::vector<Inspected>& files) {
  std::set<std::string> columns;
  for (const auto& inspected : files) {
    for (const auto& field : inspected.file.schema->fields()) {
      columns.insert(field->name());
    }
  }
  return columns;
}

/// How many parts to cut each group into: one if a file's cannot be cut.
int64_t PartsFor(const std::vector<Inspected>& files, int64_t target_bytes) {
  int64_t num_parts = 1;
  for (const auto& inspected : files) {
    if (!inspected.file.can_cut_groups) return 1;
    num_parts = std::max(num_parts, PartsOfGroups(inspected.file.groups, target_bytes));
  }
  return num_parts;
}

}  // namespace

arrow::Result<XShards> ReadTypedFiles(
    const std::string& format, std::shared_ptr<Context> context, const Paths& paths,
    const ParquetOptions& options,
    const std::function<arrow::Result<TypedFile>(const InputFile& file)>& inspect) {
  ARROW_RETURN_NOT_OK(options.Validate());
  ARROW_ASSIGN_OR_RAISE(const auto files, ListFiles(paths.values));
  std::vector<Inspected> inspected;
  int64_t total = 0;
  for (const auto& file : files) {
    ARROW_ASSIGN_OR_RAISE(auto typed, inspect(file));
    for (const auto& group : typed.groups) total += group.num_bytes;
    inspected.push_back({file.path, std::move(typed)});
  }
  ScanNode scan;
  scan.format = format;
  scan.options = options.ToMap();
  if (options.schema == nullptr) {
    ARROW_ASSIGN_OR_RAISE(scan.schema, UnifyFiles(inspected));
  } else {
    ARROW_ASSIGN_OR_RAISE(scan.schema, AskedSchema(*options.schema, inspected));
  }
  ARROW_ASSIGN_OR_RAISE(const auto folders, HiveFields(files));
  AddHiveFields(folders, OwnColumns(inspected), options.schema != nullptr, &scan);
  if (options.columns.has_value()) {
    ARROW_ASSIGN_OR_RAISE(scan.schema, SelectFields(*scan.schema, *options.columns));
  }
  scan.encodable = EncodableColumns(inspected, *scan.schema);
  const int64_t target_bytes = options.split.TargetBytes(total, context->cores());
  const int64_t num_parts = PartsFor(inspected, target_bytes);
  if (num_parts > 1) scan.options[kGroupParts] = std::to_string(num_parts);
  for (const auto& [path, file] : inspected) {
    auto splits = CutGroups(path, CutIntoParts(file.groups, num_parts), target_bytes);
    std::move(splits.begin(), splits.end(), std::back_inserter(scan.splits));
  }
  DropEmptySplits(&scan.splits);
  return XShards(std::move(context), MakeNode(std::move(scan)));
}

}  // namespace xshards::io
