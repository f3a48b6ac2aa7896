// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <arrow/result.h>

#include "xshards/export.h"

namespace xshards {

/// True for the aggregates "median", "quantile" and "quantile(0.25)".
XSHARDS_EXPORT bool IsQuantile(const std::string& function);
/// The share of values below it: 0.5 unless the name tells another. Invalid if that is no
/// number between 0 and 1.
XSHARDS_EXPORT arrow::Result<double> QuantileShare(const std::string& function);

}  // namespace xshards
