// SPDX-License-Identifier: Apache-2.0
#include "io/csv/writer.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/record_batch.h>

#include "io/text/number_formatting.h"
#include "io/text/time_formatting.h"
#include "io/text/time_precision.h"
#include "io/text/zone_offsets.h"
#include "xshards/types/row_bytes.h"

namespace xshards::io {
namespace {

constexpr size_t kFlushBytes = 1 << 20;
// Bytes of buffered rows: long texts are not held, whatever their number.
constexpr int64_t kHeldBytes = 2 << 20;
// Batches of buffered rows, such as the few that each of many files gets at a time: more
// are concatenated.
constexpr size_t kHeldPieces = 16;
// The overhead of a column of a batch.
constexpr int64_t kColumnBytes = 512;

template <typename ArrayType>
auto ValueAt(const arrow::Array& array, int64_t row) {
  return static_cast<const ArrayType&>(array).GetView(row);
}

// The type to which a column is cast so that AppendValue() can format its values.
std::shared_ptr<arrow::DataType> PrintableType(
    const std::shared_ptr<arrow::DataType>& type) {
  switch (type->id()) {
    case arrow::Type::NA:
    case arrow::Type::BOOL:
    case arrow::Type::INT64:
    case arrow::Type::UINT64:
    case arrow::Type::FLOAT:
    case arrow::Type::DOUBLE:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
      return type;
    case arrow::Type::INT8:
    case arrow::Type::INT16:
    case arrow::Type::INT32:
    case arrow::Type::UINT8:
    case arrow::Type::UINT16:
    case arrow::Type::UINT32:
      return arrow::int64();
    case arrow::Type::HALF_FLOAT:
      return arrow::float32();
    default:
      return arrow::large_utf8();
  }
}

// The number of rows that pandas formats together; nullopt if that makes no difference.
std::optional<int64_t> ChunkRows(const arrow::Schema& schema) {
  constexpr int64_t kChunkValues = 100'000;
  const auto& fields = schema.fields();
  if (std::none_of(fields.begin(), fields.end(),
                   [](const auto& field) { return HasPrecision(*field->type()); })) {
    return std::nullopt;
  }
  return std::max<int64_t>(kChunkValues / schema.num_fields(), 1);
}

// A column of the rows being written.
struct PrintedColumn {
  std::shared_ptr<arrow::Array> values;
  TimePrecision precision = TimePrecision::kDay;  // of times and durations
  std::vector<int32_t> offsets = {};              // of times, see ZoneOffsets()
};

class CsvWriter final : public FileWriter {
 public:
  CsvWriter(std::shared_ptr<arrow::io::OutputStream> file, const arrow::Schema& schema,
            char sep, std::string na_rep, arrow::MemoryPool* pool)
      : file_(std::move(file)),
        sep_(sep),
        na_rep_(std::move(na_rep)),
        context_(pool),
        chunk_rows_(ChunkRows(schema)),
        precisions_(static_cast<size_t>(schema.num_fields())) {
    context_.set_use_threads(false);
  }

  arrow::Status WriteHeader(const arrow::Schema& schema) {
    for (int i = 0; i < schema.num_fields(); ++i) {
      if (i > 0) text_ += sep_;
      AppendText(schema.field(i)->name());
    }
    text_ += '\n';
    return Flush();
  }

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    if (!chunk_rows_.has_value()) return WriteRows(batch);
    for (int64_t row = 0; row < batch.num_rows();) {
      const int64_t count = std::min(batch.num_rows() - row, *chunk_rows_ - seen_rows_);
      ARROW_RETURN_NOT_OK(Hold(batch.Slice(row, count)));
      seen_rows_ += count;
      row += count;
      const bool is_chunk = seen_rows_ == *chunk_rows_;
      if (is_chunk || held_bytes_ > kHeldBytes) ARROW_RETURN_NOT_OK(WriteHeld());
      if (is_chunk) StartChunk();
    }
    return arrow::Status::OK();
  }

  arrow::Status Finish() override {
    ARROW_RETURN_NOT_OK(WriteHeld());
    return Flush();
  }

