// SPDX-License-Identifier: Apache-2.0
#include "io/time_precision.h"

#include <string>

#include <arrow/array/builder_binary.h>
#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>

#include "io/duration_text.h"

namespace xshards::io {

namespace cp = arrow::compute;

namespace {

// How many steps of a precision a day has.
int64_t StepsPerDay(TimePrecision precision) {
  constexpr int64_t kSecondsPerDay = 24 * 60 * 60;
  constexpr int64_t kSteps[] = {1, kSecondsPerDay, kSecondsPerDay * 1'000,
                                kSecondsPerDay * 1'000'000,
                                kSecondsPerDay * 1'000'000'000};
  return kSteps[static_cast<size_t>(precision)];
}

TimePrecision FinestOf(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return TimePrecision::kSecond;
    case arrow::TimeUnit::MILLI:
      return TimePrecision::kMilli;
    case arrow::TimeUnit::MICRO:
      return TimePrecision::kMicro;
    default:
      return TimePrecision::kNano;
  }
}

arrow::TimeUnit::type UnitOf(TimePrecision precision) {
  switch (precision) {
    case TimePrecision::kDay:
    case TimePrecision::kSecond:
      return arrow::TimeUnit::SECOND;
    case TimePrecision::kMilli:
      return arrow::TimeUnit::MILLI;
    case TimePrecision::kMicro:
      return arrow::TimeUnit::MICRO;
    default:
      return arrow::TimeUnit::NANO;
  }
}

arrow::TimeUnit::type UnitOf(const arrow::DataType& type) {
  return type.id() == arrow::Type::DURATION
             ? static_cast<const arrow::DurationType&>(type).unit()
             : static_cast<const arrow::TimestampType&>(type).unit();
}

arrow::Result<std::shared_ptr<arrow::Array>> DurationsAsText(const arrow::Array& times,
                                                             TimePrecision precision,
                                                             arrow::MemoryPool* pool) {
  const auto& durations = static_cast<const arrow::DurationArray&>(times);
  const auto unit = UnitOf(*times.type());
  arrow::LargeStringBuilder texts(pool);
  ARROW_RETURN_NOT_OK(texts.Reserve(times.length()));
  std::string text;
  for (int64_t i = 0; i < times.length(); ++i) {
    if (times.IsNull(i)) {
      ARROW_RETURN_NOT_OK(texts.AppendNull());
      continue;
    }
    text.clear();
    AppendDuration(durations.Value(i), unit, precision, &text);
    ARROW_RETURN_NOT_OK(texts.Append(text));
  }
  return texts.Finish();
}

}  // namespace

bool HasPrecision(const arrow::DataType& type) {
  return type.id() == arrow::Type::TIMESTAMP || type.id() == arrow::Type::DURATION;
}

TimePrecision PrecisionOf(const arrow::Array& times) {
  const TimePrecision finest = FinestOf(UnitOf(*times.type()));
  const bool is_zoned =
      times.type_id() == arrow::Type::TIMESTAMP &&
      !static_cast<const arrow::TimestampType&>(*times.type()).timezone().empty();
  auto precision = is_zoned ? TimePrecision::kSecond : TimePrecision::kDay;
  const auto* values = times.data()->GetValues<int64_t>(1);
  for (int64_t i = 0; i < times.length() && precision < finest; ++i) {
    if (times.IsNull(i)) continue;
    while (values[i] % (StepsPerDay(finest) / StepsPerDay(precision)) != 0) {
      precision = static_cast<TimePrecision>(static_cast<uint8_t>(precision) + 1);
    }
  }
  return precision;
}

arrow::Result<std::shared_ptr<arrow::Array>> TimesAsText(
    const std::shared_ptr<arrow::Array>& times, TimePrecision precision,
    cp::ExecContext* context) {
  if (times->type_id() == arrow::Type::DURATION) {
    return DurationsAsText(*times, precision, context->memory_pool());
  }
  const auto& zone = static_cast<const arrow::TimestampType&>(*times->type()).timezone();
  const bool is_day = precision == TimePrecision::kDay;
  const auto type = is_day ? arrow::date32() : arrow::timestamp(UnitOf(precision), zone);
  ARROW_ASSIGN_OR_RAISE(arrow::Datum text,
                        cp::Cast(times, type, cp::CastOptions::Safe(), context));
  if (!zone.empty()) {
    ARROW_ASSIGN_OR_RAISE(
        text, cp::Strftime(text, cp::StrftimeOptions("%Y-%m-%d %H:%M:%S%Ez"), context));
  }
  ARROW_ASSIGN_OR_RAISE(
      text, cp::Cast(text, arrow::large_utf8(), cp::CastOptions::Safe(), context));
  return text.make_array();
}

}  // namespace xshards::io
