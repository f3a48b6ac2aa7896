// SPDX-License-Identifier: Apache-2.0
#include "io/scan/hive_scan.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <arrow/array/util.h>

#include "io/fs/file_system.h"
#include "io/options/quoted_names.h"
#include "io/scan/hive_partitions.h"
#include "io/scan/range_pruning.h"

namespace xshards::io {
namespace {

std::vector<std::string> ColumnsOf(const std::vector<HiveValue>& values) {
  std::vector<std::string> columns;
  for (const auto& value : values) columns.push_back(value.column);
  return columns;
}

using Constants = std::map<std::string, std::shared_ptr<arrow::Scalar>>;

// The values of a split's path, in the types of the scan's schema.
arrow::Result<Constants> ConstantsOf(const ScanNode& scan, const Split& split) {
  Constants constants;
  const auto& columns = scan.folder_columns;
  if (columns.empty()) return constants;
  // The innermost folder of a name counts: folders above the listed one come before it.
  for (const auto& value : HiveValues(BarePath(split.path))) {
    if (std::find(columns.begin(), columns.end(), value.column) == columns.end()) {
      continue;
    }
    const auto field = scan.schema->GetFieldByName(value.column);
    if (field == nullptr) continue;  // not requested
    ARROW_ASSIGN_OR_RAISE(constants[value.column], ToHiveScalar(value, field->type()));
  }
  return constants;
}

// The rows of a batch that has constant columns only.
constexpr int64_t kMaxConstantRows = 64LL << 10;

/// Adds constant columns to the batches of a file.
class HiveStream final : public BatchStream {
 public:
  HiveStream(std::unique_ptr<BatchStream> file, Constants constants,
             std::shared_ptr<arrow::Schema> schema, arrow::MemoryPool* pool)
      : file_(std::move(file)),
        constants_(std::move(constants)),
        schema_(std::move(schema)),
        pool_(pool) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (file_ == nullptr) return nullptr;
    if (rest_ == nullptr || rest_->num_rows() == 0) {
      ARROW_ASSIGN_OR_RAISE(rest_, file_->Next());
    }
    if (rest_ == nullptr) return nullptr;
    // Without columns of its own a file may say that it has any number of rows.
    const auto batch =
        rest_->Slice(0, rest_->num_columns() == 0 ? kMaxConstantRows : rest_->num_rows());
    rest_ = rest_->Slice(batch->num_rows());
    arrow::ArrayVector columns;
    for (const auto& field : schema_->fields()) {
      const auto constant = constants_.find(field->name());
      if (constant == constants_.end()) {
        columns.push_back(batch->GetColumnByName(field->name()));
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(
          auto values,
          arrow::MakeArrayFromScalar(*constant->second, batch->num_rows(), pool_));
      columns.push_back(std::move(values));
    }
    return arrow::RecordBatch::Make(schema_, batch->num_rows(), std::move(columns));
  }

 private:
  const std::unique_ptr<BatchStream> file_;   // nullptr: no rows are requested
  std::shared_ptr<arrow::RecordBatch> rest_;  // of the batch read last
  const Constants constants_;
  const std::shared_ptr<arrow::Schema> schema_;
  arrow::MemoryPool* const pool_;
};

}  // namespace

arrow::Result<arrow::FieldVector> HiveFields(const std::vector<InputFile>& files) {
  const auto columns = ColumnsOf(HiveValues(files[0].below));
  std::map<std::string, std::vector<std::optional<std::string>>> values;
  for (const auto& file : files) {
    const auto found = HiveValues(file.below);
    if (ColumnsOf(found) != columns) {
      return arrow::Status::Invalid(
          "Expected the same columns in the names of all folders (column=value), ",
          QuotedNames(columns), " as for '", files[0].path, "'; got ",
          QuotedNames(ColumnsOf(found)), " for '", file.path, "'");
    }
    for (const auto& value : found) values[value.column].push_back(value.value);
  }
  arrow::FieldVector fields;
  for (const auto& name : columns) {
    fields.push_back(arrow::field(name, HiveType(values[name])));
  }
  return fields;
}

void AddHiveFields(const arrow::FieldVector& found, const std::set<std::string>& own,
                   bool schema_was_asked, ScanNode* scan) {
  std::vector<std::string> added;
  auto fields = scan->schema->fields();
  for (const auto& field : found) {
    if (own.contains(field->name())) continue;
    if (!schema_was_asked) {
      fields.push_back(field);
    } else if (scan->schema->GetFieldIndex(field->name()) < 0) {
      continue;
    }
    added.push_back(field->name());
  }
  if (added.empty()) return;
  scan->schema = arrow::schema(std::move(fields));
  scan->folder_columns = std::move(added);
}

void AddHiveFields(const arrow::FieldVector& found, ScanNode* scan) {
  const auto names = scan->schema->field_names();
  AddHiveFields(found, {names.begin(), names.end()}, false, scan);
}

std::shared_ptr<arrow::Schema> FileSchema(const ScanNode& scan) {
  const auto& columns = scan.folder_columns;
  if (columns.empty()) return scan.schema;
  arrow::FieldVector own;
  for (const auto& field : scan.schema->fields()) {
    if (std::find(columns.begin(), columns.end(), field->name()) == columns.end()) {
      own.push_back(field);
    }
  }
  return arrow::schema(std::move(own), scan.schema->metadata());
}

std::shared_ptr<arrow::Schema> WithHiveFields(const std::shared_ptr<arrow::Schema>& files,
                                              const ScanNode& scan) {
  if (scan.folder_columns.empty()) return files;
  auto fields = files->fields();
  for (const auto& name : scan.folder_columns) {
    if (auto field = scan.schema->GetFieldByName(name); field != nullptr) {
      fields.push_back(std::move(field));
    }
  }
  return arrow::schema(std::move(fields), files->metadata());
}

OpenSplit WithHiveColumns(OpenSplit open) {
  return [open = std::move(open)](
             const ScanNode& scan, const Split& split,
             const std::shared_ptr<arrow::Schema>& schema,
             OperatorContext& context) -> arrow::Result<std::unique_ptr<BatchStream>> {
    ARROW_ASSIGN_OR_RAISE(auto constants, ConstantsOf(scan, split));
    if (constants.empty()) return open(scan, split, schema, context);
    const auto range_of = [&](const std::string& name) -> std::optional<ColumnRange> {
      const auto constant = constants.find(name);
      if (constant == constants.end()) return std::nullopt;
      const auto& value = constant->second;
      return ColumnRange{.min = value, .max = value, .all_missing = !value->is_valid};
    };
    std::unique_ptr<BatchStream> file;
    if (!scan.filter.has_value() || !IsRuledOut(*scan.filter, range_of)) {
      arrow::FieldVector own;
      for (const auto& field : schema->fields()) {
        if (!constants.contains(field->name())) own.push_back(field);
      }
      ARROW_ASSIGN_OR_RAISE(file,
                            open(scan, split, arrow::schema(std::move(own)), context));
    }
    return std::make_unique<HiveStream>(std::move(file), std::move(constants), schema,
                                        context.pool);
  };
}

}  // namespace xshards::io
