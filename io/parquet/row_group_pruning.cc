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
using ScalarPtr = std::shared_ptr<arrow::Scalar>;

bool IsMissing(const arrow::Scalar& scalar) {
  if (!scalar.is_valid) return true;
  if (scalar.type->id() == arrow::Type::DOUBLE) {
    return std::isnan(static_cast<const arrow::DoubleScalar&>(scalar).value);
  }
  if (scalar.type->id() == arrow::Type::FLOAT) {
    return std::isnan(static_cast<const arrow::FloatScalar&>(scalar).value);
  }
  return false;
}

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
    return std::nullopt;  // damaged statistics prove nothing
  }
}

// True only if the comparison could be made, exactly, and holds.
bool Holds(const char* comparison, const ScalarPtr& left, const ScalarPtr& right) {
  // These Arrow compares as floats, and an expression as decimals.
  const auto is_of = [](const ScalarPtr& one, bool (*kind)(arrow::Type::type)) {
    return kind(one->type->id());
  };
  if ((is_of(left, arrow::is_decimal) && is_of(right, arrow::is_floating)) ||
      (is_of(left, arrow::is_floating) && is_of(right, arrow::is_decimal))) {
    return false;
  }
  const auto result = cp::CallFunction(comparison, {left, right});
  if (!result.ok() || !result->is_scalar()) return false;
  const auto& scalar = static_cast<const arrow::BooleanScalar&>(*result->scalar());
  return scalar.is_valid && scalar.value;
}

bool IsOutside(const ColumnRange& range, const ScalarPtr& value) {
  return Holds("less", value, range.min) || Holds("greater", value, range.max);
}

// The comparison with its operands exchanged.
std::string Mirror(const std::string& comparison) {
  if (comparison == "less") return "greater";
  if (comparison == "less_equal") return "greater_equal";
  if (comparison == "greater") return "less";
  if (comparison == "greater_equal") return "less_equal";
  return comparison;
}

bool RulesOut(const ColumnRange& range, const std::string& comparison,
              const ScalarPtr& value) {
  if (IsMissing(*value)) return false;
  if (comparison == "equal") return IsOutside(range, value);
  if (comparison == "less") return Holds("greater_equal", range.min, value);
  if (comparison == "less_equal") return Holds("greater", range.min, value);
  if (comparison == "greater") return Holds("less_equal", range.max, value);
  if (comparison == "greater_equal") return Holds("less", range.max, value);
  return false;
}

bool RulesOutAll(const ColumnRange& range, const arrow::Array& values) {
  for (int64_t i = 0; i < values.length(); ++i) {
    const auto value = values.GetScalar(i);
    // A missing value in the list matches missing rows, of which statistics say nothing.
    if (!value.ok() || IsMissing(**value) || !IsOutside(range, *value)) return false;
  }
  return true;
}

bool IsComparison(const std::string& name) {
  return name == "equal" || name == "less" || name == "less_equal" || name == "greater" ||
         name == "greater_equal";
}

bool HasMissing(const arrow::Array& values) {
  for (int64_t i = 0; i < values.length(); ++i) {
    const auto value = values.GetScalar(i);
    if (!value.ok() || IsMissing(**value)) return true;
  }
  return false;
}

arrow::ScalarVector ScalarsOf(const arrow::Array& values) {
  arrow::ScalarVector scalars;
  for (int64_t i = 0; i < values.length(); ++i) {
    // What cannot be had may be anything.
    scalars.push_back(values.GetScalar(i).ValueOr(arrow::MakeNullScalar(values.type())));
  }
  return scalars;
}

// True if the ranges show that one part of the conjunction is false for every row.
bool IsPartRuledOut(const cp::Expression& part, const RangeOfColumn& range_of,
                    const MayHold& may_hold) {
  const auto* call = part.call();
  if (call == nullptr || call->arguments.empty()) return false;
  cp::Expression column = call->arguments[0];
  std::string comparison = call->function_name;
  ScalarPtr value;
  std::shared_ptr<arrow::Array> list;
  if (IsComparison(comparison) && call->arguments.size() == 2) {
    cp::Expression other = call->arguments[1];
    if (column.literal() != nullptr) {
      std::swap(column, other);
      comparison = Mirror(comparison);
    }
    if (other.literal() == nullptr || !other.literal()->is_scalar()) return false;
    value = other.literal()->scalar();
  } else if (comparison == "is_in" && call->options != nullptr) {
    const auto& set = static_cast<const cp::SetLookupOptions&>(*call->options).value_set;
    if (!set.is_array()) return false;
    list = set.make_array();
    if (HasMissing(*list)) return false;
  } else {
    return false;
  }
  const auto* reference = column.field_ref();
  if (reference == nullptr || reference->name() == nullptr) return false;
  const std::string& name = *reference->name();
  if (const auto range = range_of(name); range.has_value()) {
    const bool outside = range->all_missing
                             ? value == nullptr || !IsMissing(*value)
                             : (value != nullptr ? RulesOut(*range, comparison, value)
                                                 : RulesOutAll(*range, *list));
    if (outside) return true;
  }
  if (may_hold == nullptr) return false;
  if (list != nullptr) return !may_hold(name, ScalarsOf(*list));
  return comparison == "equal" && !IsMissing(*value) && !may_hold(name, {value});
}

// True if values of one type compare as those of the other they are cast to.
bool AreAlike(const arrow::DataType& left, const arrow::DataType& right) {
  const auto is_number = [](const arrow::DataType& type) {
    return arrow::is_integer(type.id()) || arrow::is_floating(type.id());
  };
  return left.Equals(right) || (is_number(left) && is_number(right));
}

/// The index of a column whose statistics tell of what the filter sees, or -1.
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

/// The rows that a column's pages do not rule out.
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
    // An index whose pages do not follow each other is damaged.
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
  return kept;
}

}  // namespace

bool IsRuledOut(const Expression& filter, const RangeOfColumn& range_of,
                const MayHold& may_hold) {
  const auto parts = filter.Conjuncts();
  return std::any_of(parts.begin(), parts.end(), [&](const Expression& part) {
    return IsPartRuledOut(part.arrow(), range_of, may_hold);
  });
}

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
    // A damaged index proves nothing.
    return {{0, file.metadata().RowGroup(row_group)->num_rows()}};
  }
}

}  // namespace xshards::io
