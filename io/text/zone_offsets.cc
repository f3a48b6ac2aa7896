// SPDX-License-Identifier: Apache-2.0
#include "io/text/zone_offsets.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <arrow/array/array_primitive.h>
#include <arrow/buffer.h>
#include <arrow/compute/api_scalar.h>

#include "io/text/time_formatting.h"
#include "io/text/time_precision.h"

namespace xshards::io {

namespace {

constexpr int64_t kFirstSecond = -62'135'596'800;  // 0001-01-01
constexpr int64_t kLastSecond = 253'402'300'799;   // 9999-12-31 23:59:59

int64_t FloorSeconds(int64_t ticks, int64_t per_second) {
  return ticks / per_second - (ticks % per_second < 0 ? 1 : 0);
}

// Whether a zone is a fixed offset from UTC: "+01:00".
bool IsDistance(const std::string& zone) {
  return zone.starts_with('+') || zone.starts_with('-');
}

}  // namespace

arrow::Result<std::vector<int32_t>> ZoneOffsets(const arrow::TimestampArray& times,
                                                arrow::compute::ExecContext* context) {
  const auto& type = static_cast<const arrow::TimestampType&>(*times.type());
  std::vector<int32_t> offsets(static_cast<size_t>(times.length()));
  if (type.timezone().empty() || type.timezone() == "UTC") return offsets;
  const int64_t per_second = TicksPerSecond(type.unit());
  std::vector<int64_t> seconds(offsets.size());
  for (int64_t i = 0; i < times.length(); ++i) {
    if (times.IsNull(i)) continue;
    const int64_t second = FloorSeconds(times.Value(i), per_second);
    if (second >= kFirstSecond && second <= kLastSecond) {
      seconds[static_cast<size_t>(i)] = second;
    } else if (!IsDistance(type.timezone())) {
      std::string text;
      AppendZonedTime(times.Value(i), type.unit(), FinestOf(type.unit()), 0, &text);
      return arrow::Status::NotImplemented(
          "Expected times of the years 1 to 9999 in the zone ", type.timezone(),
          ", since its UTC offset is unknown outside them; convert them to UTC. "
          "Got ",
          text);
    }
  }
  const auto moments = std::make_shared<arrow::TimestampArray>(
      arrow::timestamp(arrow::TimeUnit::SECOND, type.timezone()), times.length(),
      arrow::Buffer::Wrap(seconds));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum local,
                        arrow::compute::LocalTimestamp(moments, context));
  const auto* local_seconds = local.array()->GetValues<int64_t>(1);
  for (size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = static_cast<int32_t>(local_seconds[i] - seconds[i]);
  }
  return offsets;
}

}  // namespace xshards::io
