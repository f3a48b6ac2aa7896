// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "learn/ps/client.h"
#include "learn/ps/region/private_weights.h"
#include "learn/ps/server.h"
#include "python/src/bindings.h"
#include "python/src/convert/status_exception.h"
#include "xshards/context.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

using learn::ParameterRegion;
using learn::ParameterServer;
using learn::ParameterType;
using learn::PrivateWeights;
using learn::ReplicaClient;
using RegionPtr = std::shared_ptr<ParameterRegion>;

using Rule = std::pair<std::string, std::map<std::string, double>>;
using Spec = std::tuple<std::string, int64_t, std::string, int32_t>;

/// What keeps the mapping alive as long as an array shows it.
py::capsule KeepAlive(const std::shared_ptr<void>& mapping) {
  using Held = std::shared_ptr<void>;
  return {new Held(mapping), [](void* held) { delete static_cast<Held*>(held); }};
}

py::array View(const std::shared_ptr<void>& mapping, const py::dtype& dtype,
               int64_t count, void* data, bool writable) {
  py::array array(dtype, {count}, {dtype.itemsize()}, data, KeepAlive(mapping));
  if (!writable) array.attr("setflags")(py::arg("write") = false);
  return array;
}

/// One parameter's part of a flat vector in `mapping`, without a copy.
py::array ParameterView(const ParameterRegion& region,
                        const std::shared_ptr<void>& mapping, std::byte* vector,
                        int64_t index, bool writable) {
  const auto parameters = region.parameters();
  if (index < 0 || index >= static_cast<int64_t>(parameters.size())) {
    Unwrap(arrow::Status::IndexError("The model has parameters 0 to ",
                                     parameters.size() - 1, ", got ", index));
  }
  const auto& parameter = parameters[static_cast<size_t>(index)];
  const auto dtype = parameter.type == ParameterType::kFloat32 ? py::dtype::of<float>()
                                                               : py::dtype::of<double>();
  return View(mapping, dtype, parameter.count, vector + parameter.offset, writable);
}

py::array ParameterView(const RegionPtr& region, std::byte* vector, int64_t index,
                        bool writable) {
  return ParameterView(*region, region, vector, index, writable);
}

py::bytes ToBytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

arrow::Result<ParameterType> TypeOf(const std::string& name) {
  if (name == "float32") return ParameterType::kFloat32;
  if (name == "float64") return ParameterType::kFloat64;
  return arrow::Status::TypeError("Parameters are trained as float32 or float64, got '",
                                  name, "'");
}

learn::UpdateRule ToRule(const Rule& rule) {
  return Unwrap(learn::MakeUpdateRule(rule.first, rule.second));
}

learn::GradientClip ToClip(const std::optional<std::pair<double, double>>& constant,
                           std::optional<double> max_norm) {
  learn::GradientClip clip{.max_norm = max_norm};
  if (constant) clip.constant = {.low = constant->first, .high = constant->second};
  return clip;
}

std::unique_ptr<ParameterServer> MakeServer(
    const std::vector<Spec>& parameters, const std::vector<Rule>& rules,
    int32_t num_replicas, int num_owners,
    const std::optional<std::pair<double, double>>& clip_constant,
    std::optional<double> clip_norm, int64_t replica_state_bytes,
    const std::shared_ptr<Context>& context) {
  std::vector<learn::ParameterSpec> specs;
  for (const auto& [name, count, type, group] : parameters) {
    specs.push_back(
        {.name = name, .count = count, .type = Unwrap(TypeOf(type)), .group = group});
  }
  learn::ServerOptions options{.num_replicas = num_replicas,
                               .num_owners = num_owners,
                               .clip = ToClip(clip_constant, clip_norm),
                               .replica_state_bytes = replica_state_bytes};
  if (context != nullptr) options.budget = {context, &context->budget()};
  for (const Rule& rule : rules) options.rules.push_back(ToRule(rule));
  return Unwrap(ParameterServer::Make(Unwrap(learn::ParameterLayout::Make(specs)),
                                      std::move(options)));
}

