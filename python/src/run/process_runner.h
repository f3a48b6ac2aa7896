// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "xshards/execution/fragments/runner.h"
#include "xshards/memory/segment.h"

namespace xshards::python {

/// A segment as Python passes it between processes: (kind, descriptor, size).
pybind11::list DescribeSegments(std::span<const std::shared_ptr<Segment>> segments);
/// Makes a segment from each descriptor received from another process.
using AdoptSegment =
    std::function<arrow::Result<std::shared_ptr<Segment>>(SegmentKind, int, int64_t)>;
arrow::Result<std::vector<std::shared_ptr<Segment>>> AdoptSegments(
    const pybind11::iterable& described, const AdoptSegment& adopt);

/// Runs fragments in worker processes, which a Python dispatcher manages.
///
/// The dispatcher's run(sizes, encode, lend_blank, finish, may_start, stop_requested) is
/// called with the GIL held. `sizes` are the bytes each fragment reads; encode(i) returns
/// a fragment as (bytes, segments, functions); lend_blank(i, worker) returns an empty
/// segment to send after these, for the worker to write to, or None; finish(i, worker,
/// bytes, segments) takes the result; and may_start() spills what it can and returns
/// whether the budget has room for another fragment. None of these may be called after
/// run() has returned.
class ProcessRunner final : public Runner {
 public:
  explicit ProcessRunner(pybind11::object dispatcher);
  ~ProcessRunner() override;

  std::string name() const override { return "processes"; }
  arrow::Result<std::vector<FragmentResult>> Run(
      const std::vector<Fragment>& fragments, StorageEnvironment environment,
      const arrow::StopToken& stop, const std::function<void()>& on_done) override;

 private:
  pybind11::object dispatcher_;
};

}  // namespace xshards::python
