// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>
#include <exception>
#include <new>
#include <string_view>
#include <type_traits>

#include <arrow/result.h>
#include <arrow/status.h>

namespace xshards {

/// Call `act`, which returns a Status or a Result, and return an error in its place if it
/// throws: OutOfMemory for std::bad_alloc, UnknownError for all else. `place` says what
/// was being done. For every border that an exception must not cross: threads, tasks and
/// calls of libraries that throw.
template <typename Act>
std::invoke_result_t<Act&> CatchExceptions(std::string_view place, Act&& act) {
  try {
    return act();
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread is being ended, and must not be kept
  } catch (const std::bad_alloc&) {
    return arrow::Status::OutOfMemory(place, ": the system has no more memory");
  } catch (const std::exception& error) {
    return arrow::Status::UnknownError(place, ": ", error.what());
  } catch (...) {
    return arrow::Status::UnknownError(place, ": an exception of unknown type");
  }
}

}  // namespace xshards
