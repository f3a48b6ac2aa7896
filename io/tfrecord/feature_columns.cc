// SPDX-License-Identifier: Apache-2.0
#include "io/tfrecord/feature_columns.h"

#include <utility>

#include <arrow/array.h>
#include <arrow/array/data.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

namespace xshards::io {
namespace {

std::shared_ptr<arrow::DataType> ValueTypeOf(FeatureKind kind) {
  switch (kind) {
    case FeatureKind::kBytes:
      return arrow::large_binary();
    case FeatureKind::kFloat:
      return arrow::float32();
    case FeatureKind::kInt64:
      return arrow::int64();
    case FeatureKind::kNone:
      break;
  }
  return arrow::null();
}

FeatureKind KindFor(const arrow::DataType& type) {
  if (arrow::is_base_binary_like(type.id())) return FeatureKind::kBytes;
  if (arrow::is_floating(type.id())) return FeatureKind::kFloat;
  if (arrow::is_integer(type.id()) || type.id() == arrow::Type::BOOL) {
    return FeatureKind::kInt64;
  }
  return FeatureKind::kNone;
}

}  // namespace

std::shared_ptr<arrow::DataType> FeatureForm::type() const {
  auto value = ValueTypeOf(kind);
  return is_list ? arrow::list(std::move(value)) : value;
}

std::optional<FeatureForm> FormFor(const arrow::DataType& type) {
  FeatureForm form;
  form.is_list = arrow::is_list(type.id());
  form.kind = KindFor(form.is_list ? *type.field(0)->type() : type);
  if (form.kind == FeatureKind::kNone) return std::nullopt;
  return form;
}

FeatureColumn::FeatureColumn(FeatureForm form, arrow::MemoryPool* pool,
                             int64_t max_values)
    : form_(form),
      max_values_(max_values),
      validity_(pool),
      list_offsets_(pool),
      text_offsets_(pool),
      values_(pool) {}

int64_t FeatureColumn::num_values() const {
  switch (form_.kind) {
    case FeatureKind::kBytes:
      return text_offsets_.length();
    case FeatureKind::kFloat:
      return values_.length() / static_cast<int64_t>(sizeof(float));
    default:
      return values_.length() / static_cast<int64_t>(sizeof(int64_t));
  }
}

arrow::Status FeatureColumn::AppendValues(const Feature& feature, int64_t* count,
                                          bool* is_valid) {
  arrow::Status status;
  // Nothing is allocated after a failure, however many values follow.
  const auto add = [&](auto&&... value) {
    if (status.ok() && !HasTooManyValues()) status = values_.Append(value...);
  };
  const int64_t before = num_values();
  switch (form_.kind) {
    case FeatureKind::kBytes:
      *is_valid = ForEachBytes(feature.list, [&](std::string_view value) {
        if (status.ok()) status = text_offsets_.Append(values_.length());
        add(value);
      });
      break;
    case FeatureKind::kFloat:
      *is_valid =
          ForEachFloats(feature.list, [&](std::string_view values) { add(values); });
      break;
    default:
      *is_valid =
          ForEachInt64(feature.list, [&](int64_t value) { add(&value, sizeof(value)); });
  }
  *count = num_values() - before;
  return status;
}

arrow::Status FeatureColumn::EndRow(bool is_present) {
  ++num_rows_;
  return validity_.Append(is_present);
}

FeatureColumn::Outcome FeatureColumn::Append(const Feature& feature) {
  if (feature.kind == FeatureKind::kNone) {
    return FillTo(num_rows_ + 1).ok() ? Outcome::kOk : Outcome::kNoMemory;
  }
  if (feature.kind != form_.kind) return Outcome::kOtherKind;
  if (form_.is_list && !list_offsets_.Append(static_cast<int32_t>(num_values())).ok()) {
    return Outcome::kNoMemory;
  }
  int64_t count = 0;
  bool is_valid = false;
  if (!AppendValues(feature, &count, &is_valid).ok()) return Outcome::kNoMemory;
  if (!is_valid) return Outcome::kDamaged;
  if (HasTooManyValues()) return Outcome::kTooManyValues;
  if (!form_.is_list && count != 1) return Outcome::kNotOneValue;
  return EndRow(true).ok() ? Outcome::kOk : Outcome::kNoMemory;
}

arrow::Status FeatureColumn::FillTo(int64_t num_rows) {
  while (num_rows_ < num_rows) {
    if (form_.is_list) {
      ARROW_RETURN_NOT_OK(list_offsets_.Append(static_cast<int32_t>(num_values())));
    } else if (form_.kind == FeatureKind::kBytes) {
      ARROW_RETURN_NOT_OK(text_offsets_.Append(values_.length()));
    } else {
      constexpr int64_t kZero = 0;
      ARROW_RETURN_NOT_OK(values_.Append(
          &kZero, form_.kind == FeatureKind::kFloat ? sizeof(float) : sizeof(int64_t)));
    }
    ARROW_RETURN_NOT_OK(EndRow(false));
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::Array>> FeatureColumn::Finish() {
  const int64_t count = num_values();
  const int64_t num_rows = std::exchange(num_rows_, 0);
  const int64_t null_count = validity_.false_count();
  std::shared_ptr<arrow::Buffer> validity;
  ARROW_RETURN_NOT_OK(validity_.Finish(&validity));
  if (null_count == 0) validity = nullptr;
  arrow::BufferVector buffers = {nullptr};
  if (form_.kind == FeatureKind::kBytes) {
    ARROW_RETURN_NOT_OK(text_offsets_.Append(values_.length()));
    std::shared_ptr<arrow::Buffer> offsets;
    ARROW_RETURN_NOT_OK(text_offsets_.Finish(&offsets));
    buffers.push_back(std::move(offsets));
  }
  std::shared_ptr<arrow::Buffer> values;
  ARROW_RETURN_NOT_OK(values_.Finish(&values));
  buffers.push_back(std::move(values));
  const auto value_type = ValueTypeOf(form_.kind);
  if (!form_.is_list) {
    buffers[0] = std::move(validity);
    return arrow::MakeArray(
        arrow::ArrayData::Make(value_type, num_rows, std::move(buffers), null_count));
  }
  ARROW_RETURN_NOT_OK(list_offsets_.Append(static_cast<int32_t>(count)));
  std::shared_ptr<arrow::Buffer> offsets;
  ARROW_RETURN_NOT_OK(list_offsets_.Finish(&offsets));
  auto child = arrow::ArrayData::Make(value_type, count, std::move(buffers), 0);
  return arrow::MakeArray(arrow::ArrayData::Make(
      form_.type(), num_rows, {std::move(validity), std::move(offsets)},
      {std::move(child)}, null_count));
}

FeatureColumns::FeatureColumns(const arrow::Schema& known, const arrow::Schema& wanted,
                               bool is_strict, arrow::MemoryPool* pool)
    : is_strict_(is_strict) {
  known_.reserve(static_cast<size_t>(known.num_fields() + wanted.num_fields()));
  const auto add = [&](const std::string& name, int column) {
    known_.push_back({name, column});
    places_.emplace(known_.back().name, known_.size() - 1);
  };
  for (const auto& field : wanted.fields()) {
    const FeatureForm form = FormFor(*field->type()).value_or(FeatureForm{});
    add(field->name(), static_cast<int>(columns_.size()));
    columns_.emplace_back(form, pool);
    fields_.push_back(arrow::field(field->name(), form.type()));
  }
  for (const auto& name : known.field_names()) {
    if (!places_.contains(name)) add(name, kNotWanted);
  }
}

const FeatureColumns::Known* FeatureColumns::Find(std::string_view name,
                                                  size_t position) const {
  // Records usually have the same features in the same order.
  if (position < order_.size() && known_[order_[position]].name == name) {
    return &known_[order_[position]];
  }
  const auto found = places_.find(name);
  if (found == places_.end()) return nullptr;
  if (position >= order_.size()) order_.resize(position + 1);
  order_[position] = found->second;
  return &known_[found->second];
}

std::optional<FeatureColumns::Fault> FeatureColumns::Append(std::string_view example) {
  ExampleReader reader(example);
  Feature feature;
  for (size_t position = 0;; ++position) {
    const auto outcome = reader.Next(&feature);
    if (outcome == ExampleReader::Outcome::kEnd) break;
    if (outcome == ExampleReader::Outcome::kSequence) return Fault{Fault::kSequence};
    if (outcome == ExampleReader::Outcome::kDamaged) return Fault{Fault::kDamaged};
    const Known* known = Find(feature.name, position);
    if (known == nullptr && is_strict_) {
      return Fault{Fault::kUnknown, std::string(feature.name)};
    }
    if (known == nullptr || known->column == kNotWanted) continue;
    FeatureColumn& column = columns_[static_cast<size_t>(known->column)];
    if (column.num_rows() > num_rows_) {
      return Fault{Fault::kMismatch, known->name, "occurs twice"};
    }
    switch (column.Append(feature)) {
      case FeatureColumn::Outcome::kOk:
        break;
      case FeatureColumn::Outcome::kDamaged:
        return Fault{Fault::kDamaged, known->name};
      case FeatureColumn::Outcome::kTooManyValues:
        return Fault{Fault::kTooManyValues, known->name};
      case FeatureColumn::Outcome::kNoMemory:
        return Fault{Fault::kNoMemory, known->name};
      case FeatureColumn::Outcome::kOtherKind:
        return Fault{Fault::kMismatch, known->name,
                     std::string("holds ") + ToString(feature.kind)};
      case FeatureColumn::Outcome::kNotOneValue:
        return Fault{Fault::kMismatch, known->name,
                     "has " + std::to_string(CountValues(feature)) + " values"};
    }
  }
  ++num_rows_;
  for (auto& column : columns_) {
    if (column.num_rows() < num_rows_ && !column.FillTo(num_rows_).ok()) {
      return Fault{Fault::kNoMemory};
    }
  }
  return std::nullopt;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> FeatureColumns::Finish() {
  arrow::ArrayVector arrays;
  for (auto& column : columns_) {
    ARROW_ASSIGN_OR_RAISE(auto array, column.Finish());
    arrays.push_back(std::move(array));
  }
  return arrow::RecordBatch::Make(arrow::schema(fields_), std::exchange(num_rows_, 0),
                                  std::move(arrays));
}

}  // namespace xshards::io
