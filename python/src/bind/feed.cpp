// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "learn/feed/feeder.h"
#include "learn/feed/lent_partitions.h"
#include "python/src/bindings.h"
#include "python/src/convert/gil.h"
#include "python/src/convert/pyarrow_caster.h"
#include "python/src/convert/status_exception.h"
#include "python/src/convert/tensor_array.h"
#include "python/src/run/action.h"
#include "python/src/run/process_runner.h"
#include "xshards/memory/segment.h"
#include "xshards/shards.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

/// A feeder and the owner of its batches' memory.
struct HomedFeeder {
  std::shared_ptr<void> home;
  std::unique_ptr<learn::Feeder> feeder;  // after home, so that it is destroyed first
};

using WantedTensors =
    std::vector<std::pair<std::vector<std::string>, std::optional<std::string>>>;

arrow::Result<std::vector<learn::TensorSpec>> ToSpecs(WantedTensors wanted) {
  std::vector<learn::TensorSpec> specs;
  for (auto& [columns, dtype] : wanted) {
    learn::TensorSpec spec{.columns = std::move(columns)};
    if (dtype.has_value()) {
      ARROW_ASSIGN_OR_RAISE(spec.type, learn::TensorTypeFromNumpy(*dtype));
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

learn::FeedOptions ToOptions(WantedTensors tensors, int64_t batch_size,
                             std::pair<int, int> replica, bool shuffle, uint64_t seed,
                             int64_t window_rows, int prefetch) {
  learn::FeedOptions options;
  options.tensors = Unwrap(ToSpecs(std::move(tensors)));
  options.batch_size = batch_size;
  options.replica = replica.first;
  options.num_replicas = replica.second;
  options.order = {.shuffle = shuffle, .seed = seed, .window_rows = window_rows};
  options.prefetch = prefetch;
  Unwrap(options.Validate());
  return options;
}

std::vector<Partition> Materialise(const XShards& shards, const py::object& on_progress) {
  return RunAction(*shards.context(), on_progress,
                   [&](const arrow::StopToken& stop) { return shards.Collect(stop); });
}

HomedFeeder MakeFeeder(const XShards& shards, const py::object& on_progress,
                       WantedTensors tensors, int64_t batch_size,
                       std::pair<int, int> replica, bool shuffle, uint64_t seed,
                       int64_t window_rows, int prefetch) {
  auto options = ToOptions(std::move(tensors), batch_size, replica, shuffle, seed,
                           window_rows, prefetch);
  const auto partitions = Materialise(shards, on_progress);
  return {shards.context(), Unwrap(learn::Feeder::Make(partitions, std::move(options),
                                                       shards.context()->memory_pool()))};
}

std::unique_ptr<learn::LentPartitions> Lend(const XShards& shards,
                                            const py::object& on_progress) {
  const auto partitions = Materialise(shards, on_progress);
  return Unwrap([&] {
    const ReleaseGil release;
    return learn::LentPartitions::Make(shards.context(), partitions);
  }());
}

learn::BorrowedPartitions Borrow(const std::shared_ptr<arrow::Buffer>& bytes,
                                 const py::iterable& described,
                                 const std::string& spill_directory,
                                 int64_t memory_bytes) {
  const auto segments =
      Unwrap(AdoptSegments(described, [](SegmentKind kind, int fd, int64_t size) {
        return Segment::Adopt(kind, fd, size);
      }));
  return Unwrap(
      learn::BorrowedPartitions::Make(bytes, segments, spill_directory, memory_bytes));
}

HomedFeeder FeedBorrowed(const learn::BorrowedPartitions& borrowed, WantedTensors tensors,
                         int64_t batch_size, std::pair<int, int> replica, bool shuffle,
                         uint64_t seed, int64_t window_rows, int prefetch) {
  auto options = ToOptions(std::move(tensors), batch_size, replica, shuffle, seed,
                           window_rows, prefetch);
  return {borrowed.home(),
          Unwrap(learn::Feeder::Make(borrowed.partitions(), std::move(options),
                                     borrowed.pool()))};
}

/// (step, rows of the step over all replicas, arrays); None after the last.
py::object Next(HomedFeeder& self) {
  const auto batch = Unwrap([&] {
    const ReleaseGil release;
    return self.feeder->Next();
  }());
  if (!batch.has_value()) return py::none();
  py::list arrays;
  for (const learn::Tensor& tensor : batch->rows.tensors) {
    arrays.append(ToNumpy(self.home, tensor, batch->rows.num_rows));
  }
  return py::make_tuple(batch->step, batch->step_rows, arrays);
}

}  // namespace

void BindFeed(py::module_& module) {
  py::class_<learn::LentPartitions>(module, "LentPartitions")
      .def(py::init(&Lend))
      .def_property_readonly("num_rows", &learn::LentPartitions::num_rows)
      .def_property_readonly("bytes", &learn::LentPartitions::bytes)
      .def_property_readonly("segments", [](const learn::LentPartitions& self) {
        return DescribeSegments(self.segments());
      });
  py::class_<learn::BorrowedPartitions>(module, "BorrowedPartitions")
      .def(py::init(&Borrow));
  py::class_<HomedFeeder>(module, "Feeder")
      .def(py::init(&MakeFeeder))
      .def_property_readonly(
          "num_rows", [](const HomedFeeder& self) { return self.feeder->num_rows(); })
      .def_property_readonly(
          "num_steps", [](const HomedFeeder& self) { return self.feeder->num_steps(); })
      .def("start",
           [](HomedFeeder& self, int64_t epoch, int64_t first_step) {
             arrow::Status started;
             {
               const ReleaseGil release;
               started = self.feeder->Start(epoch, first_step);
             }
             Unwrap(started);
           })
      .def("next", &Next)
      .def_static("over", &FeedBorrowed);
}

}  // namespace xshards::python
