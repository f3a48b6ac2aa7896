// SPDX-License-Identifier: Apache-2.0
// AggregateField: what the rules in the table of aggregate functions mean for a column.
#include <utility>

#include <arrow/type.h>

#include "xshards/plan/aggregate_functions.h"
#include "xshards/plan/output_schema.h"
#include "xshards/plan/plan.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards {

namespace {

bool Takes(AggregateInput input, const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::BOOL:
    case arrow::Type::NA:
      return true;
    case arrow::Type::DECIMAL128:
      return input >= AggregateInput::kDecimals;
    case arrow::Type::DURATION:
      return input >= AggregateInput::kDurations;
    case arrow::Type::TIMESTAMP:
      return input >= AggregateInput::kTimes;
    default:
      return arrow::is_numeric(type.id());
  }
}

arrow::Status CheckNumbers(const Aggregate& aggregate, const AggregateFunction& function,
                           const arrow::Field& field) {
  const auto type = ValueType(field.type());
  const bool takes = Takes(function.input, *type);
  if (takes && FamilyOf(field) != DtypeFamily::kCategory) return arrow::Status::OK();
  const char* fix = arrow::is_decimal(type->id()) ? ": cast it to float64 first" : "";
  return arrow::Status::TypeError("The ", aggregate.function, " of column '",
                                  *aggregate.column, "' needs numbers, got ",
                                  type->ToString(), fix);
}

arrow::Status CheckOrdered(const Aggregate& aggregate, const arrow::Field& field) {
  if (FamilyOf(field) == DtypeFamily::kCategory && !IsOrdered(field)) {
    return arrow::Status::TypeError("The ", aggregate.function, " of column '",
                                    *aggregate.column, "' needs ordered categories");
  }
  if (!HoldsObjects(field)) return arrow::Status::OK();
  return arrow::Status::TypeError("The ", aggregate.function, " of column '",
                                  *aggregate.column,
                                  "' needs ordered values, got Python objects");
}

arrow::Status CheckInput(const Aggregate& aggregate, const AggregateFunction& function,
                         const arrow::Field& field, const arrow::Schema& input) {
  if (NeedsNumbers(function)) return CheckNumbers(aggregate, function, field);
  switch (function.input) {
    case AggregateInput::kComparable:
      return KeyField(field.name(), input).status();
    case AggregateInput::kOrdered:
      return CheckOrdered(aggregate, field);
    default:
      return arrow::Status::OK();
  }
}

std::shared_ptr<arrow::DataType> SumType(const arrow::DataType& type) {
  if (arrow::is_unsigned_integer(type.id())) return arrow::uint64();
  if (arrow::is_signed_integer(type.id()) || type.id() == arrow::Type::BOOL) {
    return arrow::int64();
  }
  if (type.id() == arrow::Type::DECIMAL128) {
    const int32_t scale = static_cast<const arrow::Decimal128Type&>(type).scale();
    return arrow::decimal128(arrow::Decimal128Type::kMaxPrecision, scale);
  }
  return type.id() == arrow::Type::NA ? arrow::float64() : type.GetSharedPtr();
}

/// Of mean, variance and the like. pandas gives the mean of float32 as float64, but not
/// that of Float32.
std::shared_ptr<arrow::DataType> MomentType(AggregateResult result,
                                            const arrow::DataType& type,
                                            DtypeFamily family) {
  const bool is_median = result == AggregateResult::kMedian;
  const bool is_mean =
      result == AggregateResult::kMean || result == AggregateResult::kQuantile;
  if (type.id() == arrow::Type::DURATION) return type.GetSharedPtr();
  if (type.id() == arrow::Type::TIMESTAMP) {
    const auto unit = static_cast<const arrow::TimestampType&>(type).unit();
    return is_mean || is_median ? type.GetSharedPtr() : arrow::duration(unit);
  }
  const bool keeps_decimals =
      result == AggregateResult::kMean && family == DtypeFamily::kArrow;
  if (type.id() == arrow::Type::DECIMAL128 && keeps_decimals) return type.GetSharedPtr();
  const bool single =
      type.id() == arrow::Type::FLOAT && (!is_mean || family == DtypeFamily::kMasked);
  return single ? arrow::float32() : arrow::float64();
}

/// Decimals of no dtype of their own are objects to pandas, and so are the floats that it
/// computes of them, but for the deviation.
bool GivesObjects(AggregateResult result, const arrow::Field& field) {
  return arrow::is_decimal(ValueType(field.type())->id()) &&
         FamilyOf(field) == DtypeFamily::kPlain && result != AggregateResult::kDeviation;
}

std::shared_ptr<arrow::Field> ResultField(AggregateResult result, const std::string& name,
                                          const std::shared_ptr<arrow::Field>& field) {
  const auto type = ValueType(field->type());
  const auto family = FamilyOf(*field);
  const auto computed = [&](const std::shared_ptr<arrow::DataType>& of_result) {
    return WithDtype(arrow::field(name, of_result), DtypeNameIn(family, *of_result));
  };
  switch (result) {
    case AggregateResult::kCount:
      if (family != DtypeFamily::kText) return computed(arrow::int64());
      return arrow::field(name, arrow::int64());
    case AggregateResult::kDistinctCount:
      return arrow::field(name, arrow::int64());
    case AggregateResult::kSum:
      return computed(SumType(*type));
    case AggregateResult::kValue:
      // A value of the column, with its metadata.
      return Renamed(field->WithType(type), name);
    case AggregateResult::kList:
      return arrow::field(name, arrow::large_list(type));
    default: {
      const auto moment = computed(MomentType(result, *type, family));
      return GivesObjects(result, *field) ? AsObjects(moment) : moment;
    }
  }
}

}  // namespace

arrow::Result<std::shared_ptr<arrow::Field>> AggregateField(const Aggregate& aggregate,
                                                            const arrow::Schema& input) {
  ARROW_ASSIGN_OR_RAISE(const auto* function, FindAggregateFunction(aggregate.function));
  if (!aggregate.column) {
    if (!function->needs_column) return arrow::field(aggregate.output, arrow::int64());
    return arrow::Status::Invalid("Only count works on all rows; name a column for ",
                                  aggregate.function);
  }
  ARROW_ASSIGN_OR_RAISE(const auto field, FieldOf(*aggregate.column, input));
  ARROW_RETURN_NOT_OK(CheckInput(aggregate, *function, *field, input));
  return ResultField(function->result, aggregate.output, field);
}

}  // namespace xshards
