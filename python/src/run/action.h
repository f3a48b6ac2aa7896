// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include <arrow/result.h>
#include <arrow/util/cancel.h>
#include <pybind11/pybind11.h>

#include "python/src/convert/status_exception.h"
#include "xshards/context.h"

namespace xshards::python {

/// Run engine work on a helper thread without the GIL, while the calling thread checks
/// for signals and calls `on_progress(stage, label, done, total)` (or None) every
/// 50 ms. An exception from either, such as KeyboardInterrupt, asks the work to stop;
/// once it has, that exception is returned; so is what the work throws, as a Status.
/// Cancelled after EndActions(). The GIL must be held.
arrow::Status WatchWork(Context& context, const pybind11::object& on_progress,
                        const std::function<void(const arrow::StopToken&)>& work);

/// Stop all work that is watched, and wait for its end, for some seconds at most; none
/// begins any more. Called when the interpreter exits: what the engine's threads use is
/// destroyed next. The GIL must be held.
void EndActions();

/// Run an action that returns a Result, and raise if it failed.
template <typename Action>
auto RunAction(Context& context, const pybind11::object& on_progress,
               const Action& action) {
  std::optional<decltype(action(std::declval<const arrow::StopToken&>()))> result;
  Unwrap(WatchWork(context, on_progress,
                   [&](const arrow::StopToken& stop) { result.emplace(action(stop)); }));
  return Unwrap(*std::move(result));
}

}  // namespace xshards::python
