// SPDX-License-Identifier: Apache-2.0
#include "xshards/types/pandas_dtype.h"

#include <cctype>
#include <set>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/util/base64.h>
#include <arrow/util/key_value_metadata.h>

#include "xshards/types/dictionary_encoding.h"

namespace xshards {

namespace {

constexpr char kDtypeKey[] = "pandas.dtype";
constexpr char kCategoriesKey[] = "pandas.categories";
constexpr char kOrderedKey[] = "pandas.ordered";
constexpr char kArrowTypeKey[] = "pandas.arrow_type";
constexpr char kMissingKey[] = "pandas.missing";
constexpr char kLabelKey[] = "pandas.label";
constexpr const char* kDtypeKeys[] = {kDtypeKey,     kCategoriesKey, kOrderedKey,
                                      kArrowTypeKey, kMissingKey,    kOpaqueKey};
constexpr char kArrowSuffix[] = "[pyarrow]";

using FieldPointer = std::shared_ptr<arrow::Field>;
using Metadata = std::shared_ptr<arrow::KeyValueMetadata>;

std::string Get(const arrow::Field& field, const char* key) {
  return field.HasMetadata() ? field.metadata()->Get(key).ValueOr("") : "";
}

Metadata Without(const arrow::Field& field, const std::set<std::string>& keys) {
  auto kept = std::make_shared<arrow::KeyValueMetadata>();
  if (!field.HasMetadata()) return kept;
  for (const auto& [key, value] : field.metadata()->sorted_pairs()) {
    if (!keys.contains(key)) kept->Append(key, value);
  }
  return kept;
}

Metadata WithoutDtype(const arrow::Field& field) {
  return Without(field, {std::begin(kDtypeKeys), std::end(kDtypeKeys)});
}

FieldPointer WithMetadata(const FieldPointer& field, Metadata metadata) {
  return metadata->size() == 0 ? field->RemoveMetadata()
                               : field->WithMetadata(std::move(metadata));
}

/// Whether pandas has an ndarray in each cell.
bool HasArrayCells(const arrow::DataType& type) {
  return arrow::is_list_like(type.id()) || type.id() == arrow::Type::EXTENSION;
}

bool IsTextOrBytes(const arrow::DataType& type) {
  return arrow::is_base_binary_like(type.id()) || arrow::is_binary_view_like(type.id());
}

bool IsMaskedName(const std::string& name) {
  return name == "boolean" || name.starts_with("Int") || name.starts_with("UInt") ||
         name.starts_with("Float");
}

arrow::Result<std::shared_ptr<arrow::Array>> ReadCategories(const std::string& encoded) {
  ARROW_ASSIGN_OR_RAISE(auto bytes, arrow::util::base64_decode(encoded));
  ARROW_ASSIGN_OR_RAISE(
      auto reader,
      arrow::ipc::RecordBatchStreamReader::Open(std::make_shared<arrow::io::BufferReader>(
          arrow::Buffer::FromString(std::move(bytes)))));
  std::shared_ptr<arrow::RecordBatch> batch;
  ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
  if (batch == nullptr || batch->num_columns() != 1) {
    return arrow::Status::Invalid("expected one batch of one column");
  }
  return batch->column(0);
}

}  // namespace

std::string DtypeName(const arrow::Field& field) { return Get(field, kDtypeKey); }

DtypeFamily FamilyOf(const arrow::Field& field) {
  const std::string name = DtypeName(field);
  if (name == "category") return DtypeFamily::kCategory;
  if (name == "string" || name == "string[python]") return DtypeFamily::kText;
  if (IsMaskedName(name)) return DtypeFamily::kMasked;
  return name.ends_with(kArrowSuffix) ? DtypeFamily::kArrow : DtypeFamily::kPlain;
}

bool IsOpaque(const arrow::Field& field) { return !Get(field, kOpaqueKey).empty(); }

bool HasMissingLogic(DtypeFamily family) {
  return family == DtypeFamily::kText || family == DtypeFamily::kMasked ||
         family == DtypeFamily::kArrow;
}

std::string DtypeNameIn(DtypeFamily family, const arrow::DataType& type) {
  if (family == DtypeFamily::kArrow) return type.ToString() + kArrowSuffix;
  if (!HasMissingLogic(family)) return "";
  if (IsTextOrBytes(type)) return "string";
  switch (type.id()) {
    case arrow::Type::BOOL:
      return "boolean";
    case arrow::Type::FLOAT:
      return "Float32";
    case arrow::Type::DOUBLE:
      return "Float64";
    default:
      break;
  }
  if (!arrow::is_integer(type.id())) return "";
  const char* sign = arrow::is_unsigned_integer(type.id()) ? "UInt" : "Int";
  return sign + std::to_string(arrow::bit_width(type.id()));
}

FieldPointer WithDtype(const FieldPointer& field, const std::string& name) {
  auto metadata = WithoutDtype(*field);
  if (!name.empty()) metadata->Append(kDtypeKey, name);
  return WithMetadata(field, std::move(metadata));
}

std::vector<std::pair<std::string, std::string>> DtypePairs(const arrow::Field& field) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const char* key : kDtypeKeys) {
    auto value = Get(field, key);
    if (!value.empty()) pairs.emplace_back(key, std::move(value));
  }
  return pairs;
}

