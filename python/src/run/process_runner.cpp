// SPDX-License-Identifier: Apache-2.0
#include "python/src/run/process_runner.h"

#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "python/src/convert/gil.h"
#include "python/src/convert/pyarrow_caster.h"
#include "python/src/convert/status_exception.h"
#include "xshards/memory/segment_pool.h"

namespace xshards::python {

namespace py = pybind11;

py::tuple DescribeSegment(const Segment& segment) {
  return py::make_tuple(static_cast<int>(segment.kind()), segment.fd(), segment.size());
}

py::list DescribeSegments(std::span<const std::shared_ptr<Segment>> segments) {
  py::list described;
  for (const auto& segment : segments) described.append(DescribeSegment(*segment));
  return described;
}

arrow::Result<std::vector<std::shared_ptr<Segment>>> AdoptSegments(
    const py::iterable& described, const AdoptSegment& adopt) {
  std::vector<std::shared_ptr<Segment>> adopted;
  for (const py::handle item : described) {
    const auto [kind, fd, size] = item.cast<std::tuple<int, int, int64_t>>();
    ARROW_ASSIGN_OR_RAISE(auto segment, adopt(static_cast<SegmentKind>(kind), fd, size));
    adopted.push_back(std::move(segment));
  }
  return adopted;
}

namespace {

// For a smaller result no empty segment is lent: results of many fragments share one.
constexpr int64_t kWorthBlank = 64LL << 10;

/// A function gets its complete partition, even if it exceeds the budget.
void WarnOfLarge(const Fragment& fragment, int64_t limit) {
  const int64_t bytes = InputBytes(*fragment.root);
  const auto message =
      "partition " + std::to_string(fragment.index) + " of " +
      std::to_string(bytes >> 20) +
      " MB is passed to a Python function as a whole, but the memory budget is " +
      std::to_string(limit >> 20) +
      " MB; repartition into smaller ones, or increase memory";
  if (PyErr_WarnEx(PyExc_ResourceWarning, message.c_str(), 1) != 0) {
    throw py::error_already_set();
  }
}

/// The state of one call of Run(), used by the dispatcher's callbacks.
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
    if (InputBytes(*fragments_.at(index).root) > environment_.budget->limit()) {
      WarnOfLarge(fragments_[index], environment_.budget->limit());
      large_.insert(index);
    }
    Encoded& sent = sent_[index];
    // It was sent before: its worker died or never began it, and no longer holds its
    // segments.
    for (const auto& segment : sent.segments) segment->TakeBack();
    sent = {};
    Unwrap([&]() -> arrow::Status {
      const ReleaseGil release;
      ARROW_RETURN_NOT_OK(EncodeFragment(fragments_[index], environment_).Value(&sent));
      for (const auto& segment : sent.segments) segment->Lend();
      return arrow::Status::OK();
    }());
    py::dict functions;
    for (const auto& [hash, pickle] : sent.functions) functions[py::str(hash)] = pickle;
    return py::make_tuple(sent.bytes, DescribeSegments(sent.segments), functions);
  }

  /// Warm pages to write to. The worker creates its own segment if these do not fit.
  py::object LendBlank(size_t index, int64_t worker) {
    const int64_t expected = ExpectedBytes(index);
    auto blank = expected < kWorthBlank
                     ? nullptr
                     : environment_.segments->TakeIdle(expected, worker);
    if (blank == nullptr) return py::none();
    blank->LendBlank(worker);
    sent_[index].segments.push_back(blank);
    return DescribeSegment(*blank);
  }

  void Finish(size_t index, int64_t worker, const std::shared_ptr<arrow::Buffer>& bytes,
              const py::iterable& described) {
    auto segments = std::move(sent_[index].segments);
    auto made = Unwrap(
        AdoptSegments(described,
                      [&](SegmentKind kind, int fd,
                          int64_t size) -> arrow::Result<std::shared_ptr<Segment>> {
                        return environment_.segments->Adopt(kind, fd, size, worker);
                      }));
    segments.insert(segments.end(), made.begin(), made.end());
    Unwrap([&]() -> arrow::Status {
      const ReleaseGil release;
      auto& result = results_[index];
      ARROW_RETURN_NOT_OK(DecodeResult(bytes, segments, environment_).Value(&result));
      for (const auto& store : {result.store, result.whole}) {
        if (store == nullptr) continue;
        ARROW_RETURN_NOT_OK(store->Consolidate(*environment_.segments));
      }
      return arrow::Status::OK();
    }());
    sent_[index] = {};
    large_.erase(index);
    read_ += InputBytes(*fragments_[index].root);
    written_ += results_[index].metrics.bytes_written;
    on_done_();
  }

  std::vector<int64_t> Sizes() const {
    std::vector<int64_t> sizes;
    for (const Fragment& fragment : fragments_) {
      sizes.push_back(InputBytes(*fragment.root));
    }
    return sizes;
  }

  bool MayStart() {
    Unwrap([&] {
      const ReleaseGil release;
      return environment_.budget->MakeRoom();
    }());
    return large_.empty() && !environment_.budget->over_high_mark();
  }

  std::vector<FragmentResult> TakeResults() { return std::move(results_); }

 private:
  /// The estimated output of a fragment, from those that are done.
  int64_t ExpectedBytes(size_t index) const {
    const double part =
        read_ == 0 ? 1.0 : static_cast<double>(written_) / static_cast<double>(read_);
    return static_cast<int64_t>(part *
                                static_cast<double>(InputBytes(*fragments_[index].root)));
  }

  const std::vector<Fragment>& fragments_;
  const StorageEnvironment environment_;
  const std::function<void()>& on_done_;
  std::vector<Encoded> sent_;  // keeps descriptors open while they are sent
  std::vector<FragmentResult> results_;
  std::set<size_t>
      large_;         // running, and larger than the budget: nothing runs concurrently
  int64_t read_ = 0;  // by the fragments that are done
  int64_t written_ = 0;
};

}  // namespace

ProcessRunner::ProcessRunner(py::object dispatcher)
    : dispatcher_(std::move(dispatcher)) {}

ProcessRunner::~ProcessRunner() {
  // The last owner may be an engine thread, or the interpreter may have been finalized.
  if (Py_IsInitialized() == 0) {
    dispatcher_.release();
    return;
  }
  const AcquireGil acquire;
  dispatcher_ = py::object();
}

arrow::Result<std::vector<FragmentResult>> ProcessRunner::Run(
    const std::vector<Fragment>& fragments, StorageEnvironment environment,
    const arrow::StopToken& stop, const std::function<void()>& on_done) {
  Batch batch(fragments, environment, on_done);
  {
    const AcquireGil acquire;
    try {
      dispatcher_.attr("run")(
          batch.Sizes(),
          py::cpp_function([&batch](size_t index) { return batch.Encode(index); }),
          py::cpp_function([&batch](size_t index, int64_t worker) {
            return batch.LendBlank(index, worker);
          }),
          py::cpp_function([&batch](size_t index, int64_t worker,
                                    const std::shared_ptr<arrow::Buffer>& bytes,
                                    const py::iterable& segments) {
            batch.Finish(index, worker, bytes, segments);
          }),
          py::cpp_function([&batch] { return batch.MayStart(); }),
          py::cpp_function([&stop] { return stop.IsStopRequested(); }));
    } catch (py::error_already_set& error) {
      return ToStatus(error);
    }
  }
  ARROW_RETURN_NOT_OK(stop.Poll());
  return batch.TakeResults();
}

}  // namespace xshards::python
