// SPDX-License-Identifier: Apache-2.0
#include "io/columnar/multi_file_plan.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <arrow/compute/cast.h>

#include "io/columnar/scan_options.h"
#include "io/fs/file_fingerprint.h"
#include "io/fs/file_system.h"
#include "io/options/option_codec.h"
#include "io/options/type_names.h"
#include "io/scan/hive_scan.h"
#include "io/scan/scan_stream.h"
#include "io/text/text_encoding.h"
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
          "' differs from the files before it, the first of which is '", files[0].path,
          "': ", unified.status().message());
    }
    schema = unified.MoveValueUnsafe();
  }
  return schema;
}

/// The requested schema, if the columns of the files can be cast to it.
arrow::Result<std::shared_ptr<arrow::Schema>> AskedSchema(
    const arrow::Schema& asked, const std::vector<Inspected>& files) {
  arrow::FieldVector fields;
  for (const auto& field : asked.fields()) {
    // Other metadata of a field, such as its pandas dtype, stays.
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

/// The text columns that can be read as dictionaries in every file that has them.
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

/// The number of parts for each group: one if the groups of a file cannot be cut.
int64_t PartsFor(const std::vector<Inspected>& files, int64_t target_bytes) {
  int64_t num_parts = 1;
  for (const auto& inspected : files) {
    if (!inspected.file.can_cut_groups) return 1;
    num_parts = std::max(num_parts, PartsOfGroups(inspected.file.groups, target_bytes));
  }
  return num_parts;
}

// Sizes are added up and divided by: those that no file can have are not taken over.
arrow::Status CheckSizes(const InputFile& file, const TypedFile& typed) {
  constexpr int64_t kMaxRows = 1LL << 60;
  int64_t num_rows = 0;
  for (const auto& group : typed.groups) {
    const bool is_possible = group.num_bytes >= 0 && group.num_bytes <= file.size &&
                             group.num_rows >= -1 &&
                             group.num_rows <= kMaxRows - num_rows;
    if (!is_possible) {
      return WithPath(arrow::Status::Invalid("Expected sizes that fit into a file of ",
                                             file.size, " bytes, got ", group.num_bytes,
                                             " bytes and ", group.num_rows, " rows"),
                      "Could not read", file.path);
    }
    num_rows += std::max<int64_t>(group.num_rows, 0);
  }
  return arrow::Status::OK();
}

// Python and Arrow take names for UTF-8, which the formats do not check.
arrow::Status CheckNames(const std::string& path, const arrow::FieldVector& fields) {
  for (const auto& field : fields) {
    if (!IsUtf8(field->name())) {
      return WithPath(arrow::Status::Invalid("the name of a column is not UTF-8"),
                      "Could not read", path);
    }
    ARROW_RETURN_NOT_OK(CheckNames(path, field->type()->fields()));
  }
  return arrow::Status::OK();
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
    ARROW_RETURN_NOT_OK(CheckNames(file.path, typed.schema->fields()));
    ARROW_RETURN_NOT_OK(CheckSizes(file, typed));
    for (const auto& group : typed.groups) total += group.num_bytes;
    inspected.push_back({file.path, std::move(typed)});
  }
  ScanNode scan;
  scan.format = format;
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
  if (num_parts > 1) scan.options = MakeOptions(GroupScanOptions{.parts = num_parts});
  for (size_t i = 0; i < files.size(); ++i) {
    const auto parts = CutIntoParts(inspected[i].file.groups, num_parts);
    auto splits = CutGroups(files[i].path, parts, target_bytes);
    for (auto& split : splits) NoteFileState(files[i], &split);
    std::move(splits.begin(), splits.end(), std::back_inserter(scan.splits));
  }
  DropEmptySplits(&scan.splits);
  return XShards(std::move(context), MakeNode(std::move(scan)));
}

}  // namespace xshards::io
