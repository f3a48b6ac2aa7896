// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/row_group_pruning.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <arrow/array.h>
#include <arrow/compute/api.h>
#include <arrow/scalar.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/page_index.h>
#include <parquet/statistics.h>

#include "io/parquet/bloom_filter.h"

namespace xshards::io {
namespace {

namespace cp = arrow::compute;
std::optional<ColumnRange> RangeOf(const parquet::Statistics& statistics) {
  ColumnRange range;
  if (!statistics.HasMinMax()) return std::nullopt;
  if (!parquet::arrow::StatisticsAsScalars(statistics, &range.min, &range.max).ok()) {
    return std::nullopt;
  }
  if (IsMissing(*range.min) || IsMissing(*range.max)) return std::nullopt;
  return range;
}

std::optional<ColumnRange> RangeOf(const ParquetFile& file, int row_group, int leaf) {
  try {
    const auto group = file.metadata().RowGroup(row_group);
    const auto chunk = group->ColumnChunk(leaf);
    if (!chunk->is_stats_set()) return std::nullopt;
    const auto statistics = chunk->statistics();
    if (statistics == nullptr) return std::nullopt;
    ColumnRange range;
    if (statistics->HasNullCount() && statistics->null_count() == group->num_rows()) {
      range.all_missing = true;
      return range;
    }
    return RangeOf(*statistics);
  } catch (const std::exception&) {
    return std::nullopt;  // damaged statistics are inconclusive
  }
}

// True if values of one type compare as those of the other they are cast to.
bool AreAlike(const arrow::DataType& left, const arrow::DataType& right) {
  const auto is_number = [](const arrow::DataType& type) {
    return arrow::is_integer(type.id()) || arrow::is_floating(type.id());
  };
  return left.Equals(right) || (is_number(left) && is_number(right));
}

/// The index of a column whose statistics apply to the values that the filter sees, or
/// -1.
int ComparableLeaf(const ParquetFile& file, const std::string& name,
                   const arrow::Schema& schema) {
  const auto stored = file.schema()->GetFieldByName(name);
  const auto seen = schema.GetFieldByName(name);
  const bool is_alike =
      stored != nullptr && seen != nullptr && AreAlike(*stored->type(), *seen->type());
  return is_alike ? file.LeafIndex(name) : -1;
}

/// The range of a column in one of its pages.
std::optional<ColumnRange> RangeOf(const parquet::ColumnIndex& pages, size_t page,
                                   const parquet::ColumnDescriptor& column) {
  if (pages.null_pages().at(page)) return ColumnRange{.all_missing = true};
  const auto statistics = parquet::Statistics::Make(
      &column, pages.encoded_min_values().at(page), pages.encoded_max_values().at(page),
      /*num_values=*/0, /*null_count=*/0, /*distinct_count=*/0, /*has_min_max=*/true,
      /*has_null_count=*/false, /*has_distinct_count=*/false);
  return RangeOf(*statistics);
}

/// The rows of pages that a column's statistics do not exclude.
RowRanges RowsOfPages(const parquet::ColumnIndex& pages,
                      const parquet::OffsetIndex& offsets, int64_t num_rows,
                      const parquet::ColumnDescriptor& column, const std::string& name,
                      const Expression& filter) {
  const auto& locations = offsets.page_locations();
  RowRanges kept;
  int64_t end = 0;
  for (size_t page = 0; page < locations.size(); ++page) {
    const RowRange range{
        locations[page].first_row_index,
        page + 1 < locations.size() ? locations[page + 1].first_row_index : num_rows};
    // An index whose pages are not in order is damaged.
    if (range.begin != end || range.end < range.begin) return {{0, num_rows}};
    end = range.end;
    const auto in_page = RangeOf(pages, page, column);
    const auto range_of = [&](const std::string& other) {
      return other == name ? in_page : std::nullopt;
    };
    if (in_page.has_value() && IsRuledOut(filter, range_of)) continue;
    if (!kept.empty() && kept.back().end == range.begin) {
      kept.back().end = range.end;
    } else {
      kept.push_back(range);
    }
  }
  // So is one without pages.
  if (end != num_rows) return {{0, num_rows}};
  return kept;
}

}  // namespace

arrow::Result<bool> CanSkipRowGroup(const ParquetFile& file, int row_group,
                                    const Expression& filter,
                                    const arrow::Schema& schema) {
  const auto leaf_of = [&](const std::string& name) {
    return ComparableLeaf(file, name, schema);
  };
  const auto range_of = [&](const std::string& name) -> std::optional<ColumnRange> {
    const int leaf = leaf_of(name);
    return leaf < 0 ? std::nullopt : RangeOf(file, row_group, leaf);
  };
  const auto may_hold = [&](const std::string& name, const arrow::ScalarVector& values) {
    const int leaf = leaf_of(name);
    return leaf < 0 || MayHoldAny(file, row_group, leaf, values);
  };
  return IsRuledOut(filter, range_of, may_hold);
}

RowRanges RowsThatMayPass(const ParquetFile& file, int row_group,
                          const Expression& filter, const arrow::Schema& schema) {
  try {
    const auto group = file.metadata().RowGroup(row_group);
    RowRanges rows = {{0, group->num_rows()}};
    const auto reader = file.reader().GetPageIndexReader();
    const auto index = reader == nullptr ? nullptr : reader->RowGroup(row_group);
    if (index == nullptr) return rows;
    std::set<std::string> names;
    for (const auto& reference : cp::FieldsInExpression(filter.arrow())) {
      if (reference.name() != nullptr) names.insert(*reference.name());
    }
    for (const auto& name : names) {
      const int leaf = ComparableLeaf(file, name, schema);
      if (leaf < 0) continue;
      const auto pages = index->GetColumnIndex(leaf);
      const auto offsets = index->GetOffsetIndex(leaf);
      if (pages == nullptr || offsets == nullptr) continue;
      rows = Intersect(rows, RowsOfPages(*pages, *offsets, group->num_rows(),
                                         *group->schema()->Column(leaf), name, filter));
    }
    return rows;
  } catch (const std::exception&) {
    // A damaged index is inconclusive.
    return {{0, file.metadata().RowGroup(row_group)->num_rows()}};
  }
}

}  // namespace xshards::io
