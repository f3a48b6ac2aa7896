// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/compute/cast.h>
#include <arrow/scalar.h>
#include <arrow/table.h>

#include "xshards/shards.h"

namespace xshards {

namespace {

struct Statistic {
  const char* name;
  const char* function;
};
constexpr std::array<Statistic, 8> kStatistics = {{{"count", "count"},
                                                   {"mean", "mean"},
                                                   {"std", "std"},
                                                   {"min", "min"},
                                                   {"25%", "quantile(0.25)"},
                                                   {"50%", "quantile(0.5)"},
                                                   {"75%", "quantile(0.75)"},
                                                   {"max", "max"}}};

bool IsNumber(const arrow::Field& field) {
  return arrow::is_integer(field.type()->id()) || arrow::is_floating(field.type()->id());
}

/// The only value of a column, as a float; NaN if it is missing.
arrow::Result<double> OnlyNumber(const arrow::ChunkedArray& column) {
  ARROW_ASSIGN_OR_RAISE(const auto value, column.GetScalar(0));
  if (!value->is_valid) return std::numeric_limits<double>::quiet_NaN();
  ARROW_ASSIGN_OR_RAISE(const auto number, value->CastTo(arrow::float64()));
  return static_cast<const arrow::DoubleScalar&>(*number).value;
}

}  // namespace

arrow::Result<std::map<std::string, int64_t>> XShards::CountDistinct(
    const arrow::StopToken& stop) const {
  ARROW_ASSIGN_OR_RAISE(const auto known, schema(stop));
  std::vector<xshards::Aggregate> counts;
  for (const auto& name : known->field_names()) {
    counts.push_back({"nunique", name, name});
  }
  std::map<std::string, int64_t> found;
  if (counts.empty()) return found;
  ARROW_ASSIGN_OR_RAISE(const auto table, GroupBy({}, std::move(counts)).ToTable(stop));
  for (const auto& name : known->field_names()) {
    ARROW_ASSIGN_OR_RAISE(const double count, OnlyNumber(*table->GetColumnByName(name)));
    found[name] = std::llround(count);
  }
  return found;
}

arrow::Result<std::shared_ptr<arrow::Scalar>> XShards::Reduce(
    const std::string& function, const std::string& column,
    const arrow::StopToken& stop) const {
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        GroupBy({}, {{function, column, "value"}}).ToTable(stop));
  return table->column(0)->GetScalar(0);
}

arrow::Result<std::shared_ptr<arrow::Scalar>> XShards::Sum(
    const std::string& column) const {
  return Reduce("sum", column);
}

arrow::Result<std::shared_ptr<arrow::Scalar>> XShards::Mean(
    const std::string& column) const {
  return Reduce("mean", column);
}

arrow::Result<std::shared_ptr<arrow::Scalar>> XShards::Min(
    const std::string& column) const {
  return Reduce("min", column);
}

arrow::Result<std::shared_ptr<arrow::Scalar>> XShards::Max(
    const std::string& column) const {
  return Reduce("max", column);
}

arrow::Result<std::shared_ptr<arrow::Scalar>> XShards::StdDev(
    const std::string& column) const {
  return Reduce("std", column);
}

arrow::Result<std::shared_ptr<arrow::Table>> XShards::Describe(
    std::vector<std::string> columns, const arrow::StopToken& stop) const {
  ARROW_ASSIGN_OR_RAISE(const auto known, schema(stop));
  if (columns.empty()) {
    for (const auto& field : known->fields()) {
      if (IsNumber(*field)) columns.push_back(field->name());
    }
  }
  const auto output = [](const std::string& column, const Statistic& statistic) {
    return column + " " + statistic.name;
  };
  std::vector<xshards::Aggregate> aggregates;
  for (const auto& column : columns) {
    for (const Statistic& statistic : kStatistics) {
      aggregates.push_back({statistic.function, column, output(column, statistic)});
    }
  }
  arrow::LargeStringBuilder names;
  for (const Statistic& statistic : kStatistics) {
    ARROW_RETURN_NOT_OK(names.Append(statistic.name));
  }
  arrow::FieldVector fields = {arrow::field("statistic", arrow::large_utf8())};
  arrow::ArrayVector values(1);
  ARROW_ASSIGN_OR_RAISE(values[0], names.Finish());
  std::shared_ptr<arrow::Table> table;
  if (!columns.empty()) {
    ARROW_ASSIGN_OR_RAISE(table, GroupBy({}, std::move(aggregates)).ToTable(stop));
  }
  for (const auto& column : columns) {
    arrow::DoubleBuilder numbers;
    for (const Statistic& statistic : kStatistics) {
      ARROW_ASSIGN_OR_RAISE(
          const double number,
          OnlyNumber(*table->GetColumnByName(output(column, statistic))));
      ARROW_RETURN_NOT_OK(numbers.Append(number));
    }
    fields.push_back(arrow::field(column, arrow::float64()));
    ARROW_ASSIGN_OR_RAISE(values.emplace_back(), numbers.Finish());
  }
  return arrow::Table::Make(arrow::schema(std::move(fields)), values);
}

}  // namespace xshards