FieldPointer WithDtypePairs(
    const FieldPointer& field,
    const std::vector<std::pair<std::string, std::string>>& pairs) {
  auto metadata = WithoutDtype(*field);
  for (const auto& [key, value] : pairs) metadata->Append(key, value);
  return WithMetadata(field, std::move(metadata));
}

FieldPointer WithDtypeOf(const FieldPointer& field, const arrow::Field& other) {
  return WithDtypePairs(field, DtypePairs(other));
}

FieldPointer Renamed(const FieldPointer& field, const std::string& name) {
  if (field->name() == name) return field;
  auto renamed = field->WithName(name);
  return WithMetadata(renamed, Without(*field, {kLabelKey}));
}

FieldPointer InPlace(const FieldPointer& field, const std::string& name,
                     const arrow::Schema& input) {
  auto named = field->WithName(name);
  const auto replaced = input.GetFieldByName(name);
  const std::string label = replaced == nullptr ? "" : Get(*replaced, kLabelKey);
  if (label.empty()) return named;
  auto metadata = Without(*named, {kLabelKey});
  metadata->Append(kLabelKey, label);
  return WithMetadata(named, std::move(metadata));
}

FieldPointer WithUnmatchedRows(const FieldPointer& field) {
  const bool holds_objects =
      DtypeName(*field) == "object" || IsOpaque(*field) || HasArrayCells(*field->type());
  if (!holds_objects) return field;
  auto metadata = Without(*field, {kMissingKey});
  metadata->Append(kMissingKey, "nan");
  return WithMetadata(field, std::move(metadata));
}

FieldPointer AsObjects(const FieldPointer& field) {
  return WithUnmatchedRows(WithDtype(field, "object"));
}

arrow::Result<FieldPointer> WithCategories(
    const FieldPointer& field, const std::shared_ptr<arrow::Array>& categories,
    bool ordered) {
  auto schema = arrow::schema({arrow::field("categories", categories->type())});
  ARROW_ASSIGN_OR_RAISE(auto out, arrow::io::BufferOutputStream::Create());
  ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeStreamWriter(out, schema));
  ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(
      *arrow::RecordBatch::Make(schema, categories->length(), {categories})));
  ARROW_RETURN_NOT_OK(writer->Close());
  ARROW_ASSIGN_OR_RAISE(auto bytes, out->Finish());
  auto metadata = WithoutDtype(*field);
  metadata->Append(kDtypeKey, "category");
  metadata->Append(kCategoriesKey, arrow::util::base64_encode(std::string_view(*bytes)));
  if (ordered) metadata->Append(kOrderedKey, "1");
  return WithMetadata(field, std::move(metadata));
}

arrow::Result<std::shared_ptr<arrow::Array>> CategoriesOf(const arrow::Field& field) {
  auto categories = ReadCategories(Get(field, kCategoriesKey));
  if (categories.ok()) return categories;
  return arrow::Status::Invalid("The categories of column '", field.name(),
                                "' cannot be read: ", categories.status().message());
}

bool IsOrdered(const arrow::Field& field) { return Get(field, kOrderedKey) == "1"; }

arrow::Result<bool> SameCategories(const arrow::Field& left, const arrow::Field& right) {
  if (IsOrdered(left) != IsOrdered(right)) return false;
  if (Get(left, kCategoriesKey) == Get(right, kCategoriesKey)) return true;
  ARROW_ASSIGN_OR_RAISE(auto ours, CategoriesOf(left));
  ARROW_ASSIGN_OR_RAISE(auto theirs, CategoriesOf(right));
  if (ours->Equals(theirs)) return true;
  if (IsOrdered(left) || ours->length() != theirs->length() ||
      !ours->type()->Equals(*theirs->type())) {
    return false;
  }
  ARROW_ASSIGN_OR_RAISE(auto codes,
                        CategoryCodes(theirs, ours, arrow::default_memory_pool()));
  return codes->null_count() == 0;
}

arrow::Result<std::shared_ptr<arrow::Array>> CategoryCodes(
    const std::shared_ptr<arrow::Array>& values,
    const std::shared_ptr<arrow::Array>& categories, arrow::MemoryPool* pool) {
  arrow::compute::ExecContext exec(pool);
  exec.set_use_threads(false);
  auto plain = values;
  if (!values->type()->Equals(*categories->type())) {
    ARROW_ASSIGN_OR_RAISE(
        plain, arrow::compute::Cast(*values, categories->type(),
                                    arrow::compute::CastOptions::Safe(), &exec));
  }
  ARROW_ASSIGN_OR_RAISE(auto codes,
                        arrow::compute::IndexIn(
                            plain, arrow::compute::SetLookupOptions(categories), &exec));
  return codes.make_array();
}

arrow::Result<std::shared_ptr<arrow::Array>> SortValues(
    const std::shared_ptr<arrow::Array>& column, const arrow::Field& field,
    arrow::MemoryPool* pool) {
  if (FamilyOf(field) == DtypeFamily::kCategory) {
    ARROW_ASSIGN_OR_RAISE(auto categories, CategoriesOf(field));
    return CategoryCodes(column, categories, pool);
  }
  if (column->type_id() != arrow::Type::DICTIONARY) return column;
  return DecodeValues(static_cast<const arrow::DictionaryArray&>(*column), pool);
}

std::shared_ptr<arrow::DataType> ValueType(const std::shared_ptr<arrow::DataType>& type) {
  if (type->id() != arrow::Type::DICTIONARY) return type;
  return static_cast<const arrow::DictionaryType&>(*type).value_type();
}

}  // namespace xshards