std::chrono::nanoseconds Nanoseconds(double seconds) {
  seconds = std::clamp(seconds, 0.0, 1e9);  // infinity has no nanoseconds
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

/// Call `attempt(slice)` until `timed_out(result)` is false or the seconds are over, with
/// a look for Ctrl-C now and then.
template <typename TimedOut, typename Attempt>
auto WaitInterruptibly(double seconds, TimedOut timed_out, Attempt attempt) {
  using std::chrono::nanoseconds;
  const auto deadline = std::chrono::steady_clock::now() + Nanoseconds(seconds);
  while (true) {
    const auto left = deadline - std::chrono::steady_clock::now();
    const auto slice =
        std::clamp<nanoseconds>(left, nanoseconds(0), std::chrono::milliseconds(100));
    auto result = Unwrap([&] {
      py::gil_scoped_release release;
      return attempt(slice);
    }());
    if (timed_out(result) && left > slice) {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      continue;
    }
    return result;
  }
}

const char* NameOf(learn::StepOutcome outcome) {
  switch (outcome) {
    case learn::StepOutcome::kUpdated:
      return "updated";
    case learn::StepOutcome::kReady:
      return "ready";
    case learn::StepOutcome::kReplicaDied:
      return "replica_died";
    case learn::StepOutcome::kCalled:
      return "called";
    case learn::StepOutcome::kTimeout:
      return "timeout";
    default:
      return "stopped";
  }
}

const char* NameOf(learn::WaitOutcome outcome) {
  switch (outcome) {
    case learn::WaitOutcome::kReady:
      return "ready";
    case learn::WaitOutcome::kTimeout:
      return "timeout";
    default:
      return "stopped";
  }
}

learn::StepReport Step(ParameterServer& server, double timeout) {
  return WaitInterruptibly(
      timeout,
      [](const learn::StepReport& report) {
        return report.outcome == learn::StepOutcome::kTimeout;
      },
      [&](std::chrono::nanoseconds slice) { return server.Step(slice); });
}

learn::StepReport Await(ParameterServer& server, double timeout) {
  return WaitInterruptibly(
      timeout,
      [](const learn::StepReport& report) {
        return report.outcome == learn::StepOutcome::kTimeout;
      },
      [&](std::chrono::nanoseconds slice) { return server.Await(slice); });
}

/// Step until the number at `word` is not `seen` any more: somebody wants to be read.
learn::StepReport StepWhile(ParameterServer& server, const py::buffer& word,
                            uint64_t seen, double seconds, double patience) {
  const py::buffer_info info = word.request();
  if (info.itemsize != sizeof(uint64_t) || info.size < 1) {
    Unwrap(arrow::Status::Invalid("Expected 8 bytes to watch, got ",
                                  info.itemsize * info.size));
  }
  const std::atomic_ref<uint64_t> value(*static_cast<uint64_t*>(info.ptr));
  return Unwrap([&] {
    py::gil_scoped_release release;
    return server.StepWhile([&] { return value.load() == seen; }, Nanoseconds(seconds),
                            Nanoseconds(patience));
  }());
}

void CheckReplica(const ParameterServer& server, int32_t replica) {
  const int32_t count = server.region()->sizes().num_replicas;
  if (replica < 0 || replica >= count) {
    Unwrap(arrow::Status::IndexError("The server has replicas 0 to ", count - 1, ", got ",
                                     replica));
  }
}

const char* Wait(ReplicaClient& client, double timeout) {
  return NameOf(WaitInterruptibly(
      timeout,
      [](learn::WaitOutcome outcome) { return outcome == learn::WaitOutcome::kTimeout; },
      [&](std::chrono::nanoseconds slice) { return client.Wait(slice); }));
}

py::array StateView(const ParameterServer& server, int32_t state, int64_t index) {
  const RegionPtr& region = server.region();
  if (state < 0 || state >= region->sizes().num_states) {
    Unwrap(arrow::Status::IndexError("The server keeps ", region->sizes().num_states,
                                     " optimizer states, got ", state));
  }
  return ParameterView(region, region->state(state), index, true);
}

std::vector<std::string> StateNames(const ParameterServer& server, int32_t group) {
  std::vector<std::string> names;
  for (auto& state : learn::StatesOf(Unwrap(server.RuleOf(group)))) {
    names.push_back(state.name);
  }
  return names;
}

void BindServer(py::module_& module) {
  py::class_<learn::StepReport>(module, "StepReport")
      .def_property_readonly(
          "outcome", [](const learn::StepReport& self) { return NameOf(self.outcome); })
      .def_readonly("step", &learn::StepReport::step)
      .def_readonly("rows", &learn::StepReport::rows)
      .def_readonly("gradient_norm", &learn::StepReport::gradient_norm)
      .def_readonly("dead_replicas", &learn::StepReport::dead_replicas);

  py::class_<ParameterServer>(module, "ParameterServer")
      .def_static("make", &MakeServer, py::arg("parameters"), py::arg("rules"),
                  py::kw_only(), py::arg("num_replicas") = 1, py::arg("num_owners") = 0,
                  py::arg("clip_constant") = py::none(),
                  py::arg("clip_norm") = py::none(), py::arg("replica_state_bytes") = 0,
                  py::arg("context") = py::none())
      .def_property_readonly(
          "fd", [](const ParameterServer& self) { return self.region()->fd(); })
      .def_property_readonly(
          "num_bytes", [](const ParameterServer& self) { return self.region()->size(); })
      .def_property_readonly("steps", &ParameterServer::step)
      .def("weights",
           [](const ParameterServer& self, int64_t index) {
             return ParameterView(self.region(), self.region()->weights(), index, true);
           })
      .def("state", &StateView)
      .def("state_names", &StateNames)
      .def_property_readonly("step_counts",
                             [](const ParameterServer& self) {
                               const auto counts = self.region()->step_counts();
                               return View(self.region(), py::dtype::of<int64_t>(),
                                           static_cast<int64_t>(counts.size()),
                                           counts.data(), true);
                             })
      .def("step", &Step, py::arg("timeout"))
      .def("step_while", &StepWhile, py::arg("word"), py::arg("seen"), py::arg("seconds"),
           py::arg("patience"))
      .def("wait_for_gradients", &Await, py::arg("timeout"))
      .def("release",
           [](ParameterServer& self) {
             return Unwrap([&] {
               py::gil_scoped_release release;
               return self.Release();
             }());
           })
      .def("gradient",
           [](const ParameterServer& self, int32_t replica, int64_t index) {
             CheckReplica(self, replica);
             return ParameterView(self.region(), self.region()->gradient(replica), index,
                                  true);
           })
      .def("rows",
           [](const ParameterServer& self, int32_t replica) {
             CheckReplica(self, replica);
             return self.region()->slot(replica).rows;
           })
      .def("presence",
           [](const ParameterServer& self, int32_t replica) {
             CheckReplica(self, replica);
             const auto flags = self.region()->presence(replica);
             return View(self.region(), py::dtype::of<uint8_t>(),
                         static_cast<int64_t>(flags.size()), flags.data(), false);
           })
      .def("learning_rate",
           [](const ParameterServer& self, int32_t group) {
             return learn::LearningRateOf(Unwrap(self.RuleOf(group)));
           })
      .def("set_learning_rate",
           [](ParameterServer& self, int32_t group, double learning_rate) {
             auto rule = Unwrap(self.RuleOf(group));
             learn::SetLearningRate(&rule, learning_rate);
             Unwrap(self.SetRule(group, rule));
           })
      .def("set_rule",
           [](ParameterServer& self, int32_t group, const Rule& rule) {
             Unwrap(self.SetRule(group, ToRule(rule)));
           })
      .def(
          "set_clip",
          [](ParameterServer& self,
             const std::optional<std::pair<double, double>>& constant,
             std::optional<double> norm) {
            Unwrap(self.SetClip(ToClip(constant, norm)));
          },
          py::kw_only(), py::arg("constant") = py::none(), py::arg("norm") = py::none())
      .def("replica_state",
           [](const ParameterServer& self, int32_t replica) {
             return ToBytes(Unwrap(self.ReplicaState(replica)));
           })
      .def("restore",
           [](ParameterServer& self, uint64_t step,
              const std::vector<std::string>& replica_states) {
             std::vector<std::span<const std::byte>> states;
             for (const std::string& state : replica_states) {
               states.push_back(std::as_bytes(std::span(state)));
             }
             Unwrap(self.Restore(step, states));
           })
      .def("stop", &ParameterServer::Stop);
}

void BindClient(py::module_& module) {
  py::class_<PrivateWeights, std::shared_ptr<PrivateWeights>>(module, "PrivateWeights")
      .def("parameter",
           [](const std::shared_ptr<PrivateWeights>& self, int64_t index) {
             return ParameterView(*self->region(), self, self->data(), index, true);
           })
      .def("refresh", &PrivateWeights::Refresh);

  py::class_<ReplicaClient>(module, "ReplicaClient")
      .def_static("attach",
                  [](int fd, int32_t replica) {
                    return Unwrap(ReplicaClient::Attach(fd, replica));
                  })
      .def_property_readonly("replica", &ReplicaClient::replica)
      .def_property_readonly("steps", &ReplicaClient::steps)
      .def_property_readonly(
          "num_parameters",
          [](const ReplicaClient& self) { return self.region()->parameters().size(); })
      .def("weights",
           [](const ReplicaClient& self, int64_t index) {
             return ParameterView(self.region(), self.region()->weights(), index, false);
           })
      .def("private_weights",
           [](const ReplicaClient& self) {
             return Unwrap(PrivateWeights::Map(self.region()));
           })
      .def("gradient",
           [](const ReplicaClient& self, int64_t index) {
             return ParameterView(self.region(), self.gradient(), index, true);
           })
      .def_property_readonly("presence",
                             [](const ReplicaClient& self) {
                               const auto flags = self.presence();
                               return View(self.region(), py::dtype::of<uint8_t>(),
                                           static_cast<int64_t>(flags.size()),
                                           flags.data(), true);
                             })
      .def_property_readonly(
          "state", [](const ReplicaClient& self) { return ToBytes(self.state()); })
      .def(
          "push",
          [](ReplicaClient& self, int64_t rows, const std::string& state) {
            Unwrap(self.Push(rows, std::as_bytes(std::span(state))));
          },
          py::arg("rows"), py::arg("state") = py::bytes())
      .def("call", &ReplicaClient::Call)
      .def("wait", &Wait, py::arg("timeout"))
      // A replica that is garbage collected late must not block its successor.
      .def("detach", &ReplicaClient::Detach);
}

}  // namespace

void BindParameterServer(py::module_& module) {
  BindServer(module);
  BindClient(module);
}

}  // namespace xshards::python
