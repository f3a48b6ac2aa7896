// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "xshards/execution/fragments/fragment.h"
#include "xshards/export.h"

namespace xshards {

/// Runs the fragments of a stage somewhere: threads, processes, later a cluster.
class XSHARDS_EXPORT Runner {
 public:
  virtual ~Runner() = default;

  /// "threads", "processes", ...
  virtual std::string name() const = 0;

  /// Run all fragments and return their results in order. Blocks. The first failure stops
  /// the others and is returned; `on_done` is called after each fragment, on any thread.
  virtual arrow::Result<std::vector<FragmentResult>> Run(
      const std::vector<Fragment>& fragments, StorageEnvironment environment,
      const arrow::StopToken& stop, const std::function<void()>& on_done) = 0;
};

/// Runs fragments on this process's threads: a oneTBB arena, or plain threads where the
/// library is built without it (thread-sanitizer builds).
XSHARDS_EXPORT std::shared_ptr<Runner> MakeThreadRunner(
    int num_threads, std::shared_ptr<const OperatorTable> operators);

}  // namespace xshards
