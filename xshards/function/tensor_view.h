// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/type_traits.h>
#include <xtensor/xadapt.hpp>
#include <xtensor/xtensor.hpp>

#include "xshards/function/shard_view.h"

namespace xshards {

/// An xtensor view of a numeric column, zero copy. The shard must outlive it.
///
/// TypeError if the column is not of type T, Invalid if it has missing values, which a
/// view cannot represent (use fillna, or drop the rows first).
template <typename T>
auto ColumnView(const ShardView& shard, const std::string& name)
    -> arrow::Result<decltype(xt::adapt(std::declval<const T*>(), size_t{},
                                        xt::no_ownership(),
                                        std::declval<std::array<size_t, 1>>()))> {
  using ArrayType = typename arrow::CTypeTraits<T>::ArrayType;
  ARROW_ASSIGN_OR_RAISE(auto column, shard.column(name));
  if (column->type_id() != arrow::CTypeTraits<T>::ArrowType::type_id) {
    return arrow::Status::TypeError("Column '", name, "' is ", column->type()->ToString(),
                                    ", not ",
                                    arrow::CTypeTraits<T>::type_singleton()->ToString());
  }
  if (column->null_count() > 0) {
    return arrow::Status::Invalid(
        "Column '", name, "' has ", column->null_count(),
        " missing values, which a tensor view cannot represent");
  }
  const auto& values = static_cast<const ArrayType&>(*column);
  const std::array<size_t, 1> shape = {static_cast<size_t>(values.length())};
  const T* data = values.raw_values();
  return xt::adapt(std::move(data), shape[0], xt::no_ownership(), shape);
}

/// Make a column from an xtensor, zero copy: the array keeps the tensor alive.
template <typename T>
arrow::Result<std::shared_ptr<arrow::Array>> ToColumn(xt::xtensor<T, 1> tensor) {
  struct TensorBuffer final : arrow::Buffer {
    explicit TensorBuffer(xt::xtensor<T, 1> owned)
        : arrow::Buffer(nullptr, 0), tensor(std::move(owned)) {
      data_ = reinterpret_cast<const uint8_t*>(tensor.data());
      size_ = static_cast<int64_t>(tensor.size() * sizeof(T));
      capacity_ = size_;
    }
    xt::xtensor<T, 1> tensor;
  };
  const auto length = static_cast<int64_t>(tensor.size());
  auto buffer = std::make_shared<TensorBuffer>(std::move(tensor));
  return std::make_shared<typename arrow::CTypeTraits<T>::ArrayType>(length,
                                                                     std::move(buffer));
}

/// A native function over tensor views of named columns of type T: `function` gets one
/// view per column and returns the 1-d tensor to store as column `output`.
///
///     shards.TransformShard(OverColumns<double>({"x", "y"}, "norm",
///         [](const auto& x, const auto& y) { return xt::sqrt(x * x + y * y); }))
template <typename T, size_t N, typename F>
auto OverColumns(const char* const (&columns)[N], std::string output, F function) {
  std::vector<std::string> names(columns, columns + N);
  return [names = std::move(names), output = std::move(output),
          function =
              std::move(function)](const ShardView& shard) -> arrow::Result<ShardView> {
    return [&]<size_t... I>(std::index_sequence<I...>) -> arrow::Result<ShardView> {
      auto views = std::make_tuple(ColumnView<T>(shard, names[I])...);
      arrow::Status status;
      ((status &= std::get<I>(views).status()), ...);
      ARROW_RETURN_NOT_OK(status);
      xt::xtensor<T, 1> result = function(*std::get<I>(views)...);
      if (static_cast<int64_t>(result.size()) != shard.num_rows()) {
        return arrow::Status::Invalid("The function returned ", result.size(),
                                      " values for ", shard.num_rows(), " rows");
      }
      ARROW_ASSIGN_OR_RAISE(auto column, ToColumn(std::move(result)));
      return shard.WithColumn(output, column);
    }(std::make_index_sequence<N>());
  };
}

}  // namespace xshards
