// SPDX-License-Identifier: Apache-2.0
#include "io/text/time_precision.h"

namespace xshards::io {
namespace {

// The number of units of a precision in a day.
int64_t StepsPerDay(TimePrecision precision) {
  constexpr int64_t kDaySeconds = 24 * 60 * 60;
  constexpr int64_t kSteps[] = {1, kDaySeconds, kDaySeconds * 1'000,
                                kDaySeconds * 1'000'000, kDaySeconds * 1'000'000'000};
  return kSteps[static_cast<size_t>(precision)];
}

arrow::TimeUnit::type UnitOf(const arrow::DataType& type) {
  return type.id() == arrow::Type::DURATION
             ? static_cast<const arrow::DurationType&>(type).unit()
             : static_cast<const arrow::TimestampType&>(type).unit();
}

}  // namespace

bool HasPrecision(const arrow::DataType& type) {
  return type.id() == arrow::Type::TIMESTAMP || type.id() == arrow::Type::DURATION;
}

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

}  // namespace xshards::io
