// SPDX-License-Identifier: Apache-2.0
#include "io/duration_text.h"

#include <utility>

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>

#include "io/number_text.h"

namespace xshards::io {

namespace {

constexpr int64_t kSecondsPerDay = 24 * 60 * 60;

int64_t TicksPerSecond(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return 1;
    case arrow::TimeUnit::MILLI:
      return 1'000;
    case arrow::TimeUnit::MICRO:
      return 1'000'000;
    default:
      return 1'000'000'000;
  }
}

/// Days, of which there may be less than none, and what is added to them.
struct DurationParts {
  DurationParts(int64_t ticks, arrow::TimeUnit::type unit) {
    const int64_t per_second = TicksPerSecond(unit);
    const int64_t per_day = per_second * kSecondsPerDay;
    int64_t rest = ticks % per_day;
    days = ticks / per_day;
    if (rest < 0) {
      rest += per_day;
      --days;
    }
    seconds = rest / per_second;
    nanoseconds = rest % per_second * (1'000'000'000 / per_second);
  }

  int64_t days;
  int64_t seconds;
  int64_t nanoseconds;
};

void AppendDigits(int64_t number, size_t width, std::string* out) {
  const std::string digits = std::to_string(number);
  out->append(width - digits.size(), '0');
  *out += digits;
}

/// Append a point and the digits of the part of a second, in the fewest of 3 (`least`),
/// 6 or 9; nothing if there is no such part.
void AppendFraction(int64_t nanoseconds, size_t least, std::string* out) {
  if (nanoseconds == 0) return;
  size_t width = 9;
  while (width > least && nanoseconds % 1'000 == 0) {
    nanoseconds /= 1'000;
    width -= 3;
  }
  *out += '.';
  AppendDigits(nanoseconds, width, out);
}

/// A writer of a file that holds durations as text.
class DurationTextWriter final : public FileWriter {
 public:
  DurationTextWriter(std::unique_ptr<FileWriter> file,
                     std::shared_ptr<arrow::Schema> schema, arrow::MemoryPool* pool)
      : file_(std::move(file)), schema_(std::move(schema)), pool_(pool) {}

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    arrow::ArrayVector columns = batch.columns();
    for (auto& column : columns) {
      if (column->type_id() != arrow::Type::DURATION) continue;
      ARROW_ASSIGN_OR_RAISE(column, TextOf(*column));
    }
    return file_->Write(
        *arrow::RecordBatch::Make(schema_, batch.num_rows(), std::move(columns)));
  }

  arrow::Status Finish() override { return file_->Finish(); }

 private:
  arrow::Result<std::shared_ptr<arrow::Array>> TextOf(const arrow::Array& column) {
    const auto& durations = static_cast<const arrow::DurationArray&>(column);
    const auto unit = static_cast<const arrow::DurationType&>(*column.type()).unit();
    arrow::LargeStringBuilder texts(pool_);
    ARROW_RETURN_NOT_OK(texts.Reserve(column.length()));
    std::string text;
    for (int64_t i = 0; i < column.length(); ++i) {
      if (column.IsNull(i)) {
        ARROW_RETURN_NOT_OK(texts.AppendNull());
        continue;
      }
      text.clear();
      AppendDuration(durations.Value(i), unit, &text);
      ARROW_RETURN_NOT_OK(texts.Append(text));
    }
    return texts.Finish();
  }

  const std::unique_ptr<FileWriter> file_;
  const std::shared_ptr<arrow::Schema> schema_;
  arrow::MemoryPool* const pool_;
};

}  // namespace

void AppendDuration(int64_t ticks, arrow::TimeUnit::type unit, std::string* out) {
  const DurationParts parts(ticks, unit);
  AppendInteger(parts.days, out);
  *out += parts.days < 0 ? " days +" : " days ";
  AppendDigits(parts.seconds / 3600, 2, out);
  *out += ':';
  AppendDigits(parts.seconds / 60 % 60, 2, out);
  *out += ':';
  AppendDigits(parts.seconds % 60, 2, out);
  AppendFraction(parts.nanoseconds, /*least=*/6, out);
}

void AppendIsoDuration(int64_t ticks, arrow::TimeUnit::type unit, std::string* out) {
  const DurationParts parts(ticks, unit);
  *out += 'P';
  AppendInteger(parts.days, out);
  *out += "DT";
  AppendInteger(parts.seconds / 3600, out);
  *out += 'H';
  AppendInteger(parts.seconds / 60 % 60, out);
  *out += 'M';
  AppendInteger(parts.seconds % 60, out);
  AppendFraction(parts.nanoseconds, /*least=*/3, out);
  *out += 'S';
}

OpenWriter WithDurationsAsText(OpenWriter open) {
  return
      [open = std::move(open)](
          const std::shared_ptr<arrow::Schema>& schema,
          const std::shared_ptr<arrow::io::OutputStream>& file, const OptionMap& options,
          arrow::MemoryPool* pool) -> arrow::Result<std::unique_ptr<FileWriter>> {
        arrow::FieldVector fields;
        bool has_durations = false;
        for (const auto& field : schema->fields()) {
          const bool is_duration = field->type()->id() == arrow::Type::DURATION;
          has_durations = has_durations || is_duration;
          fields.push_back(is_duration ? field->WithType(arrow::large_utf8()) : field);
        }
        if (!has_durations) return open(schema, file, options, pool);
        auto written = arrow::schema(std::move(fields), schema->metadata());
        ARROW_ASSIGN_OR_RAISE(auto writer, open(written, file, options, pool));
        return std::make_unique<DurationTextWriter>(std::move(writer), std::move(written),
                                                    pool);
      };
}

}  // namespace xshards::io
