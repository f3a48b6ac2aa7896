// SPDX-License-Identifier: Apache-2.0
#include "io/json/writer.h"

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/compute/exec.h>
#include <arrow/scalar.h>
#include <arrow/util/float16.h>

#include "io/json/structure.h"
#include "io/text/json_escape.h"
#include "io/text/number_formatting.h"
#include "io/text/time_formatting.h"
#include "io/text/time_precision.h"
#include "io/text/zone_offsets.h"

namespace xshards::io {
namespace {

constexpr size_t kFlushBytes = 1 << 20;

template <typename T>
void AppendNumber(T value, std::string* out) {
  if (std::isfinite(value)) {
    AppendFloat(value, out);
  } else {
    *out += "null";
  }
}

arrow::Status AppendTime(const arrow::TimestampArray& times, int64_t row,
                         std::string* out) {
  const auto& type = static_cast<const arrow::TimestampType&>(*times.type());
  const auto precision = FinestOf(type.unit());
  *out += '"';
  if (type.timezone().empty()) {
    AppendTime(times.Value(row), type.unit(), precision, out);
  } else if (type.timezone() == "UTC") {
    AppendTime(times.Value(row), type.unit(), precision, out);
    *out += 'Z';
  } else {
    const auto one = times.Slice(row, 1);
    ARROW_ASSIGN_OR_RAISE(const auto offsets,
                          ZoneOffsets(static_cast<const arrow::TimestampArray&>(*one),
                                      arrow::compute::default_exec_context()));
    AppendZonedTime(times.Value(row), type.unit(), precision, offsets[0], out);
  }
  *out += '"';
  return arrow::Status::OK();
}

arrow::Status AppendValue(const arrow::Array& array, int64_t row, std::string* out);

arrow::Status AppendList(const arrow::Array& values, int64_t begin, int64_t end,
                         std::string* out) {
  *out += '[';
  for (int64_t i = begin; i < end; ++i) {
    if (i > begin) *out += ',';
    ARROW_RETURN_NOT_OK(AppendValue(values, i, out));
  }
  *out += ']';
  return arrow::Status::OK();
}

template <typename ListArray>
arrow::Status AppendList(const arrow::Array& array, int64_t row, std::string* out) {
  const auto& list = static_cast<const ListArray&>(array);
  const int64_t begin = list.value_offset(row);
  return AppendList(*list.values(), begin, begin + list.value_length(row), out);
}

arrow::Status AppendObject(const arrow::StructArray& object, int64_t row,
                           std::string* out) {
  *out += '{';
  for (int i = 0; i < object.num_fields(); ++i) {
    if (i > 0) *out += ',';
    AppendJsonString(object.type()->field(i)->name(), out);
    *out += ':';
    ARROW_RETURN_NOT_OK(AppendValue(*object.field(i), row, out));
  }
  *out += '}';
  return arrow::Status::OK();
}

template <typename ArrayType>
auto ValueAt(const arrow::Array& array, int64_t row) {
  return static_cast<const ArrayType&>(array).GetView(row);
}

arrow::Status AppendValue(const arrow::Array& array, int64_t row, std::string* out) {
  if (array.IsNull(row)) {
    *out += "null";
    return arrow::Status::OK();
  }
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      *out += ValueAt<arrow::BooleanArray>(array, row) ? "true" : "false";
      break;
    case arrow::Type::INT8:
      AppendInteger(ValueAt<arrow::Int8Array>(array, row), out);
      break;
    case arrow::Type::INT16:
      AppendInteger(ValueAt<arrow::Int16Array>(array, row), out);
      break;
    case arrow::Type::INT32:
      AppendInteger(ValueAt<arrow::Int32Array>(array, row), out);
      break;
    case arrow::Type::INT64:
      AppendInteger(ValueAt<arrow::Int64Array>(array, row), out);
      break;
    case arrow::Type::UINT8:
      AppendInteger(ValueAt<arrow::UInt8Array>(array, row), out);
      break;
    case arrow::Type::UINT16:
      AppendInteger(ValueAt<arrow::UInt16Array>(array, row), out);
      break;
    case arrow::Type::UINT32:
      AppendInteger(ValueAt<arrow::UInt32Array>(array, row), out);
      break;
    case arrow::Type::UINT64:
      AppendInteger(ValueAt<arrow::UInt64Array>(array, row), out);
      break;
    case arrow::Type::HALF_FLOAT:
      AppendNumber(
          arrow::util::Float16::FromBits(ValueAt<arrow::HalfFloatArray>(array, row))
              .ToFloat(),
          out);
      break;
    case arrow::Type::FLOAT:
      AppendNumber(ValueAt<arrow::FloatArray>(array, row), out);
      break;
    case arrow::Type::DOUBLE:
      AppendNumber(ValueAt<arrow::DoubleArray>(array, row), out);
      break;
    case arrow::Type::STRING:
      AppendJsonString(ValueAt<arrow::StringArray>(array, row), out);
      break;
    case arrow::Type::LARGE_STRING:
      AppendJsonString(ValueAt<arrow::LargeStringArray>(array, row), out);
      break;
    case arrow::Type::DATE32:
      *out += '"';
      AppendDay(ValueAt<arrow::Date32Array>(array, row), out);
      *out += '"';
      break;
    case arrow::Type::TIMESTAMP:
      return AppendTime(static_cast<const arrow::TimestampArray&>(array), row, out);
    case arrow::Type::DURATION:
      *out += '"';
      AppendIsoDuration(ValueAt<arrow::DurationArray>(array, row),
                        static_cast<const arrow::DurationType&>(*array.type()).unit(),
                        out);
      *out += '"';
      break;
    case arrow::Type::LIST:
      return AppendList<arrow::ListArray>(array, row, out);
    case arrow::Type::LARGE_LIST:
      return AppendList<arrow::LargeListArray>(array, row, out);
    case arrow::Type::FIXED_SIZE_LIST:
      return AppendList<arrow::FixedSizeListArray>(array, row, out);
    case arrow::Type::STRUCT:
      return AppendObject(static_cast<const arrow::StructArray&>(array), row, out);
    case arrow::Type::DICTIONARY: {
      const auto& dictionary = static_cast<const arrow::DictionaryArray&>(array);
      return AppendValue(*dictionary.dictionary(), dictionary.GetValueIndex(row), out);
    }
    default: {
      ARROW_ASSIGN_OR_RAISE(const auto scalar, array.GetScalar(row));
      AppendJsonString(scalar->ToString(), out);
    }
  }
  return arrow::Status::OK();
}

bool CanWrite(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::FIXED_SIZE_LIST:
    case arrow::Type::STRUCT:
      for (const auto& field : type.fields()) {
        if (!CanWrite(*field->type())) return false;
      }
      return true;
    case arrow::Type::DICTIONARY:
      return CanWrite(*static_cast<const arrow::DictionaryType&>(type).value_type());
    default:
      return type.id() == arrow::Type::NA || arrow::is_primitive(type.id()) ||
             arrow::is_string(type.id()) || arrow::is_decimal(type.id());
  }
}

