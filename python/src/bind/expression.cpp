// SPDX-License-Identifier: Apache-2.0
#include "xshards/expression/expression.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "python/src/bindings.h"
#include "python/src/convert/pyarrow_caster.h"

namespace xshards::python {

namespace py = pybind11;

void BindExpression(py::module_& module) {
  py::class_<Expression>(module, "Expression")
      .def_static("col", [](std::string name) { return col(std::move(name)); })
      .def_static(
          "lit",
          [](std::shared_ptr<arrow::Scalar> value) { return lit(std::move(value)); })
      // pyarrow would import pandas to make a scalar, even of these values.
      .def_static(
          "lit", [](bool value) { return lit(value); }, py::arg("value").noconvert())
      .def_static(
          "lit", [](int64_t value) { return lit(value); }, py::arg("value").noconvert())
      .def_static(
          "lit", [](double value) { return lit(value); }, py::arg("value").noconvert())
      .def_static(
          "lit", [](std::string value) { return lit(std::move(value)); },
          py::arg("value").noconvert())
      .def_static("call",
                  [](std::string function, std::vector<Expression> arguments) {
                    return Expression::Call(std::move(function), std::move(arguments));
                  })
      .def_static("as_type",
                  [](Expression value, const std::shared_ptr<arrow::DataType>& type,
                     std::string dtype, bool may_be_missing) {
                    return Expression::Call("as_type",
                                            {std::move(value), lit(std::move(dtype)),
                                             lit(int64_t{may_be_missing})},
                                            std::make_shared<arrow::compute::CastOptions>(
                                                arrow::compute::CastOptions::Safe(type)));
                  })
      .def_static("as_dtype",
                  [](Expression value, const std::shared_ptr<arrow::DataType>& type,
                     const std::vector<std::pair<std::string, std::string>>& marks) {
                    std::vector<Expression> arguments{std::move(value)};
                    for (const auto& [key, text] : marks) {
                      arguments.push_back(lit(key));
                      arguments.push_back(lit(text));
                    }
                    return Expression::Call("as_dtype", std::move(arguments),
                                            std::make_shared<arrow::compute::CastOptions>(
                                                arrow::compute::CastOptions::Safe(type)));
                  })
      .def_static("match",
                  [](std::string function, Expression text, std::string pattern,
                     bool ignore_case) {
                    return Expression::Call(
                        std::move(function), {std::move(text)},
                        std::make_shared<arrow::compute::MatchSubstringOptions>(
                            std::move(pattern), ignore_case));
                  })
      .def_static("replace",
                  [](std::string function, Expression text, std::string pattern,
                     std::string replacement, int64_t count) {
                    return Expression::Call(
                        std::move(function), {std::move(text)},
                        std::make_shared<arrow::compute::ReplaceSubstringOptions>(
                            std::move(pattern), std::move(replacement), count));
                  })
      .def("is_in", &Expression::IsIn)
      .def("index_in",
           [](const Expression& self, const std::shared_ptr<arrow::Array>& values) {
             return Expression::Call(
                 "index_in", {self},
                 std::make_shared<arrow::compute::SetLookupOptions>(values));
           })
      .def("cast", &Expression::Cast)
      .def("columns", &Expression::Columns)
      .def("__str__", &Expression::ToString);
}

}  // namespace xshards::python
