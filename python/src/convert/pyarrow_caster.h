// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/python/pyarrow.h>
#include <arrow/scalar.h>
#include <arrow/table.h>
#include <arrow/type.h>
#include <pybind11/pybind11.h>

// Lets bound functions take and return pyarrow objects as Arrow's own, without a copy.
// A nullptr becomes None.

namespace pybind11::detail {

template <typename T, auto Is, auto Unwrap, auto Wrap>
struct PyarrowCaster {
  PYBIND11_TYPE_CASTER(std::shared_ptr<T>, const_name("object"));

  bool load(handle source, bool /*convert*/) {
    if (!Is(source.ptr())) return false;
    auto result = Unwrap(source.ptr());
    if (!result.ok()) return false;
    value = result.MoveValueUnsafe();
    return true;
  }

  static handle cast(const std::shared_ptr<T>& source, return_value_policy /*policy*/,
                     handle /*parent*/) {
    if (source == nullptr) return none().release();
    return Wrap(source);
  }
};

template <>
struct type_caster<std::shared_ptr<arrow::Table>>
    : PyarrowCaster<arrow::Table, arrow::py::is_table, arrow::py::unwrap_table,
                    arrow::py::wrap_table> {};
template <>
struct type_caster<std::shared_ptr<arrow::Schema>>
    : PyarrowCaster<arrow::Schema, arrow::py::is_schema, arrow::py::unwrap_schema,
                    arrow::py::wrap_schema> {};
template <>
struct type_caster<std::shared_ptr<arrow::RecordBatch>>
    : PyarrowCaster<arrow::RecordBatch, arrow::py::is_batch, arrow::py::unwrap_batch,
                    arrow::py::wrap_batch> {};
template <>
struct type_caster<std::shared_ptr<arrow::Array>>
    : PyarrowCaster<arrow::Array, arrow::py::is_array, arrow::py::unwrap_array,
                    arrow::py::wrap_array> {};
template <>
struct type_caster<std::shared_ptr<arrow::DataType>>
    : PyarrowCaster<arrow::DataType, arrow::py::is_data_type, arrow::py::unwrap_data_type,
                    arrow::py::wrap_data_type> {};
template <>
struct type_caster<std::shared_ptr<arrow::Scalar>>
    : PyarrowCaster<arrow::Scalar, arrow::py::is_scalar, arrow::py::unwrap_scalar,
                    arrow::py::wrap_scalar> {};
template <>
struct type_caster<std::shared_ptr<arrow::Buffer>>
    : PyarrowCaster<arrow::Buffer, arrow::py::is_buffer, arrow::py::unwrap_buffer,
                    arrow::py::wrap_buffer> {};

}  // namespace pybind11::detail
