// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "xshards/execution/fragments/runner.h"

namespace xshards::python {

/// Runs fragments whose Python functions release the GIL, on threads of this process.
///
/// `call` is as for MapPythonExecutor and skips partitions without rows. If that skips
/// all of them, the first fragment runs again with `call_on_empty`, so that the columns
/// of the result are known.
class PythonThreadRunner final : public Runner {
 public:
  PythonThreadRunner(int num_threads, pybind11::object call,
                     pybind11::object call_on_empty);
  ~PythonThreadRunner() override;

  std::string name() const override { return "threads"; }
  arrow::Result<std::vector<FragmentResult>> Run(
      const std::vector<Fragment>& fragments, StorageEnvironment environment,
      const arrow::StopToken& stop, const std::function<void()>& on_done) override;

 private:
  pybind11::object call_;
  pybind11::object call_on_empty_;
  const int num_threads_;
  std::shared_ptr<const OperatorTable> operators_;
  std::shared_ptr<const OperatorTable> operators_on_empty_;
};

}  // namespace xshards::python
