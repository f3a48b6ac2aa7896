// SPDX-License-Identifier: Apache-2.0
#include "xshards/shards.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "io/writers.h"
#include "python/src/bind/options.h"
#include "python/src/bindings.h"
#include "python/src/convert/gil.h"
#include "python/src/convert/keep_context_alive.h"
#include "python/src/convert/pyarrow_caster.h"
#include "python/src/convert/status_exception.h"
#include "python/src/run/action.h"
#include "xshards/plan/aggregate_functions.h"
#include "xshards/plan/distinct.h"
#include "xshards/plan/write_options.h"
#include "xshards/storage/collected.h"
#include "xshards/types/conform.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

using Named = std::vector<std::pair<std::string, Expression>>;

XShards GroupBy(
    const XShards& self, std::vector<std::string> keys,
    std::vector<std::tuple<std::string, std::optional<std::string>, std::string>> wanted,
    bool ordered) {
  std::vector<Aggregate> aggregates;
  aggregates.reserve(wanted.size());
  for (auto& [function, column, output] : wanted) {
    aggregates.push_back({std::move(function), std::move(column), std::move(output)});
  }
  return self.GroupBy(std::move(keys), std::move(aggregates), ordered);
}

XShards Sort(const XShards& self, std::vector<std::pair<std::string, bool>> wanted,
             bool nulls_first) {
  std::vector<SortKey> keys;
  keys.reserve(wanted.size());
  for (auto& [column, ascending] : wanted) keys.push_back({std::move(column), ascending});
  return self.Sort(std::move(keys), nulls_first);
}

XShards Sample(const XShards& self, int64_t count, double share, bool replace,
               std::string weights, uint64_t seed) {
  return self.Sample({.count = count,
                      .share = share,
                      .replace = replace,
                      .weights = std::move(weights),
                      .seed = seed});
}

XShards Join(const XShards& self, const XShards& right, JoinType type,
             std::vector<std::string> left_keys, std::vector<std::string> right_keys,
             std::string left_suffix, std::string right_suffix) {
  return self.Join(right, {.type = type,
                           .left_keys = std::move(left_keys),
                           .right_keys = std::move(right_keys),
                           .left_suffix = std::move(left_suffix),
                           .right_suffix = std::move(right_suffix)});
}

/// Only if the columns are already known: nothing runs.
XShards DropDuplicates(const XShards& self, const std::vector<std::string>& columns,
                       const std::string& keep) {
  return Unwrap(self.DropDuplicates(columns, Unwrap(KeepFromName(keep))));
}

XShards TransformPython(const XShards& self, std::string hash, std::string label,
                        std::string format, std::shared_ptr<arrow::Buffer> pickle,
                        int64_t batch_rows, bool on_threads) {
  return self.TransformPython({.function_hash = std::move(hash),
                               .label = std::move(label),
                               .format = std::move(format),
                               .pickle = std::move(pickle),
                               .batch_rows = batch_rows,
                               .on_threads = on_threads});
}

XShards TransformPair(const XShards& self, const XShards& other, std::string hash,
                      std::string label, std::shared_ptr<arrow::Buffer> pickle) {
  return self.TransformPython({.function_hash = std::move(hash),
                               .label = std::move(label),
                               .format = "pandas",
                               .pickle = std::move(pickle)},
                              other);
}

arrow::Result<std::vector<std::vector<Payload>>> Load(
    const XShards& shards, const std::vector<Partition>& partitions,
    const arrow::StopToken& stop) {
  ARROW_ASSIGN_OR_RAISE(auto loaded, LoadAll(partitions, stop));
  for (auto& payloads : loaded) {
    for (Payload& payload : payloads) payload = Anchor(shards.context(), payload);
  }
  return loaded;
}

arrow::Result<std::vector<std::vector<Payload>>> Collect(const XShards& shards,
                                                         const arrow::StopToken& stop) {
  ARROW_ASSIGN_OR_RAISE(const auto partitions, shards.Collect(stop));
  return Load(shards, partitions, stop);
}

