// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include <parquet/exception.h>

#include "xshards/catch_exceptions.h"

namespace xshards::io {

/// Call what uses Arrow's Parquet library, which throws, and return its Status or Result:
/// that of the exception if one was thrown.
template <typename Act>
std::invoke_result_t<Act> CatchParquet(Act act) {
  return CatchExceptions("Reading Parquet", [&]() -> std::invoke_result_t<Act> {
    BEGIN_PARQUET_CATCH_EXCEPTIONS
    return act();
    END_PARQUET_CATCH_EXCEPTIONS
  });
}

}  // namespace xshards::io
