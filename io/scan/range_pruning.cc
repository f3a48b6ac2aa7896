// SPDX-License-Identifier: Apache-2.0
#include "io/scan/range_pruning.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <arrow/array.h>
#include <arrow/compute/api.h>

namespace xshards::io {
namespace {

namespace cp = arrow::compute;
using ScalarPtr = std::shared_ptr<arrow::Scalar>;

// True only if the comparison is exact and holds.
bool Holds(const char* comparison, const ScalarPtr& left, const ScalarPtr& right) {
  // Arrow compares these as floats, but expressions compare them as decimals.
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
    // A missing value in the list matches missing rows, which statistics do not cover.
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
    // An unavailable range may be anything.
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

}  // namespace

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

bool IsRuledOut(const Expression& filter, const RangeOfColumn& range_of,
                const MayHold& may_hold) {
  const auto parts = filter.Conjuncts();
  return std::any_of(parts.begin(), parts.end(), [&](const Expression& part) {
    return IsPartRuledOut(part.arrow(), range_of, may_hold);
  });
}

}  // namespace xshards::io
