// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/server.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <latch>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "learn/ps/client.h"
#include "tests/learn/ps/replica_group.h"
#include "tests/support/status_assertions.h"

namespace xshards::learn {
namespace {

using std::chrono::nanoseconds;
using testing::FillGradient;
using testing::kPatience;
using testing::PushAndWait;
using testing::ReplicaThreads;
using testing::VectorOf;

std::unique_ptr<ParameterServer> MakeServer(const std::vector<ParameterSpec>& specs,
                                            ServerOptions options) {
  return ParameterServer::Make(ParameterLayout::Make(specs).ValueOrDie(),
                               std::move(options))
      .ValueOrDie();
}

std::span<float> Weights(const ParameterServer& server, size_t parameter) {
  return VectorOf<float>(server.region()->weights(),
                         server.layout().parameters()[parameter]);
}

std::span<float> Gradient(const ReplicaClient& client, size_t parameter) {
  return VectorOf<float>(client.gradient(), client.region()->parameters()[parameter]);
}

StepReport UpdateOnce(ParameterServer& server) {
  auto report = server.Step(kPatience).ValueOrDie();
  EXPECT_EQ(report.outcome, StepOutcome::kUpdated);
  return report;
}

/// One plain SGD step with rate 1: the weights become minus the averaged gradient.
ServerOptions PlainOptions(int32_t num_replicas) {
  return {.rules = {Sgd{.learning_rate = 1}}, .num_replicas = num_replicas};
}

/// The weights' bytes after some steps of Adam with clipping, uneven rows, and parameters
/// that get no gradient from some or all replicas in some steps.
std::vector<std::byte> TrainAwkwardly(int num_owners, std::optional<double> max_norm) {
  auto server = MakeServer(
      {{.name = "large", .count = 70'001},
       {.name = "wide", .count = 5003, .type = ParameterType::kFloat64, .group = 1},
       {.name = "one", .count = 1},
       {.name = "none", .count = 0}},
      {.rules = {Adam{.learning_rate = 0.1}, Adagrad{}},
       .num_replicas = 3,
       .num_owners = num_owners,
       .clip = {.constant = GradientClip::Interval{-2, 2}, .max_norm = max_norm}});
  constexpr int kSteps = 4;
  ReplicaThreads replicas(*server, [](ReplicaClient& client) {
    for (uint64_t step = 0; step < kSteps; ++step) {
      FillGradient(client);
      client.presence()[1] = client.replica() != 1 && step != 2;
      client.presence()[2] = step % 2 == 0;
      PushAndWait(client, 10 + client.replica());
    }
  });
  for (int step = 0; step < kSteps; ++step) UpdateOnce(*server);
  EXPECT_EQ(server->region()->step_counts()[0], 4);
  EXPECT_EQ(server->region()->step_counts()[1], 3);
  EXPECT_EQ(server->region()->step_counts()[2], 2);
  const auto* weights = server->region()->weights();
  return {weights, weights + server->layout().vector_bytes()};
}

TEST(ParameterServer, ChecksNumbersOfParametersReplicasAndStates) {
  const auto server = MakeServer({{.name = "a", .count = 1}, {.name = "b", .count = 2}},
                                 {.rules = {Adam{}}, .num_replicas = 3});
  const auto& region = *server->region();
  ASSERT_OK(region.CheckParameter(1));
  EXPECT_FAILS(IndexError, "parameters 0 to 1, got 2", region.CheckParameter(2));
  EXPECT_FAILS(IndexError, "parameters 0 to 1, got -1", region.CheckParameter(-1));
  ASSERT_OK(region.CheckReplica(2));
  EXPECT_FAILS(IndexError, "replicas 0 to 2, got 3", region.CheckReplica(3));
  ASSERT_OK(region.CheckState(0));
  EXPECT_FAILS(IndexError, "optimizer states, got 9", region.CheckState(9));
  EXPECT_EQ(server->State(1).ValueOrDie(), region.state(1));
  EXPECT_EQ(server->Gradient(2).ValueOrDie(), region.gradient(2));
  EXPECT_EQ(server->Presence(2).ValueOrDie().data(), region.presence(2).data());
  EXPECT_EQ(server->Rows(0).ValueOrDie(), 0);
  EXPECT_FAILS(IndexError, "optimizer states, got 2", server->State(2));
  EXPECT_FAILS(IndexError, "replicas 0 to 2, got 3", server->Gradient(3));
  EXPECT_FAILS(IndexError, "replicas 0 to 2, got -1", server->Presence(-1));
  EXPECT_FAILS(IndexError, "replicas 0 to 2, got 3", server->Rows(3));
}

TEST(ParameterServer, ReadsAndChangesTheRuleOfAGroup) {
  auto server = MakeServer({{.name = "a", .count = 1}, {.name = "b", .count = 2}},
                           {.rules = {Adam{.learning_rate = 0.25}}});
  EXPECT_EQ(server->StateNames(0).ValueOrDie(),
            (std::vector<std::string>{"exp_avg", "exp_avg_sq"}));
  EXPECT_EQ(server->LearningRate(0).ValueOrDie(), 0.25);
  ASSERT_OK(server->SetLearningRate(0, 0.5));
  EXPECT_EQ(server->LearningRate(0).ValueOrDie(), 0.5);
  EXPECT_FAILS(IndexError, "groups 0 to 0, got 1", server->StateNames(1));
  EXPECT_FAILS(IndexError, "groups 0 to 0, got 1", server->LearningRate(1));
  EXPECT_FAILS(IndexError, "groups 0 to 0, got 1", server->SetLearningRate(1, 0.5));
  EXPECT_FAILS(Invalid, "learning_rate", server->SetLearningRate(0, -1));
}

TEST(ParameterServer, UpdateIsBitwiseTheSameWhateverTheNumberOfOwners) {
  for (auto max_norm : {std::optional<double>{}, std::optional<double>{0.5}}) {
    const auto expected = TrainAwkwardly(1, max_norm);
    for (int owners : {2, 3, 64}) {
      EXPECT_EQ(TrainAwkwardly(owners, max_norm), expected) << owners << " owners";
    }
  }
  EXPECT_NE(TrainAwkwardly(1, {}), TrainAwkwardly(1, 0.5));
}

TEST(ParameterServer, AveragesByRowsNotByReplica) {
  auto server = MakeServer({{.name = "w", .count = 3}}, PlainOptions(2));
  ReplicaThreads replicas(*server, [](ReplicaClient& client) {
    const float value = client.replica() == 0 ? 1 : 5;
    std::ranges::fill(Gradient(client, 0), value);
    PushAndWait(client, client.replica() == 0 ? 3 : 1);
    for (float weight :
         VectorOf<float>(client.region()->weights(), client.region()->parameters()[0])) {
      EXPECT_EQ(weight, -2);  // (3 * 1 + 1 * 5) / 4, seen by the replica itself
    }
  });
  const auto report = UpdateOnce(*server);
  EXPECT_EQ(report.rows, 4);
  EXPECT_EQ(report.step, 1U);
  EXPECT_FALSE(report.gradient_norm.has_value());
}

TEST(ParameterServer, AveragesByTheWeightsOfRows) {
  auto server = MakeServer({{.name = "w", .count = 3}}, PlainOptions(2));
  ReplicaThreads replicas(*server, [](ReplicaClient& client) {
    std::ranges::fill(Gradient(client, 0), client.replica() == 0 ? 1.0F : 5.0F);
    PushAndWait(client, client.replica() == 0 ? 0.75 : 0.25);
  });
  EXPECT_EQ(UpdateOnce(*server).rows, 1);
  EXPECT_EQ(Weights(*server, 0)[2], -2);  // 0.75 * 1 + 0.25 * 5
}

TEST(ParameterServer, ReplicaWithoutRowsHasNoInfluence) {
  auto server = MakeServer({{.name = "w", .count = 2}}, PlainOptions(2));
  ReplicaThreads replicas(*server, [](ReplicaClient& client) {
    const float value =
        client.replica() == 0 ? std::numeric_limits<float>::quiet_NaN() : 4.0F;
    std::ranges::fill(Gradient(client, 0), value);
    PushAndWait(client, client.replica() == 0 ? 0 : 7);
  });
  UpdateOnce(*server);
  EXPECT_EQ(Weights(*server, 0)[1], -4);
}

TEST(ParameterServer, StepWithoutRowsChangesNothing) {
  auto server = MakeServer({{.name = "w", .count = 2}}, PlainOptions(2));
  ReplicaThreads replicas(*server, [](ReplicaClient& client) {
    std::ranges::fill(Gradient(client, 0), 9.0F);
    PushAndWait(client, 0);
  });
  EXPECT_EQ(UpdateOnce(*server).rows, 0);
  EXPECT_EQ(Weights(*server, 0)[0], 0);
  EXPECT_EQ(server->region()->step_counts()[0], 0);
}

TEST(ParameterServer, ParameterWithoutGradientIsSkippedOnlyIfAllReplicasLackIt) {
  auto server = MakeServer(
      {{.name = "some", .count = 1}, {.name = "none", .count = 1}},
      {.rules = {Sgd{.learning_rate = 1, .weight_decay = 0.5}}, .num_replicas = 2});
  Weights(*server, 1)[0] = 8;
  ReplicaThreads replicas(*server, [](ReplicaClient& client) {
    Gradient(client, 0)[0] = 6;
    Gradient(client, 1)[0] = 6;
    client.presence()[0] = client.replica() == 1;
    client.presence()[1] = 0;
    PushAndWait(client, 1);
  });
  UpdateOnce(*server);
  EXPECT_EQ(Weights(*server, 0)[0], -3);  // the other replica counts as zero
  EXPECT_EQ(Weights(*server, 1)[0], 8);   // not even decay
  EXPECT_EQ(server->region()->step_counts()[0], 1);
  EXPECT_EQ(server->region()->step_counts()[1], 0);
}

TEST(ParameterServer, ConstantClippingClampsTheAverage) {
  auto options = PlainOptions(2);
  options.clip.constant = GradientClip::Interval{-1, 2};
  auto server = MakeServer({{.name = "w", .count = 3}}, options);
  ReplicaThreads replicas(*server, [](ReplicaClient& client) {
    const auto gradient = Gradient(client, 0);
    // Averages: -5, 0 (of two values that would be clamped alone), 3.
    gradient[0] = -5;
    gradient[1] = client.replica() == 0 ? -9.0F : 9.0F;
    gradient[2] = 3;
    PushAndWait(client, 1);
  });
  UpdateOnce(*server);
  EXPECT_EQ(Weights(*server, 0)[0], 1);
  EXPECT_EQ(Weights(*server, 0)[1], 0);
  EXPECT_EQ(Weights(*server, 0)[2], -2);
}

TEST(ParameterServer, NormClippingSpansTypesAndLeavesSmallGradientsAlone) {
  auto options = PlainOptions(1);
  options.clip.max_norm = 5;
  auto server = MakeServer({{.name = "a", .count = 1},
                            {.name = "b", .count = 1, .type = ParameterType::kFloat64}},
                           options);
  ReplicaThreads replicas(*server, [](ReplicaClient& client) {
    for (float scale : {1.0F, 10.0F}) {
      const auto b = client.region()->parameters()[1];
      Gradient(client, 0)[0] = 3 * scale;
      VectorOf<double>(client.gradient(), b)[0] = 4 * static_cast<double>(scale);
      PushAndWait(client, 1);
    }
  });
  auto report = UpdateOnce(*server);
  EXPECT_DOUBLE_EQ(*report.gradient_norm, 5);
  EXPECT_NEAR(Weights(*server, 0)[0], -3, 1e-5);
  report = UpdateOnce(*server);
  EXPECT_DOUBLE_EQ(*report.gradient_norm, 50);
  const double b =
      VectorOf<double>(server->region()->weights(), server->layout().parameters()[1])[0];
  EXPECT_NEAR(Weights(*server, 0)[0], -3 - 3, 1e-5);
  EXPECT_NEAR(b, -4 - 4, 1e-5);
}

TEST(ParameterServer, StatesBeginWithTheRulesInitialValue) {
  auto server =
      MakeServer({{.name = "a", .count = 5},
                  {.name = "b", .count = 3, .type = ParameterType::kFloat64, .group = 1}},
                 {.rules = {Adagrad{.initial_accumulator = 0.5}, Ftrl{}}});
  const auto& parameters = server->layout().parameters();
  for (float value : VectorOf<float>(server->region()->state(0), parameters[0])) {
    EXPECT_EQ(value, 0.5F);
  }
  for (double value : VectorOf<double>(server->region()->state(0), parameters[1])) {
    EXPECT_EQ(value, 0.1);
  }
  EXPECT_EQ(server->region()->sizes().num_states, 2);
}

TEST(ParameterServer, NewHyperParametersApplyFromTheNextStep) {
  auto server = MakeServer({{.name = "w", .count = 1}}, PlainOptions(1));
  ReplicaThreads replicas(*server, [](ReplicaClient& client) {
    for (int step = 0; step < 2; ++step) {
      Gradient(client, 0)[0] = 1;
      PushAndWait(client, 1);
    }
  });
  UpdateOnce(*server);
  ASSERT_OK(server->SetRule(0, Sgd{.learning_rate = 0.5}));
  UpdateOnce(*server);
  EXPECT_EQ(Weights(*server, 0)[0], -1.5F);
  EXPECT_FAILS(Invalid, "by a rule with the same states, got adam",
               server->SetRule(0, Adam{}));
  EXPECT_FAILS(Invalid, "by a rule with the same states, got sgd",
               server->SetRule(0, Sgd{.momentum = 0.9}));
  EXPECT_FAILS(IndexError, "groups 0 to 0, got 1", server->SetRule(1, Sgd{}));
}

TEST(ParameterServer, StepTimesOutWithoutChangeWhenAGradientIsMissing) {
  auto server = MakeServer({{.name = "w", .count = 1}}, PlainOptions(2));
  ASSERT_OK_AND_ASSIGN(auto client, ReplicaClient::Attach(server->region(), 0));
  Gradient(*client, 0)[0] = 1;
  ASSERT_OK(client->Push(1));
  ASSERT_OK_AND_ASSIGN(auto report, server->Step(nanoseconds(1)));
  EXPECT_EQ(report.outcome, StepOutcome::kTimeout);
  EXPECT_EQ(Weights(*server, 0)[0], 0);
  ASSERT_OK_AND_ASSIGN(auto outcome, client->Wait(nanoseconds(1)));
  EXPECT_EQ(outcome, WaitOutcome::kTimeout);
  EXPECT_FAILS(Invalid, "has already pushed: call wait() before the next push",
               client->Push(1));
}

TEST(ParameterServer, StopEndsTheWaitsOfDriverAndReplicas) {
  auto server = MakeServer({{.name = "w", .count = 1}}, PlainOptions(2));
  std::latch pushed(1);
  std::jthread replica([&] {
    auto client = ReplicaClient::Attach(server->region(), 0).ValueOrDie();
    ASSERT_OK(client->Push(1));
    pushed.count_down();
    ASSERT_OK_AND_ASSIGN(auto outcome, client->Wait(kPatience));
    EXPECT_EQ(outcome, WaitOutcome::kStopped);
  });
  std::jthread stopper([&] {
    pushed.wait();
    server->Stop();
  });
  ASSERT_OK_AND_ASSIGN(auto report, server->Step(kPatience));
  EXPECT_EQ(report.outcome, StepOutcome::kStopped);
}

TEST(ParameterServer, ManyShortStepsLoseNoWakeUp) {
  constexpr int kSteps = 2000;
  auto server = MakeServer({{.name = "w", .count = 4}}, PlainOptions(3));
  ReplicaThreads replicas(*server, [](ReplicaClient& client) {
    for (int step = 0; step < kSteps; ++step) {
      std::ranges::fill(Gradient(client, 0), 1.0F);
      PushAndWait(client, 1);
    }
  });
  for (int step = 0; step < kSteps; ++step) UpdateOnce(*server);
  EXPECT_NEAR(Weights(*server, 0)[3], -kSteps, 1e-2);
  EXPECT_EQ(server->step(), static_cast<uint64_t>(kSteps));
}

TEST(ParameterServer, SpinningReplicasSeeEveryUpdate) {
  constexpr int kSteps = 500;
  auto server = MakeServer({{.name = "w", .count = 4}}, PlainOptions(3));
  ReplicaThreads replicas(*server, [](ReplicaClient& client) {
    for (int step = 0; step < kSteps; ++step) {
      std::ranges::fill(Gradient(client, 0), 1.0F);
      ASSERT_OK(client.Push(1));
      ASSERT_OK_AND_ASSIGN(auto outcome, client.Wait(kPatience));
      ASSERT_EQ(outcome, WaitOutcome::kReady);
      ASSERT_EQ(client.region()->step().load(), client.steps());
    }
  });
  for (int step = 0; step < kSteps; ++step) UpdateOnce(*server);
  EXPECT_NEAR(Weights(*server, 0)[3], -kSteps, 1e-2);
}

TEST(ParameterServer, StepWhileUpdatesUntilGoOnReturnsFalse) {
  auto server = MakeServer({{.name = "w", .count = 1}}, PlainOptions(2));
  ReplicaThreads replicas(*server, [](ReplicaClient& client) {
    for (int step = 0; step < 5; ++step) {
      Gradient(client, 0)[0] = 1;
      PushAndWait(client, 1);
    }
  });
  int asked = 0;
  const auto go_on = [&] { return ++asked != 3; };
  ASSERT_OK_AND_ASSIGN(auto report, server->StepWhile(go_on, kPatience, kPatience));
  EXPECT_EQ(report.outcome, StepOutcome::kReady);
  EXPECT_EQ(report.step, 2U);
  EXPECT_EQ(Weights(*server, 0)[0], -2);
  // The update that it was told not to make is still pending.
  EXPECT_EQ(UpdateOnce(*server).step, 3U);
  while (server->step() < 5) {
    ASSERT_OK_AND_ASSIGN(
        report, server->StepWhile(go_on, kPatience, std::chrono::milliseconds(1)));
  }
  EXPECT_EQ(Weights(*server, 0)[0], -5);
}

TEST(ParameterServer, ACallEndsTheWaitOnce) {
  auto server = MakeServer({{.name = "w", .count = 1}}, PlainOptions(1));
  ASSERT_OK_AND_ASSIGN(auto client, ReplicaClient::Attach(server->region(), 0));
  std::jthread replica([&] { client->Call(); });
  ASSERT_OK_AND_ASSIGN(auto report, server->Step(kPatience));
  EXPECT_EQ(report.outcome, StepOutcome::kCalled);
  ASSERT_OK_AND_ASSIGN(report, server->Step(nanoseconds(1)));
  EXPECT_EQ(report.outcome, StepOutcome::kTimeout);
  // Gradients come first; the call is not lost.
  ASSERT_OK(client->Push(1));
  client->Call();
  EXPECT_EQ(UpdateOnce(*server).step, 1U);
  ASSERT_OK_AND_ASSIGN(report, server->Step(kPatience));
  EXPECT_EQ(report.outcome, StepOutcome::kCalled);
}

TEST(ParameterServer, StepWhileEndsWhenNoGradientsCome) {
  auto server = MakeServer({{.name = "w", .count = 1}}, PlainOptions(1));
  const auto go_on = [] { return true; };
  ASSERT_OK_AND_ASSIGN(auto report, server->StepWhile(go_on, kPatience, nanoseconds(1)));
  EXPECT_EQ(report.outcome, StepOutcome::kTimeout);
  ASSERT_OK_AND_ASSIGN(auto client, ReplicaClient::Attach(server->region(), 0));
  ASSERT_OK(client->Push(1));
  ASSERT_OK_AND_ASSIGN(report, server->StepWhile(go_on, kPatience, nanoseconds(1)));
  EXPECT_EQ(report.outcome, StepOutcome::kUpdated);
  EXPECT_EQ(report.step, 1U);
  server->Stop();
  ASSERT_OK_AND_ASSIGN(report, server->StepWhile(go_on, kPatience, kPatience));
  EXPECT_EQ(report.outcome, StepOutcome::kStopped);
}

TEST(ParameterServer, RegionIsCountedInTheBudgetWhileItLives) {
  const auto budget = std::make_shared<MemoryBudget>(1 << 30);
  auto options = PlainOptions(2);
  options.budget = budget;
  auto server = MakeServer({{.name = "w", .count = 1 << 20}}, options);
  EXPECT_EQ(budget->used(), server->region()->size());
  EXPECT_GE(budget->used(), 3 * (4 << 20));  // one weight vector, two gradients
  server.reset();
  EXPECT_EQ(budget->used(), 0);
}

TEST(ParameterServer, HoldsOneCopyOfWeightsAndStatesWhateverTheReplicas) {
  const std::vector<ParameterSpec> specs = {{.name = "w", .count = 1 << 20}};
  ServerOptions options{.rules = {Adam{}}, .num_replicas = 1};
  const int64_t one = MakeServer(specs, options)->region()->size();
  options.num_replicas = 4;
  const int64_t four = MakeServer(specs, options)->region()->size();
  EXPECT_LT(four - one, 3 * ((4 << 20) + 64 * 1024));  // three more gradients, no more
}

TEST(ParameterServer, ResumesFromACheckpoint) {
  auto options = PlainOptions(1);
  options.replica_state_bytes = 8;
  auto server = MakeServer({{.name = "w", .count = 1}}, options);
  const std::string saved = "random";
  ASSERT_OK(server->Restore(41, {std::as_bytes(std::span(saved))}));
  ReplicaThreads replicas(*server, [&](ReplicaClient& client) {
    EXPECT_EQ(client.steps(), 41U);
    EXPECT_TRUE(std::ranges::equal(*client.state(), std::as_bytes(std::span(saved))));
    ASSERT_OK(client.Push(1, client.state()->first(3)));
    EXPECT_EQ(client.Wait(kPatience).ValueOrDie(), WaitOutcome::kReady);
  });
  EXPECT_EQ(UpdateOnce(*server).step, 42U);
  ASSERT_OK_AND_ASSIGN(auto state, server->ReplicaState(0));
  EXPECT_TRUE(std::ranges::equal(state, std::as_bytes(std::span("ran", 3))));
  EXPECT_FAILS(IndexError, "replicas 0 to 0, got 1", server->ReplicaState(1));
}

TEST(ParameterServer, RestoreRejectsIncompleteStates) {
  auto server = MakeServer({{.name = "w", .count = 1}}, PlainOptions(1));
  ASSERT_OK_AND_ASSIGN(auto client, ReplicaClient::Attach(server->region(), 0));
  EXPECT_FAILS(Invalid, "Restore before replicas attach", server->Restore(1, {{}}));
  client.reset();
  EXPECT_FAILS(Invalid, "1 replicas needs its state to be restored, got 0",
               server->Restore(1, {}));
  const std::byte large{};
  EXPECT_FAILS(Invalid, "room for 0 bytes", server->Restore(1, {std::span(&large, 1)}));
  EXPECT_EQ(server->step(), 0U);
}

TEST(ParameterServer, RejectsInvalidOptionsByName) {
  const auto layout =
      ParameterLayout::Make({{.name = "w", .count = 1, .group = 1}}).ValueOrDie();
  auto make = [&](const ServerOptions& options) {
    return ParameterServer::Make(layout, options);
  };
  EXPECT_FAILS(Invalid, "2 parameter groups needs an update rule, got 1",
               make({.rules = {Sgd{}}}));
  EXPECT_FAILS(Invalid, "at least 1 replica, got 0",
               make({.rules = {Sgd{}, Sgd{}}, .num_replicas = 0}));
  EXPECT_FAILS(Invalid, "momentum must be at least 0",
               make({.rules = {Sgd{}, Sgd{.momentum = -1}}}));
  EXPECT_FAILS(Invalid, "min <= max, got min 1",
               make({.rules = {Sgd{}, Sgd{}}, .clip = {.constant = {{1, 0}}}}));
  EXPECT_FAILS(Invalid, "at least 0, got -1",
               make({.rules = {Sgd{}, Sgd{}}, .clip = {.max_norm = -1}}));
}

}  // namespace
}  // namespace xshards::learn
