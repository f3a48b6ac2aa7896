// SPDX-License-Identifier: Apache-2.0
#include "learn/replica/step_window.h"

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "learn/ps/server.h"
#include "learn/replica/tensorflow_op.h"
#include "tests/learn/ps/replica_group.h"
#include "tests/support/status_assertions.h"

namespace xshards::learn {
namespace {

using testing::kPatience;
using testing::VectorOf;
using Bytes = std::span<const std::byte>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A server of one replica and two parameters, with plain steps of rate 1.
class StepWindowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto layout = ParameterLayout::Make({{.name = "a", .count = 3},
                                         {.name = "frozen", .count = 2},
                                         {.name = "b", .count = 1}});
    server_ = ParameterServer::Make(
                  std::move(layout).ValueOrDie(),
                  {.rules = {Sgd{.learning_rate = 1}}, .replica_state_bytes = 1000})
                  .ValueOrDie();
    client_ = ReplicaClient::Attach(server_->region(), 0).ValueOrDie();
    client_->presence()[1] = 0;
    window_ = std::make_unique<StepWindow>(client_.get());
  }

  arrow::Status Begin(std::vector<double> rows) {
    return window_->Begin("head", std::move(rows), {0, 2}, 5, 2, 1);
  }

  /// One step whose gradients are all `gradient`; the server updates meanwhile.
  arrow::Result<WindowOutcome> Step(float gradient, float loss = 0.5F) {
    std::jthread driver([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        EXPECT_OK(server_->Step(std::chrono::milliseconds(1)).status());
      }
    });
    return StepAlone(gradient, loss);
  }

  arrow::Result<WindowOutcome> StepAlone(float gradient, float loss = 0.5F) {
    const std::vector<float> a(3, gradient);
    const std::vector<float> b(1, gradient);
    const std::vector<float> values{gradient, loss};
    const std::string first = "xy";
    const std::string second(3, static_cast<char>('a' + window_->num_done()));
    const std::vector<Bytes> gradients{std::as_bytes(std::span(a)),
                                       std::as_bytes(std::span(b))};
    const std::vector<Bytes> buffers{std::as_bytes(std::span(first)),
                                     std::as_bytes(std::span(second))};
    return window_->Step(gradients, buffers, values);
  }

  float Weight(size_t parameter) const {
    return VectorOf<float>(server_->region()->weights(),
                           server_->layout().parameters()[parameter])[0];
  }

  std::unique_ptr<ParameterServer> server_;
  std::unique_ptr<ReplicaClient> client_;
  std::unique_ptr<StepWindow> window_;
};

TEST_F(StepWindowTest, EachStepUpdatesTheWeights) {
  ASSERT_OK(Begin({4, 4, 4}));
  for (const float gradient : {1.0F, 2.0F}) {
    ASSERT_OK_AND_ASSIGN(const WindowOutcome outcome, Step(gradient));
    EXPECT_EQ(outcome, WindowOutcome::kUpdated);
  }
  EXPECT_EQ(window_->num_done(), 2);
  EXPECT_EQ(Weight(0), -3);
  EXPECT_EQ(Weight(1), 0);
  EXPECT_EQ(Weight(2), -3);
  EXPECT_EQ(std::vector<float>(window_->values().begin(), window_->values().end()),
            (std::vector<float>{1, 0.5, 2, 0.5}));
}

TEST_F(StepWindowTest, LeavesWhatASuccessorNeeds) {
  ASSERT_OK(Begin({4, 4, 4}));
  ASSERT_OK(Step(1).status());
  ASSERT_OK(Step(2).status());
  ASSERT_OK_AND_ASSIGN(const Bytes state, client_->state());
  ASSERT_EQ(state.size(), 4 + 8 + 5 + 3 * 2 * 4U);
  const std::string text(reinterpret_cast<const char*>(state.data()), state.size());
  EXPECT_EQ(text.substr(0, 4), "head");
  int64_t done = 0;
  std::memcpy(&done, state.data() + 4, sizeof(done));
  EXPECT_EQ(done, 2);
  EXPECT_EQ(text.substr(12, 5), "xybbb");
  std::vector<float> values(6);
  std::memcpy(values.data(), state.data() + 17, sizeof(float) * values.size());
  EXPECT_EQ(values, (std::vector<float>{1, 0.5, 2, 0.5, 0, 0}));
}

TEST_F(StepWindowTest, DoesNotPushAfterALossOfNan) {
  ASSERT_OK(Begin({4, 4}));
  ASSERT_OK(Step(1).status());
  ASSERT_OK_AND_ASSIGN(const WindowOutcome outcome, StepAlone(2, kNan));
  EXPECT_EQ(outcome, WindowOutcome::kNanLoss);
  EXPECT_EQ(window_->outcome(), WindowOutcome::kNanLoss);
  EXPECT_EQ(window_->num_done(), 1);
  EXPECT_EQ(client_->steps(), 1);
}

TEST_F(StepWindowTest, EndsWhenTheDriverStops) {
  ASSERT_OK(Begin({4}));
  std::jthread driver([this] {
    EXPECT_OK(server_->Await(kPatience).status());
    server_->Stop();
  });
  ASSERT_OK_AND_ASSIGN(const WindowOutcome outcome, StepAlone(1));
  EXPECT_EQ(outcome, WindowOutcome::kStopped);
  EXPECT_EQ(window_->num_done(), 0);
}

TEST_F(StepWindowTest, RefusesWhatDoesNotFit) {
  EXPECT_FAILS(Invalid, "has steps", window_->Begin("", {}, {}, 0, 0, -1));
  EXPECT_FAILS(Invalid, "negative", window_->Begin("", {1}, {}, -1, 0, -1));
  EXPECT_FAILS(IndexError, "3", window_->Begin("", {1}, {3}, 0, 0, -1));
  EXPECT_FAILS(IndexError, "place of the loss", window_->Begin("", {1}, {0}, 0, 2, 2));

  ASSERT_OK(Begin({4}));
  const std::vector<float> three(3, 1);
  const std::vector<float> values(2, 1);
  const Bytes bytes = std::as_bytes(std::span(three));
  const std::vector<Bytes> one_gradient{bytes};
  const std::vector<Bytes> too_large{bytes, bytes};
  const std::vector<Bytes> no_buffers;
  EXPECT_FAILS(Invalid, "gradients of 2 parameters, got 1",
               window_->Step(one_gradient, no_buffers, values));
  EXPECT_FAILS(Invalid, "has 4 bytes, got 12",
               window_->Step(too_large, no_buffers, values));
  EXPECT_FAILS(Invalid, "Expected 2 values",
               window_->Step(one_gradient, no_buffers, three));
  EXPECT_EQ(client_->steps(), 0);
  ASSERT_OK(Step(1).status());
  EXPECT_FAILS(Invalid, "are done", StepAlone(1));
}

TEST_F(StepWindowTest, RefusesAStateThatIsTooLarge) {
  ASSERT_OK(window_->Begin(std::string(1001, ' '), {4}, {0, 2}, 5, 2, 1));
  EXPECT_FAILS(Invalid, "bytes of state", StepAlone(1));
}

TEST(TensorFlowOp, NeedsTensorFlow) {
  EXPECT_FAILS(Invalid, "not loaded", AddTensorFlowStep());
}

}  // namespace
}  // namespace xshards::learn
