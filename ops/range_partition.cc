// SPDX-License-Identifier: Apache-2.0
#include "ops/range_partition.h"

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <arrow/array.h>
#include <arrow/compute/cast.h>
#include <arrow/util/decimal.h>
#include <arrow/visit_type_inline.h>

#include "ops/gather.h"
#include "ops/plain_values.h"
#include "ops/sort_order.h"

namespace xshards::ops {

namespace {

/// Compares a row with a boundary on one key, in sort order.
class KeyComparator {
 public:
  virtual ~KeyComparator() = default;
  /// Negative, zero or positive as the row comes before, with or after the boundary.
  virtual int Compare(int64_t row, int64_t boundary) const = 0;
};

template <typename Type>
auto ValueAt(const typename arrow::TypeTraits<Type>::ArrayType& array, int64_t i) {
  if constexpr (std::is_same_v<Type, arrow::Decimal128Type>) {
    return arrow::Decimal128(array.GetValue(i));
  } else if constexpr (std::is_same_v<Type, arrow::Decimal256Type>) {
    return arrow::Decimal256(array.GetValue(i));
  } else {
    return array.GetView(i);
  }
}

template <typename Type>
class TypedComparator final : public KeyComparator {
 public:
  using ArrayType = typename arrow::TypeTraits<Type>::ArrayType;

  TypedComparator(std::shared_ptr<arrow::Array> rows,
                  std::shared_ptr<arrow::Array> boundaries, bool ascending,
                  bool nulls_first)
      : rows_(std::static_pointer_cast<ArrayType>(std::move(rows))),
        boundaries_(std::static_pointer_cast<ArrayType>(std::move(boundaries))),
        direction_(ascending ? 1 : -1),
        missing_(nulls_first ? -1 : 1) {}

  int Compare(int64_t row, int64_t boundary) const override {
    const bool row_missing = rows_->IsNull(row);
    const bool boundary_missing = boundaries_->IsNull(boundary);
    if (row_missing || boundary_missing) {
      return missing_ *
             (static_cast<int>(row_missing) - static_cast<int>(boundary_missing));
    }
    const auto left = ValueAt<Type>(*rows_, row);
    const auto right = ValueAt<Type>(*boundaries_, boundary);
    if (left < right) return -direction_;
    return right < left ? direction_ : 0;
  }

 private:
  const std::shared_ptr<ArrayType> rows_;
  const std::shared_ptr<ArrayType> boundaries_;
  const int direction_;
  const int missing_;
};

/// All values are missing, so all are equal.
class NullComparator final : public KeyComparator {
 public:
  int Compare(int64_t, int64_t) const override { return 0; }
};

template <typename Type>
constexpr bool kComparable =
    (arrow::has_c_type<Type>::value && !arrow::is_interval_type<Type>::value &&
     !std::is_same_v<Type, arrow::HalfFloatType>) ||
    arrow::is_base_binary_type<Type>::value ||
    std::is_same_v<Type, arrow::FixedSizeBinaryType> ||
    std::is_same_v<Type, arrow::Decimal128Type> ||
    std::is_same_v<Type, arrow::Decimal256Type>;

struct ComparatorMaker {
  std::shared_ptr<arrow::Array> rows;
  std::shared_ptr<arrow::Array> boundaries;
  bool ascending;
  bool nulls_first;
  std::unique_ptr<KeyComparator> made;

  template <typename Type>
  arrow::Status Visit(const Type& type) {
    if constexpr (std::is_same_v<Type, arrow::NullType>) {
      made = std::make_unique<NullComparator>();
    } else if constexpr (kComparable<Type>) {
      made = std::make_unique<TypedComparator<Type>>(rows, boundaries, ascending,
                                                     nulls_first);
    } else {
      return arrow::Status::NotImplemented("A column of type ", type.ToString(),
                                           " cannot be sorted by");
    }
    return arrow::Status::OK();
  }
};

arrow::Result<std::unique_ptr<KeyComparator>> MakeComparator(
    const std::shared_ptr<arrow::Array>& rows, std::shared_ptr<arrow::Array> boundaries,
    const SortKey& key, bool nulls_first) {
  if (!boundaries->type()->Equals(*rows->type())) {
    ARROW_ASSIGN_OR_RAISE(boundaries, arrow::compute::Cast(*boundaries, rows->type()));
  }
  ComparatorMaker maker{rows, std::move(boundaries), key.ascending, nulls_first, nullptr};
  arrow::Status status = arrow::VisitTypeInline(*rows->type(), &maker);
  if (!status.ok()) {
    return status.WithMessage("Column '", key.column, "': ", status.message());
  }
  return std::move(maker.made);
}

// Whoever chose the boundaries may have put NaN apart from null; here they are one.
arrow::Result<arrow::ArrayVector> InOrder(const arrow::RecordBatch& boundaries,
                                          const std::vector<SortKey>& keys,
                                          bool nulls_first, arrow::MemoryPool* pool) {
  arrow::ArrayVector columns;
  for (const auto& column : boundaries.columns()) {
    ARROW_ASSIGN_OR_RAISE(auto values, PlainValues(column, pool));
    columns.push_back(std::move(values));
  }
  ARROW_ASSIGN_OR_RAISE(auto order, SortOrder(columns, keys, nulls_first, pool));
  for (auto& column : columns) {
    ARROW_ASSIGN_OR_RAISE(column, Gather(column, order, pool));
  }
  return columns;
}

}  // namespace

arrow::Result<std::vector<int32_t>> RangeDestinations(
    const arrow::RecordBatch& batch, const std::vector<SortKey>& keys, bool nulls_first,
    const arrow::RecordBatch& boundaries, arrow::MemoryPool* pool) {
  if (keys.empty() || boundaries.num_columns() != static_cast<int>(keys.size())) {
    return arrow::Status::Invalid("Expected boundaries with one column for each of ",
                                  keys.size(), " sort keys, not ",
                                  boundaries.num_columns());
  }
  ARROW_ASSIGN_OR_RAISE(auto columns, SortColumns(batch, keys, pool));
  ARROW_ASSIGN_OR_RAISE(auto limits, InOrder(boundaries, keys, nulls_first, pool));
  std::vector<std::unique_ptr<KeyComparator>> comparators;
  for (size_t i = 0; i < keys.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto comparator,
                          MakeComparator(columns[i], limits[i], keys[i], nulls_first));
    comparators.push_back(std::move(comparator));
  }
  const auto is_before = [&](int64_t row, int64_t boundary) {
    for (const auto& comparator : comparators) {
      const int order = comparator->Compare(row, boundary);
      if (order != 0) return order < 0;
    }
    return false;
  };
  std::vector<int32_t> destinations(static_cast<size_t>(batch.num_rows()));
  for (int64_t row = 0; row < batch.num_rows(); ++row) {
    // Find the first boundary that the row comes before.
    int64_t low = 0;
    int64_t high = boundaries.num_rows();
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (is_before(row, middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    destinations[static_cast<size_t>(row)] = static_cast<int32_t>(low);
  }
  return destinations;
}

}  // namespace xshards::ops