  int64_t held_bytes() const override {
    const auto num_columns = static_cast<int64_t>(held_.size() * precisions_.size());
    return held_bytes_ + num_columns * kColumnBytes +
           static_cast<int64_t>(text_.capacity());
  }

  arrow::Status Release() override {
    ARROW_RETURN_NOT_OK(Finish());
    text_.shrink_to_fit();
    return arrow::Status::OK();
  }

 private:
  void StartChunk() {
    seen_rows_ = 0;
    std::fill(precisions_.begin(), precisions_.end(), TimePrecision::kDay);
  }

  arrow::Status Hold(std::shared_ptr<arrow::RecordBatch> rows) {
    for (int i = 0; i < rows->num_columns(); ++i) {
      if (!HasPrecision(*rows->column(i)->type())) continue;
      auto& precision = precisions_[static_cast<size_t>(i)];
      precision = std::max(precision, PrecisionOf(*rows->column(i)));
    }
    held_bytes_ += RowBytes(*rows);
    held_.push_back(std::move(rows));
    if (held_.size() < kHeldPieces) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto whole,
                          arrow::ConcatenateRecordBatches(held_, context_.memory_pool()));
    held_ = {std::move(whole)};
    return arrow::Status::OK();
  }

  arrow::Status WriteHeld() {
    for (const auto& rows : std::exchange(held_, {})) {
      ARROW_RETURN_NOT_OK(WriteRows(*rows));
    }
    held_bytes_ = 0;
    return arrow::Status::OK();
  }

  arrow::Result<PrintedColumn> Printed(const std::shared_ptr<arrow::Array>& values,
                                       TimePrecision precision) {
    PrintedColumn column{.values = values, .precision = precision};
    const auto type = PrintableType(values->type());
    if (!type->Equals(*values->type())) {
      ARROW_ASSIGN_OR_RAISE(
          column.values,
          arrow::compute::Cast(*values, type, arrow::compute::CastOptions::Unsafe(),
                               &context_));
    } else if (type->id() == arrow::Type::TIMESTAMP) {
      const auto& times = static_cast<const arrow::TimestampArray&>(*values);
      ARROW_ASSIGN_OR_RAISE(column.offsets, ZoneOffsets(times, &context_));
    }
    return column;
  }