arrow::Result<std::vector<std::vector<Payload>>> CollectFirst(
    const XShards& shards, int64_t num_shards, const arrow::StopToken& stop) {
  ARROW_ASSIGN_OR_RAISE(const auto partitions, shards.CollectFirst(num_shards, stop));
  return Load(shards, partitions, stop);
}

/// The payload kinds of the shards, and the number of rows (for other kinds, of shards).
arrow::Result<std::pair<std::vector<std::string>, int64_t>> Contents(
    const XShards& shards, const arrow::StopToken& stop) {
  ARROW_ASSIGN_OR_RAISE(const auto partitions, shards.Collect(stop));
  std::vector<std::string> names;
  for (const PayloadKind kind : KindsOf(partitions)) names.emplace_back(ToString(kind));
  return std::pair{std::move(names), NumRows(partitions)};
}

void BindActions(py::class_<XShards>& shards) {
  shards
      .def("schema",
           [](const XShards& self, const py::object& on_progress) {
             return RunAction(
                 *self.context(), on_progress,
                 [&](const arrow::StopToken& stop) { return self.schema(stop); });
           })
      .def("num_partitions",
           [](const XShards& self, const py::object& on_progress) {
             return RunAction(
                 *self.context(), on_progress,
                 [&](const arrow::StopToken& stop) { return self.num_partitions(stop); });
           })
      .def("explain",
           [](const XShards& self) {
             return Unwrap([&] {
               const ReleaseGil release;
               return self.Explain();
             }());
           })
      .def("explain_analyze",
           [](const XShards& self, const py::object& on_progress) {
             return RunAction(
                 *self.context(), on_progress,
                 [&](const arrow::StopToken& stop) { return self.ExplainAnalyze(stop); });
           })
      .def("collect",
           [](const XShards& self, const py::object& on_progress) {
             return RunAction(
                 *self.context(), on_progress,
                 [&](const arrow::StopToken& stop) { return Collect(self, stop); });
           })
      .def("collect_first",
           [](const XShards& self, int64_t num_shards, const py::object& on_progress) {
             return RunAction(*self.context(), on_progress,
                              [&](const arrow::StopToken& stop) {
                                return CollectFirst(self, num_shards, stop);
                              });
           })
      .def("contents",
           [](const XShards& self, const py::object& on_progress) {
             return RunAction(
                 *self.context(), on_progress,
                 [&](const arrow::StopToken& stop) { return Contents(self, stop); });
           })
      .def("materialize",
           [](const XShards& self, const py::object& on_progress) {
             RunAction(*self.context(), on_progress,
                       [&](const arrow::StopToken& stop) { return self.Collect(stop); });
           })
      .def("to_table",
           [](const XShards& self, const py::object& on_progress) {
             const auto table = RunAction(
                 *self.context(), on_progress,
                 [&](const arrow::StopToken& stop) { return self.ToTable(stop); });
             return Anchor(self.context(), table);
           })
      .def("count",
           [](const XShards& self, const py::object& on_progress) {
             return RunAction(
                 *self.context(), on_progress,
                 [&](const arrow::StopToken& stop) { return self.Count(stop); });
           })
      .def("write", [](const XShards& self, const std::string& directory,
                       const std::string& format, const py::dict& options,
                       const py::dict& writer_options, const py::object& on_progress) {
        auto converted = OptionsFrom<WriteOptions>(options, "Writing");
        converted.format = io::WriterOptionsOf(
            format, [&](const auto& defaults, const std::string& writer) {
              using Options = std::decay_t<decltype(defaults)>;
              return OptionsFrom<Options>(writer_options, writer);
            });
        return RunAction(*self.context(), on_progress, [&](const arrow::StopToken& stop) {
          return self.Write(directory, format, converted, stop);
        });
      });
}

