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
#include "python/src/bindings.h"
#include "python/src/convert/gil.h"
#include "python/src/convert/pyarrow_caster.h"
#include "python/src/convert/status_exception.h"
#include "python/src/run/action.h"
#include "python/src/run/process_runner.h"
#include "xshards/execution/fragments/fragment.h"
#include "xshards/memory/memory_budget.h"
#include "xshards/memory/segment_pool.h"
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

/// Partitions that other processes read in place: an encoded list of segments and ranges,
/// and the segments, which are kept alive by this object.
class LentPartitions {
 public:
  LentPartitions(std::shared_ptr<Context> context,
                 const std::vector<Partition>& partitions)
      : context_(std::move(context)) {
    for (const Partition& partition : partitions) num_rows_ += partition.num_rows();
    Fragment fragment;
    fragment.root = MakeNode(LiteralNode{.schema = Unwrap(UnifySchemas(partitions)),
                                         .partitions = partitions});
    encoded_ = Unwrap([&] {
      const ReleaseGil release;
      return EncodeFragment(fragment, context_->storage());
    }());
    for (const auto& segment : encoded_.segments) segment->Lend();
  }
  ~LentPartitions() {
    for (const auto& segment : encoded_.segments) segment->TakeBack();
  }
  LentPartitions(const LentPartitions&) = delete;
  LentPartitions& operator=(const LentPartitions&) = delete;

  const Encoded& encoded() const { return encoded_; }
  int64_t num_rows() const { return num_rows_; }

 private:
  std::shared_ptr<Context> context_;
  Encoded encoded_;  // after context_, so that it is destroyed first
  int64_t num_rows_ = 0;
};

/// Partitions that another process lent.
struct BorrowedPartitions {
  /// Accounts for data read from disk.
  struct Home {
    explicit Home(int64_t memory_bytes) : budget(memory_bytes) {}
    MemoryBudget budget;
    std::unique_ptr<SegmentPool> segments;
  };
  std::shared_ptr<Home> home;
  std::vector<Partition> partitions;  // after home, so that they are destroyed first
};

BorrowedPartitions Borrow(const std::shared_ptr<arrow::Buffer>& bytes,
                          const py::iterable& described,
                          const std::string& spill_directory, int64_t memory_bytes) {
  auto home = std::make_shared<BorrowedPartitions::Home>(memory_bytes);
  home->segments = Unwrap(SegmentPool::Make(spill_directory, &home->budget, 0));
  const auto segments =
      Unwrap(AdoptSegments(described, [](SegmentKind kind, int fd, int64_t size) {
        return Segment::Adopt(kind, fd, size);
      }));
  const StorageEnvironment environment{.budget = &home->budget,
                                       .segments = home->segments.get()};
  const Fragment fragment = Unwrap(DecodeFragment(bytes, segments, environment));
  return {home, fragment.root->as<LiteralNode>().partitions};
}

HomedFeeder FeedBorrowed(const BorrowedPartitions& borrowed, WantedTensors tensors,
                         int64_t batch_size, std::pair<int, int> replica, bool shuffle,
                         uint64_t seed, int64_t window_rows, int prefetch) {
  auto options = ToOptions(std::move(tensors), batch_size, replica, shuffle, seed,
                           window_rows, prefetch);
  return {borrowed.home,
          Unwrap(learn::Feeder::Make(borrowed.partitions, std::move(options),
                                     borrowed.home->budget.pool()))};
}

/// A numpy view of a tensor. It is writable if made for this batch only; a view of stored
/// data is read-only.
py::array ToNumpy(const std::shared_ptr<void>& home, const learn::Tensor& tensor,
                  int64_t num_rows) {
  // Members are destroyed in reverse order: the buffer before the owner of its memory.
  using Owner = std::pair<std::shared_ptr<void>, std::shared_ptr<arrow::Buffer>>;
  const py::capsule base(new Owner(home, tensor.data),
                         [](void* pointer) { delete static_cast<Owner*>(pointer); });
  std::vector<py::ssize_t> shape = {num_rows};
  shape.insert(shape.end(), tensor.row.shape.begin(), tensor.row.shape.end());
  py::array array(py::dtype(learn::NumpyName(tensor.row.type)), std::move(shape),
                  tensor.data->data(), base);
  if (!tensor.data->is_mutable()) array.attr("flags").attr("writeable") = false;
  return array;
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
  py::class_<LentPartitions>(module, "LentPartitions")
      .def(py::init([](const XShards& shards, const py::object& on_progress) {
        return std::make_unique<LentPartitions>(shards.context(),
                                                Materialise(shards, on_progress));
      }))
      .def_property_readonly("num_rows", &LentPartitions::num_rows)
      .def_property_readonly(
          "bytes", [](const LentPartitions& self) { return self.encoded().bytes; })
      .def_property_readonly("segments", [](const LentPartitions& self) {
        return DescribeSegments(self.encoded().segments);
      });
  py::class_<BorrowedPartitions>(module, "BorrowedPartitions").def(py::init(&Borrow));
  py::class_<HomedFeeder>(module, "Feeder")
      .def(py::init(&MakeFeeder))
      .def_property_readonly(
          "num_rows", [](const HomedFeeder& self) { return self.feeder->num_rows(); })
      .def_property_readonly(
          "num_steps", [](const HomedFeeder& self) { return self.feeder->num_steps(); })
      .def("start",
           [](HomedFeeder& self, int64_t epoch, int64_t first_step) {
             const ReleaseGil release;
             self.feeder->Start(epoch, first_step);
           })
      .def("next", &Next)
      .def_static("over", &FeedBorrowed);
}

}  // namespace xshards::python