  arrow::Status WriteRows(const arrow::RecordBatch& batch) {
    std::vector<PrintedColumn> columns;
    for (int i = 0; i < batch.num_columns(); ++i) {
      auto column = Printed(batch.column(i), precisions_[static_cast<size_t>(i)]);
      if (!column.ok()) {
        return column.status().WithMessage("Could not write column '",
                                           batch.column_name(i),
                                           "' as CSV: ", column.status().message());
      }
      columns.push_back(std::move(column).ValueUnsafe());
    }
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      const size_t begin = text_.size();
      for (size_t i = 0; i < columns.size(); ++i) {
        if (i > 0) text_ += sep_;
        AppendValue(columns[i], row);
      }
      // A line without a character would be skipped as empty when it is read.
      if (text_.size() == begin) text_ += "\"\"";
      text_ += '\n';
      if (text_.size() >= kFlushBytes) ARROW_RETURN_NOT_OK(Flush());
    }
    return arrow::Status::OK();
  }

  arrow::Status Flush() {
    ARROW_RETURN_NOT_OK(file_->Write(text_));
    text_.clear();
    return arrow::Status::OK();
  }

  void AppendValue(const PrintedColumn& printed, int64_t row) {
    const arrow::Array& column = *printed.values;
    if (column.IsNull(row)) {
      text_ += na_rep_;
      return;
    }
    switch (column.type_id()) {
      case arrow::Type::BOOL:
        text_ += ValueAt<arrow::BooleanArray>(column, row) ? "True" : "False";
        return;
      case arrow::Type::INT64:
        AppendInteger(ValueAt<arrow::Int64Array>(column, row), &text_);
        return;
      case arrow::Type::UINT64:
        AppendInteger(ValueAt<arrow::UInt64Array>(column, row), &text_);
        return;
      case arrow::Type::FLOAT:
        AppendNumber(ValueAt<arrow::FloatArray>(column, row));
        return;
      case arrow::Type::DOUBLE:
        AppendNumber(ValueAt<arrow::DoubleArray>(column, row));
        return;
      case arrow::Type::DATE32:
      case arrow::Type::DATE64:
      case arrow::Type::TIMESTAMP:
      case arrow::Type::DURATION:
        time_.clear();
        AppendTimeOf(printed, row, &time_);
        AppendText(time_);
        return;
      default:
        AppendText(ValueAt<arrow::LargeStringArray>(column, row));
    }
  }

  static void AppendTimeOf(const PrintedColumn& printed, int64_t row, std::string* out) {
    const arrow::Array& column = *printed.values;
    switch (column.type_id()) {
      case arrow::Type::DATE32:
        AppendDay(ValueAt<arrow::Date32Array>(column, row), out);
        return;
      case arrow::Type::DATE64:
        AppendTime(ValueAt<arrow::Date64Array>(column, row), arrow::TimeUnit::MILLI,
                   TimePrecision::kDay, out);
        return;
      case arrow::Type::TIMESTAMP: {
        const auto& type = static_cast<const arrow::TimestampType&>(*column.type());
        const int64_t ticks = ValueAt<arrow::TimestampArray>(column, row);
        if (type.timezone().empty()) {
          AppendTime(ticks, type.unit(), printed.precision, out);
        } else {
          AppendZonedTime(ticks, type.unit(), printed.precision,
                          printed.offsets[static_cast<size_t>(row)], out);
        }
        return;
      }
      default:
        AppendDuration(ValueAt<arrow::DurationArray>(column, row),
                       static_cast<const arrow::DurationType&>(*column.type()).unit(),
                       printed.precision, out);
    }
  }

  template <typename T>
  void AppendNumber(T value) {
    if (std::isnan(value)) {
      text_ += na_rep_;
    } else {
      AppendFloat(value, &text_);
    }
  }

  void AppendText(std::string_view value) {
    const char special[] = {sep_, '"', '\n', '\r'};
    // Empty text is quoted, to distinguish it from a missing value for readers that can.
    if (!value.empty() && value.find_first_of(std::string_view(
                              special, sizeof(special))) == std::string_view::npos) {
      text_ += value;
      return;
    }
    text_ += '"';
    for (const char c : value) {
      if (c == '"') text_ += '"';
      text_ += c;
    }
    text_ += '"';
  }

  std::shared_ptr<arrow::io::OutputStream> file_;
  const char sep_;
  const std::string na_rep_;
  arrow::compute::ExecContext context_;
  std::string text_;                         // written, not yet in the file
  std::string time_;                         // scratch
  const std::optional<int64_t> chunk_rows_;  // formatted together, if there are times
  int64_t seen_rows_ = 0;                    // of them
  arrow::RecordBatchVector held_;            // not written yet
  int64_t held_bytes_ = 0;
  std::vector<TimePrecision> precisions_;  // of columns of times, in this chunk
};

}  // namespace

FormatOptionsPointer MakeWriterOptions(const CsvWriterOptions& options) {
  return MakeOptions(options);
}

arrow::Result<std::unique_ptr<FileWriter>> OpenCsvWriter(
    const std::shared_ptr<arrow::Schema>& schema,
    const std::shared_ptr<arrow::io::OutputStream>& file, const CsvWriterOptions& options,
    arrow::MemoryPool* pool) {
  for (const auto& field : schema->fields()) {
    const auto& type = field->type();
    const auto printable = PrintableType(type);
    if (printable->Equals(*type)) continue;
    const bool is_bytes =
        arrow::is_base_binary_like(type->id()) && !arrow::is_string(type->id());
    if (is_bytes || !arrow::compute::CanCast(*type, *printable) ||
        arrow::is_nested(type->id())) {
      return arrow::Status::TypeError("CSV cannot hold column '", field->name(), "' of ",
                                      type->ToString(), "; write Parquet or IPC");
    }
  }
  auto writer =
      std::make_unique<CsvWriter>(file, *schema, options.sep, options.na_rep, pool);
  if (options.header) ARROW_RETURN_NOT_OK(writer->WriteHeader(*schema));
  return writer;
}

}  // namespace xshards::io
