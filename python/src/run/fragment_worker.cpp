// SPDX-License-Identifier: Apache-2.0
#include "python/src/run/fragment_worker.h"

#include <algorithm>
#include <utility>

#include <arrow/compute/initialize.h>

#include "python/src/convert/gil.h"
#include "python/src/run/map_python.h"

namespace xshards::python {

namespace {

bool AnyAlive(const std::vector<std::weak_ptr<arrow::Buffer>>& mappings) {
  return std::any_of(mappings.begin(), mappings.end(),
                     [](const auto& mapping) { return !mapping.expired(); });
}

/// DataFrames in reference cycles refer to a segment until they are collected.
void CollectGarbage() {
  const AcquireGil acquire;
  PyGC_Collect();
}

}  // namespace

FragmentWorker::FragmentWorker(int64_t memory_bytes, pybind11::object call)
    : call_(std::move(call)), budget_(memory_bytes), operators_(*DefaultOperators()) {
  operators_.Set(NodeKind::kMapPython, MapPythonExecutor(call_));
}

arrow::Result<std::unique_ptr<FragmentWorker>> FragmentWorker::Make(
    const std::string& spill_directory, int64_t memory_bytes, pybind11::object call) {
  ARROW_RETURN_NOT_OK(arrow::compute::Initialize());
  std::unique_ptr<FragmentWorker> worker(
      new FragmentWorker(memory_bytes, std::move(call)));
  // Segments come from the parent and return to it, so none is ever idle here.
  ARROW_ASSIGN_OR_RAISE(worker->segments_,
                        SegmentPool::Make(spill_directory, &worker->budget_, 0));
  return worker;
}

arrow::Result<Encoded> FragmentWorker::Run(
    const std::shared_ptr<arrow::Buffer>& bytes,
    std::vector<std::shared_ptr<Segment>> segments) {
  ARROW_ASSIGN_OR_RAISE(memory_, PrivateMemory::Map(segments));
  for (const auto& segment : segments) {
    const bool blank = segment->kind() == SegmentKind::kMemory && segment->size() == 0;
    if (!blank) continue;
    segment->WriteThrough(&warm_);
    segments_->Offer(segment);
  }
  auto result = RunInMemory(bytes, segments);
  segments_->WithdrawOffers();
  const auto mappings = std::move(*memory_).Release();
  memory_.reset();
  ARROW_RETURN_NOT_OK(result);
  if (AnyAlive(mappings)) CollectGarbage();
  std::vector<KnownSegment> known;
  for (size_t i = 0; i < segments.size(); ++i) {
    known.push_back({.segment = segments[i], .still_mapped = !mappings[i].expired()});
  }
  ARROW_ASSIGN_OR_RAISE(auto encoded, EncodeResult(*result, known));
  // Segments created here will be lent again: map them now rather than when they are
  // written.
  for (const auto& made : std::span(encoded.segments).subspan(encoded.num_known)) {
    warm_.Map(*made);
  }
  return encoded;
}

arrow::Result<FragmentResult> FragmentWorker::RunInMemory(
    const std::shared_ptr<arrow::Buffer>& bytes,
    std::span<const std::shared_ptr<Segment>> segments) {
  const StorageEnvironment environment{
      .budget = &budget_, .segments = segments_.get(), .inputs = memory_.get()};
  ARROW_ASSIGN_OR_RAISE(Fragment fragment, DecodeFragment(bytes, segments, environment));
  fragment.sink.storage = Storage::kShared;
  return RunFragment(fragment, operators_, environment, arrow::StopToken::Unstoppable());
}

std::optional<PrivateMemory::Loan> FragmentWorker::Lend(const arrow::Buffer& buffer) {
  if (memory_ == nullptr) return std::nullopt;
  return memory_->Lend(buffer.data(), buffer.size());
}

}  // namespace xshards::python
