// SPDX-License-Identifier: Apache-2.0
#include "python/src/process_runner.h"

#include <tuple>
#include <utility>

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "python/src/pyarrow_caster.h"
#include "python/src/status_exception.h"
#include "xshards/segment.h"

namespace xshards::python {

namespace py = pybind11;

py::list DescribeSegments(const std::vector<std::shared_ptr<Segment>>& segments) {
  py::list described;
  for (const auto& segment : segments) {
    // From now on another process may have it mapped.
    segment->MarkExported();
    described.append(py::make_tuple(static_cast<int>(segment->kind()), segment->fd(),
                                    segment->size()));
  }
  return described;
}

arrow::Result<std::vector<std::shared_ptr<Segment>>> AdoptSegments(
    const py::iterable& segments) {
  std::vector<std::shared_ptr<Segment>> adopted;
  for (const py::handle item : segments) {
    const auto [kind, fd, size] = item.cast<std::tuple<int, int, int64_t>>();
    ARROW_ASSIGN_OR_RAISE(auto segment,
                          Segment::Adopt(static_cast<SegmentKind>(kind), fd, size));
    adopted.push_back(std::move(segment));
  }
  return adopted;
}

namespace {

/// One call of Run(): what the dispatcher's callbacks work on.
class Batch {
 public:
  Batch(const std::vector<Fragment>& fragments, StorageEnvironment environment,
        const std::function<void()>& on_done)
      : fragments_(fragments),
        environment_(environment),
        on_done_(on_done),
        sent_(fragments.size()),
        results_(fragments.size()) {}

  py::tuple Encode(size_t index) {
    Unwrap([&] {
      py::gil_scoped_release release;
      return EncodeFragment(fragments_.at(index), environment_).Value(&sent_[index]);
    }());
    py::dict functions;
    for (const auto& [hash, pickle] : sent_[index].functions) {
      functions[py::str(hash)] = pickle;
    }
    return py::make_tuple(sent_[index].bytes, DescribeSegments(sent_[index].segments),
                          functions);
  }

  void Finish(size_t index, const std::shared_ptr<arrow::Buffer>& bytes,
              const py::iterable& described) {
    const auto segments = Unwrap(AdoptSegments(described));
    Unwrap([&] {
      py::gil_scoped_release release;
      return DecodeResult(bytes, segments, environment_).Value(&results_[index]);
    }());
    sent_[index] = {};
    on_done_();
  }

  std::vector<FragmentResult> TakeResults() { return std::move(results_); }

 private:
  const std::vector<Fragment>& fragments_;
  const StorageEnvironment environment_;
  const std::function<void()>& on_done_;
  std::vector<Encoded> sent_;  // keeps descriptors open while they are sent
  std::vector<FragmentResult> results_;
};

}  // namespace

ProcessRunner::ProcessRunner(py::object dispatcher)
    : dispatcher_(std::move(dispatcher)) {}

ProcessRunner::~ProcessRunner() {
  // The last owner may be an engine thread, or the interpreter may be gone already.
  if (Py_IsInitialized() == 0) {
    dispatcher_.release();
    return;
  }
  py::gil_scoped_acquire acquire;
  dispatcher_ = py::object();
}

arrow::Result<std::vector<FragmentResult>> ProcessRunner::Run(
    const std::vector<Fragment>& fragments, StorageEnvironment environment,
    const arrow::StopToken& stop, const std::function<void()>& on_done) {
  Batch batch(fragments, environment, on_done);
  {
    py::gil_scoped_acquire acquire;
    try {
      dispatcher_.attr("run")(
          fragments.size(),
          py::cpp_function([&batch](size_t index) { return batch.Encode(index); }),
          py::cpp_function([&batch](size_t index,
                                    const std::shared_ptr<arrow::Buffer>& bytes,
                                    const py::iterable& segments) {
            batch.Finish(index, bytes, segments);
          }),
          py::cpp_function([&stop] { return stop.IsStopRequested(); }));
    } catch (py::error_already_set& error) {
      return ToStatus(error);
    }
  }
  ARROW_RETURN_NOT_OK(stop.Poll());
  return batch.TakeResults();
}

}  // namespace xshards::python
