// SPDX-License-Identifier: Apache-2.0
#include "python/src/fragment_worker.h"

#include <utility>

#include <arrow/compute/initialize.h>

#include "python/src/map_python.h"

namespace xshards::python {

FragmentWorker::FragmentWorker(int64_t memory_bytes, pybind11::object call)
    : call_(std::move(call)), budget_(memory_bytes), operators_(*DefaultOperators()) {
  operators_.Set(NodeKind::kMapPython, MapPythonExecutor(call_));
}

arrow::Result<std::unique_ptr<FragmentWorker>> FragmentWorker::Make(
    const std::string& spill_directory, int64_t memory_bytes, pybind11::object call) {
  ARROW_RETURN_NOT_OK(arrow::compute::Initialize());
  std::unique_ptr<FragmentWorker> worker(
      new FragmentWorker(memory_bytes, std::move(call)));
  // A segment that was sent is never reused here, so idle ones are not worth keeping.
  ARROW_ASSIGN_OR_RAISE(worker->segments_,
                        SegmentPool::Make(spill_directory, &worker->budget_, 0));
  return worker;
}

arrow::Result<Encoded> FragmentWorker::Run(
    const std::shared_ptr<arrow::Buffer>& bytes,
    std::span<const std::shared_ptr<Segment>> segments) {
  const StorageEnvironment environment{&budget_, segments_.get()};
  ARROW_ASSIGN_OR_RAISE(Fragment fragment, DecodeFragment(bytes, segments, environment));
  fragment.sink.storage = Storage::kShared;
  ARROW_ASSIGN_OR_RAISE(auto result, RunFragment(fragment, operators_, environment,
                                                 arrow::StopToken::Unstoppable()));
  return EncodeResult(result);
}

}  // namespace xshards::python