void BindAggregateFunctions(py::module_& module) {
  py::class_<AggregateFunction>(module, "AggregateFunction")
      .def_readonly("name", &AggregateFunction::name)
      .def_readonly("aliases", &AggregateFunction::aliases)
      .def_readonly("spark_names", &AggregateFunction::spark_names)
      .def_readonly("needs_column", &AggregateFunction::needs_column)
      .def_readonly("is_reduction", &AggregateFunction::is_reduction)
      .def_property_readonly("needs_numbers", &NeedsNumbers)
      .def_property_readonly("counts_distinct", [](const AggregateFunction& self) {
        return self.result == AggregateResult::kDistinctCount;
      });
  module.def("aggregate_functions", [] {
    const auto table = AggregateFunctions();
    return std::vector<AggregateFunction>(table.begin(), table.end());
  });
}

}  // namespace

void BindShards(py::module_& module) {
  BindAggregateFunctions(module);
  py::enum_<JoinType>(module, "JoinType")
      .value("inner", JoinType::kInner)
      .value("left", JoinType::kLeft)
      .value("right", JoinType::kRight)
      .value("outer", JoinType::kOuter)
      .value("semi", JoinType::kSemi)
      .value("anti", JoinType::kAnti)
      .value("cross", JoinType::kCross);

  module.def("have_common_type", [](const std::shared_ptr<arrow::Schema>& left,
                                    const std::shared_ptr<arrow::Schema>& right) {
    return Unify(left, right).ok();
  });

  py::class_<XShards> shards(module, "XShards");
  shards
      .def_static(
          "from_table",
          [](std::shared_ptr<Context> context, const std::shared_ptr<arrow::Table>& table,
             int num_partitions) {
            return Unwrap(XShards::FromTable(std::move(context), table, num_partitions));
          })
      .def_static(
          "from_batches",
          [](std::shared_ptr<Context> context, arrow::RecordBatchVector batches) {
            return Unwrap(XShards::FromBatches(std::move(context), std::move(batches)));
          })
      .def_static("from_payloads",
                  [](const std::shared_ptr<Context>& context,
                     const std::vector<std::vector<Payload>>& payloads) {
                    return RunAction(*context, py::none(), [&](const arrow::StopToken&) {
                      return XShards::FromPayloads(context, payloads);
                    });
                  })
      .def_property_readonly("context", &XShards::context)
      .def("select",
           py::overload_cast<std::vector<std::string>>(&XShards::Select, py::const_))
      .def("select_named", py::overload_cast<Named>(&XShards::Select, py::const_))
      .def("filter", &XShards::Filter)
      .def("with_columns", &XShards::WithColumns)
      .def("drop", &XShards::Drop)
      .def("transform_python", &TransformPython, py::arg("hash"), py::arg("label"),
           py::arg("format"), py::arg("pickle"), py::arg("batch_rows") = 0,
           py::arg("on_threads") = false)
      .def("transform_pair", &TransformPair)
      .def("partition_by", &XShards::PartitionBy)
      .def("partition_by_range", &XShards::PartitionByRange)
      .def("repartition", &XShards::Repartition)
      .def("group_by", &GroupBy, py::arg("keys"), py::arg("aggregates"),
           py::arg("ordered") = false)
      .def("join", &Join)
      .def("sort", &Sort)
      .def("head", &XShards::Head)
      .def("sample", &Sample)
      .def("split", &XShards::Split)
      .def("union", &XShards::Union)
      .def("zip", &XShards::Zip)
      .def("distinct", &XShards::Distinct)
      .def("drop_duplicates", &DropDuplicates)
      .def("cache", &XShards::Cache)
      .def("uncache", &XShards::Uncache)
      .def("is_cached", &XShards::is_cached)
      .def("known_schema",
           [](const XShards& self) { return Unwrap(self.known_schema()); })
      .def("gives_tables", &XShards::gives_tables)
      .def("known_num_partitions", &XShards::known_num_partitions);
  BindActions(shards);
}

}  // namespace xshards::python
