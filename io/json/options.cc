// SPDX-License-Identifier: Apache-2.0
#include "io/json/options.h"

#include "io/options/type_names.h"

namespace xshards::io {

arrow::Status JsonOptions::Validate() const {
  ARROW_RETURN_NOT_OK(CheckDtype(dtype));
  if (nrows.value_or(0) < 0) {
    return arrow::Status::Invalid("nrows must be 0 or more, got ", *nrows);
  }
  return split.Validate();
}

}  // namespace xshards::io
