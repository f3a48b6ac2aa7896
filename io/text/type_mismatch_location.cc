// SPDX-License-Identifier: Apache-2.0
#include "io/text/type_mismatch_location.h"

#include <algorithm>
#include <memory>

namespace xshards::io {
arrow::Status TypeMismatchAt(std::string_view value, const std::string& column,
                             const std::string& path, TextPlace place) {
  constexpr size_t kShown = 100;
  return TypeMismatchError(std::make_shared<TypeMismatchLocation>(
      std::string(value.substr(0, kShown)), column, path, place.begin, place.offset));
}

std::optional<std::string> DescribeTextPlace(const ScanNode& scan,
                                             const TextFormat& format,
                                             const TypeMismatchLocation& place,
                                             arrow::MemoryPool* pool) {
  const bool is_read =
      std::any_of(scan.splits.begin(), scan.splits.end(),
                  [&](const Split& split) { return split.path == place.path(); });
  if (!is_read) return std::nullopt;
  const auto line = LineNumber(place.path(), format,
                               {.begin = place.begin(), .offset = place.offset()}, pool);
  if (!line.ok()) return std::nullopt;
  return place.Name() + ", line " + std::to_string(*line);
}

}  // namespace xshards::io
