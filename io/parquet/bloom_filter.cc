// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/bloom_filter.h"

#include <cstdint>
#include <limits>
#include <optional>

#include <parquet/bloom_filter.h>
#include <parquet/bloom_filter_reader.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/schema.h>

namespace xshards::io {
namespace {

std::optional<int64_t> ToInteger(const arrow::Scalar& value) {
  if (!value.is_valid || !arrow::is_signed_integer(value.type->id())) return std::nullopt;
  const auto cast = value.CastTo(arrow::int64());
  if (!cast.ok()) return std::nullopt;
  return static_cast<const arrow::Int64Scalar&>(**cast).value;
}

// The hash of a value as the column stores it; nullopt if that is not known.
std::optional<uint64_t> HashOf(const parquet::BloomFilter& filter,
                               const parquet::ColumnDescriptor& column,
                               const arrow::Scalar& value) {
  const auto integer = ToInteger(value);
  const auto& logical = column.logical_type();
  switch (column.physical_type()) {
    case parquet::Type::INT64:
      if (!integer.has_value() || !(logical->is_none() || logical->is_int())) break;
      return filter.Hash(*integer);
    case parquet::Type::INT32:
      if (!integer.has_value() || !(logical->is_none() || logical->is_int()) ||
          *integer < std::numeric_limits<int32_t>::min() ||
          *integer > std::numeric_limits<int32_t>::max()) {
        break;
      }
      return filter.Hash(static_cast<int32_t>(*integer));
    case parquet::Type::BYTE_ARRAY:
      if (!value.is_valid || !logical->is_string() ||
          !arrow::is_base_binary_like(value.type->id())) {
        break;
      }
      return filter.Hash(static_cast<const arrow::BaseBinaryScalar&>(value).view());
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace

bool MayHoldAny(const ParquetFile& file, int row_group, int leaf,
                const arrow::ScalarVector& values) {
  try {
    const auto chunk = file.metadata().RowGroup(row_group)->ColumnChunk(leaf);
    if (!chunk->bloom_filter_offset().has_value()) return true;
    const auto group = file.reader().GetBloomFilterReader().RowGroup(row_group);
    if (group == nullptr) return true;
    const auto filter = group->GetColumnBloomFilter(leaf);
    if (filter == nullptr) return true;
    const auto& column = *file.metadata().schema()->Column(leaf);
    for (const auto& value : values) {
      const auto hash = HashOf(*filter, column, *value);
      if (!hash.has_value() || filter->FindHash(*hash)) return true;
    }
    return false;
  } catch (const std::exception&) {
    return true;  // a damaged filter proves nothing
  }
}

}  // namespace xshards::io
