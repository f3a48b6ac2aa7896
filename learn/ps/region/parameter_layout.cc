// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/region/parameter_layout.h"

#include <algorithm>
#include <unordered_set>

#include <arrow/status.h>

namespace xshards::learn {

namespace {

arrow::Status CheckSpec(const ParameterSpec& spec) {
  if (spec.count < 0) {
    return arrow::Status::Invalid("Parameter '", spec.name,
                                  "' must have at least 0 elements, got ", spec.count);
  }
  if (spec.group < 0) {
    return arrow::Status::Invalid("Parameter '", spec.name,
                                  "' must have a group of at least 0, got ", spec.group);
  }
  return arrow::Status::OK();
}

int64_t AlignUp(int64_t bytes) {
  constexpr int64_t kLine = ParameterLayout::kAlignment;
  return (bytes + kLine - 1) / kLine * kLine;
}

}  // namespace

int64_t SizeOf(ParameterType type) { return type == ParameterType::kFloat32 ? 4 : 8; }

arrow::Result<ParameterType> ParameterTypeOf(const std::string& dtype) {
  if (dtype == "float32") return ParameterType::kFloat32;
  if (dtype == "float64") return ParameterType::kFloat64;
  return arrow::Status::TypeError("Parameters are trained as float32 or float64, got '",
                                  dtype, "'");
}

arrow::Result<ParameterLayout> ParameterLayout::Make(
    const std::vector<ParameterSpec>& specs) {
  if (specs.empty()) {
    return arrow::Status::Invalid("A model needs at least one parameter to train");
  }
  ParameterLayout layout;
  std::unordered_set<std::string> names;
  for (const ParameterSpec& spec : specs) {
    ARROW_RETURN_NOT_OK(CheckSpec(spec));
    if (!names.insert(spec.name).second) {
      return arrow::Status::Invalid(
          "Parameter names must be unique (give a tied parameter once), got '", spec.name,
          "' twice");
    }
    layout.parameters_.push_back({.name = spec.name,
                                  .offset = 0,
                                  .count = spec.count,
                                  .type = spec.type,
                                  .group = spec.group});
    layout.num_groups_ = std::max(layout.num_groups_, spec.group + 1);
  }
  for (ParameterType type : {ParameterType::kFloat32, ParameterType::kFloat64}) {
    for (Parameter& parameter : layout.parameters_) {
      if (parameter.type != type) continue;
      parameter.offset = layout.vector_bytes_;
      layout.vector_bytes_ += AlignUp(parameter.count * SizeOf(type));
    }
  }
  return layout;
}

}  // namespace xshards::learn
