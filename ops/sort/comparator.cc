// SPDX-License-Identifier: Apache-2.0
#include "ops/sort/comparator.h"

#include <type_traits>
#include <utility>

#include <arrow/util/decimal.h>
#include <arrow/visit_type_inline.h>

namespace xshards::ops {

namespace {

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
class TypedKey final : public SortComparator::Key {
 public:
  using ArrayType = typename arrow::TypeTraits<Type>::ArrayType;

  TypedKey(std::shared_ptr<arrow::Array> left, std::shared_ptr<arrow::Array> right,
           bool ascending, bool nulls_first)
      : left_(std::static_pointer_cast<ArrayType>(std::move(left))),
        right_(std::static_pointer_cast<ArrayType>(std::move(right))),
        direction_(ascending ? 1 : -1),
        missing_(nulls_first ? -1 : 1) {}

  int Compare(int64_t left, int64_t right) const override {
    const bool left_missing = left_->IsNull(left);
    const bool right_missing = right_->IsNull(right);
    if (left_missing || right_missing) {
      return missing_ *
             (static_cast<int>(left_missing) - static_cast<int>(right_missing));
    }
    const auto a = ValueAt<Type>(*left_, left);
    const auto b = ValueAt<Type>(*right_, right);
    if (a < b) return -direction_;
    return b < a ? direction_ : 0;
  }

 private:
  const std::shared_ptr<ArrayType> left_;
  const std::shared_ptr<ArrayType> right_;
  const int direction_;
  const int missing_;
};

/// All values are missing, so all are equal.
class NullKey final : public SortComparator::Key {
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

struct KeyMaker {
  std::shared_ptr<arrow::Array> left;
  std::shared_ptr<arrow::Array> right;
  bool ascending;
  bool nulls_first;
  std::unique_ptr<SortComparator::Key> made;

  template <typename Type>
  arrow::Status Visit(const Type&) {
    if constexpr (std::is_same_v<Type, arrow::NullType>) {
      made = std::make_unique<NullKey>();
    } else if constexpr (kComparable<Type>) {
      made = std::make_unique<TypedKey<Type>>(left, right, ascending, nulls_first);
    } else {
      return arrow::Status::NotImplemented("its values have no order");
    }
    return arrow::Status::OK();
  }
};

}  // namespace

arrow::Result<SortComparator> SortComparator::Make(const arrow::ArrayVector& left,
                                                   const arrow::ArrayVector& right,
                                                   const std::vector<SortKey>& keys,
                                                   bool nulls_first) {
  SortComparator comparator;
  for (size_t i = 0; i < keys.size(); ++i) {
    KeyMaker maker{left[i], right[i], keys[i].ascending, nulls_first, nullptr};
    arrow::Status status = arrow::VisitTypeInline(*left[i]->type(), &maker);
    if (!status.ok()) {
      return status.WithMessage("Cannot sort by '", keys[i].column, "' (",
                                left[i]->type()->ToString(), "): ", status.message());
    }
    comparator.keys_.push_back(std::move(maker.made));
  }
  return comparator;
}

}  // namespace xshards::ops
