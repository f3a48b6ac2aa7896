// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "learn/ps/client.h"
#include "learn/ps/region/private_weights.h"
#include "learn/ps/server.h"
#include "python/src/bindings.h"
#include "python/src/convert/gil.h"
#include "python/src/convert/parameter_view.h"
#include "python/src/convert/status_exception.h"
#include "python/src/run/parameter_step.h"
#include "xshards/context.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

using learn::ParameterRegion;
using learn::ParameterServer;
using learn::PrivateWeights;
using learn::ReplicaClient;
using RegionPtr = std::shared_ptr<ParameterRegion>;

using Rule = std::pair<std::string, std::map<std::string, double>>;
using Spec = std::tuple<std::string, int64_t, std::string, int32_t>;

py::bytes ToBytes(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
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
    specs.push_back({.name = name,
                     .count = count,
                     .type = Unwrap(learn::ParameterTypeOf(type)),
                     .group = group});
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

py::array StateView(const ParameterServer& server, int32_t state, int64_t index) {
  return ParameterView(server.region(), Unwrap(server.State(state)), index, true);
}

void BindServer(py::module_& module) {
  py::class_<learn::StepReport>(module, "StepReport")
      .def_property_readonly(
          "outcome", [](const learn::StepReport& self) { return ToString(self.outcome); })
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
      .def("state_names", [](const ParameterServer& self,
                             int32_t group) { return Unwrap(self.StateNames(group)); })
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
      .def("wait_for_gradients", &AwaitGradients, py::arg("timeout"))
      .def("release",
           [](ParameterServer& self) {
             return Unwrap([&] {
               const ReleaseGil release;
               return self.Release();
             }());
           })
      .def("gradient",
           [](const ParameterServer& self, int32_t replica, int64_t index) {
             return ParameterView(self.region(), Unwrap(self.Gradient(replica)), index,
                                  true);
           })
      .def("rows", [](const ParameterServer& self,
                      int32_t replica) { return Unwrap(self.Rows(replica)); })
      .def("presence",
           [](const ParameterServer& self, int32_t replica) {
             const auto flags = Unwrap(self.Presence(replica));
             return View(self.region(), py::dtype::of<uint8_t>(),
                         static_cast<int64_t>(flags.size()), flags.data(), false);
           })
      .def("learning_rate",
           [](const ParameterServer& self, int32_t group) {
             return Unwrap(self.LearningRate(group));
           })
      .def("set_learning_rate",
           [](ParameterServer& self, int32_t group, double learning_rate) {
             Unwrap(self.SetLearningRate(group, learning_rate));
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
          "state",
          [](const ReplicaClient& self) { return ToBytes(Unwrap(self.state())); })
      .def(
          "push",
          [](ReplicaClient& self, double rows, const std::string& state) {
            Unwrap(self.Push(rows, std::as_bytes(std::span(state))));
          },
          py::arg("rows"), py::arg("state") = py::bytes())
      .def("call", &ReplicaClient::Call)
      .def(
          "wait",
          [](ReplicaClient& self, double timeout) {
            return ToString(Wait(self, timeout));
          },
          py::arg("timeout"))
      // A replica that is garbage collected late must not block its successor.
      .def("detach", &ReplicaClient::Detach);
}

}  // namespace

void BindParameterServer(py::module_& module) {
  BindServer(module);
  BindClient(module);
}

}  // namespace xshards::python