class JsonWriter final : public FileWriter {
 public:
  JsonWriter(const arrow::Schema& schema, std::shared_ptr<arrow::io::OutputStream> file)
      : file_(std::move(file)) {
    for (const auto& field : schema.fields()) {
      std::string key = keys_.empty() ? "{" : ",";
      AppendJsonString(field->name(), &key);
      keys_.push_back(key + ":");
      is_json_.push_back(IsJsonText(*field));
    }
  }

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    const auto& columns = batch.columns();
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      if (columns.empty()) text_ += '{';
      for (size_t i = 0; i < columns.size(); ++i) {
        text_ += keys_[i];
        if (is_json_[i] && columns[i]->IsValid(row)) {
          text_ += static_cast<const arrow::LargeStringArray&>(*columns[i]).GetView(row);
        } else {
          const auto status = AppendValue(*columns[i], row, &text_);
          if (!status.ok()) {
            return status.WithMessage("Could not write column '",
                                      batch.column_name(static_cast<int>(i)),
                                      "' as JSON: ", status.message());
          }
        }
      }
      text_ += "}\n";
      if (text_.size() >= kFlushBytes) ARROW_RETURN_NOT_OK(Finish());
    }
    return arrow::Status::OK();
  }

  int64_t held_bytes() const override { return static_cast<int64_t>(text_.capacity()); }

  arrow::Status Release() override {
    ARROW_RETURN_NOT_OK(Finish());
    text_.shrink_to_fit();
    return arrow::Status::OK();
  }

  arrow::Status Finish() override {
    ARROW_RETURN_NOT_OK(file_->Write(text_));
    text_.clear();
    return arrow::Status::OK();
  }

 private:
  std::shared_ptr<arrow::io::OutputStream> file_;
  std::vector<std::string> keys_;  // with the punctuation around them
  std::vector<bool> is_json_;      // columns whose text is already JSON
  std::string text_;               // written, not yet in the file
};

}  // namespace

arrow::Result<std::unique_ptr<FileWriter>> OpenJsonWriter(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file, const NoOptions& /*options*/,
    arrow::MemoryPool* /*pool*/) {
  for (const auto& field : schema->fields()) {
    if (!CanWrite(*field->type())) {
      return arrow::Status::TypeError("JSON cannot hold column '", field->name(), "' of ",
                                      field->type()->ToString(),
                                      "; write Parquet or IPC");
    }
  }
  return std::make_unique<JsonWriter>(*schema, file);
}

}  // namespace xshards::io
