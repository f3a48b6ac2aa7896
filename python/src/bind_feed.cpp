// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "learn/feed/feeder.h"
#include "python/src/action.h"
#include "python/src/anchor.h"
#include "python/src/bindings.h"
#include "python/src/status_exception.h"
#include "xshards/shards.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

/// A feeder and the Context whose memory its batches are in.
struct ContextFeeder {
  std::shared_ptr<Context> context;
  std::unique_ptr<learn::Feeder> feeder;  // after context, so that it ends first
};

arrow::Result<std::vector<learn::TensorSpec>> ToSpecs(
    std::vector<std::pair<std::vector<std::string>, std::optional<std::string>>> wanted) {
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

ContextFeeder MakeFeeder(
    const XShards& shards, const py::object& on_progress,
    std::vector<std::pair<std::vector<std::string>, std::optional<std::string>>> tensors,
    int64_t batch_size, std::pair<int, int> replica, bool shuffle, uint64_t seed,
    int64_t window_rows, int prefetch) {
  learn::FeedOptions options;
  options.tensors = Unwrap(ToSpecs(std::move(tensors)));
  options.batch_size = batch_size;
  options.replica = replica.first;
  options.num_replicas = replica.second;
  options.order = {.shuffle = shuffle, .seed = seed, .window_rows = window_rows};
  options.prefetch = prefetch;
  Unwrap(options.Validate());
  const auto partitions =
      RunAction(*shards.context(), on_progress,
                [&](const arrow::StopToken& stop) { return shards.Collect(stop); });
  return {shards.context(), Unwrap(learn::Feeder::Make(partitions, std::move(options),
                                                       shards.context()->memory_pool()))};
}

/// A numpy view of a tensor. Made for this batch alone, it may be changed; a view of
/// stored data may not.
py::array ToNumpy(const std::shared_ptr<Context>& context, const learn::Tensor& tensor,
                  int64_t num_rows) {
  auto* owner = new std::shared_ptr<arrow::Buffer>(Anchor(context, tensor.data));
  const py::capsule base(owner, [](void* pointer) {
    delete static_cast<std::shared_ptr<arrow::Buffer>*>(pointer);
  });
  std::vector<py::ssize_t> shape = {num_rows};
  shape.insert(shape.end(), tensor.row.shape.begin(), tensor.row.shape.end());
  py::array array(py::dtype(learn::NumpyName(tensor.row.type)), std::move(shape),
                  tensor.data->data(), base);
  if (!tensor.data->is_mutable()) array.attr("flags").attr("writeable") = false;
  return array;
}

/// (step, rows of the step over all replicas, arrays); None after the last.
py::object Next(ContextFeeder& self) {
  const auto batch = Unwrap([&] {
    py::gil_scoped_release release;
    return self.feeder->Next();
  }());
  if (!batch.has_value()) return py::none();
  py::list arrays;
  for (const learn::Tensor& tensor : batch->rows.tensors) {
    arrays.append(ToNumpy(self.context, tensor, batch->rows.num_rows));
  }
  return py::make_tuple(batch->step, batch->step_rows, arrays);
}

}  // namespace

void BindFeed(py::module_& module) {
  py::class_<ContextFeeder>(module, "Feeder")
      .def(py::init(&MakeFeeder))
      .def_property_readonly(
          "num_rows", [](const ContextFeeder& self) { return self.feeder->num_rows(); })
      .def_property_readonly(
          "num_steps", [](const ContextFeeder& self) { return self.feeder->num_steps(); })
      .def("start",
           [](ContextFeeder& self, int64_t epoch, int64_t first_step) {
             py::gil_scoped_release release;
             self.feeder->Start(epoch, first_step);
           })
      .def("next", &Next);
}

}  // namespace xshards::python
