// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/result.h>

#include "xshards/export.h"

namespace xshards::learn {

enum class ParameterType : int32_t { kFloat32 = 0, kFloat64 = 1 };

XSHARDS_EXPORT int64_t SizeOf(ParameterType type);
/// The type of a dtype's name; TypeError for any but "float32" and "float64".
XSHARDS_EXPORT arrow::Result<ParameterType> ParameterTypeOf(const std::string& dtype);

/// One parameter as the model declares it. Tied parameters are given once, frozen ones
/// not at all.
struct ParameterSpec {
  std::string name;
  int64_t count = 0;  // elements
  ParameterType type = ParameterType::kFloat32;
  int32_t group = 0;  // index into the server's update rules
};

/// One parameter in the flat vector.
struct Parameter {
  std::string name;
  int64_t offset = 0;  // bytes from the start of the vector, a multiple of kAlignment
  int64_t count = 0;
  ParameterType type = ParameterType::kFloat32;
  int32_t group = 0;
};

/// Where each parameter is in the flat vector: all float32 ones, then all float64 ones,
/// those of one type in the given order, each parameter starting on its own cache line.
/// Weights, every gradient and every optimizer state have this layout.
class XSHARDS_EXPORT ParameterLayout {
 public:
  static constexpr int64_t kAlignment = 64;

  /// Fails if there is no parameter, a name is used twice or a count is negative.
  static arrow::Result<ParameterLayout> Make(const std::vector<ParameterSpec>& specs);

  /// In the order given to Make.
  const std::vector<Parameter>& parameters() const { return parameters_; }
  int32_t num_parameters() const { return static_cast<int32_t>(parameters_.size()); }
  int32_t num_groups() const { return num_groups_; }
  /// Bytes of one flat vector, padding included.
  int64_t vector_bytes() const { return vector_bytes_; }

 private:
  ParameterLayout() = default;

  std::vector<Parameter> parameters_;
  int32_t num_groups_ = 0;
  int64_t vector_bytes_ = 0;
};

}  // namespace xshards::learn
