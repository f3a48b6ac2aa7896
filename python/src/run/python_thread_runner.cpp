// SPDX-License-Identifier: Apache-2.0
#include "python/src/run/python_thread_runner.h"

#include <algorithm>
#include <utility>

#include "python/src/convert/gil.h"
#include "python/src/run/map_python.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/storage/block_store.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

std::shared_ptr<const OperatorTable> OperatorsWith(py::handle call) {
  auto operators = std::make_shared<OperatorTable>(*DefaultOperators());
  operators->Set(NodeKind::kMapPython, MapPythonExecutor(call));
  return operators;
}

}  // namespace

PythonThreadRunner::PythonThreadRunner(int num_threads, py::object call,
                                       py::object call_on_empty)
    : call_(std::move(call)),
      call_on_empty_(std::move(call_on_empty)),
      num_threads_(num_threads),
      operators_(OperatorsWith(call_)),
      operators_on_empty_(OperatorsWith(call_on_empty_)) {}

PythonThreadRunner::~PythonThreadRunner() {
  // The last owner may be an engine thread, or the interpreter may have been finalized.
  if (Py_IsInitialized() == 0) {
    call_.release();
    call_on_empty_.release();
    return;
  }
  const AcquireGil acquire;
  call_ = py::object();
  call_on_empty_ = py::object();
}

arrow::Result<std::vector<FragmentResult>> PythonThreadRunner::Run(
    const std::vector<Fragment>& fragments, StorageEnvironment environment,
    const arrow::StopToken& stop, const std::function<void()>& on_done) {
  // Separate threads for each stage: a function may itself run a plan, which must not
  // wait for the threads that wait for it.
  ARROW_ASSIGN_OR_RAISE(auto results, MakeThreadRunner(num_threads_, operators_)
                                          ->Run(fragments, environment, stop, on_done));
  const bool nothing =
      std::all_of(results.begin(), results.end(), [](const FragmentResult& result) {
        const bool none_kept = result.whole == nullptr || result.whole->num_blocks() == 0;
        return none_kept && result.store->num_blocks() == 0;
      });
  if (results.empty() || !nothing) return results;
  ARROW_ASSIGN_OR_RAISE(auto first,
                        MakeThreadRunner(1, operators_on_empty_)
                            ->Run({fragments.front()}, environment, stop, [] {}));
  results.front() = std::move(first.front());
  return results;
}

}  // namespace xshards::python
