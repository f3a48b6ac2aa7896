// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "learn/ps/client.h"
#include "learn/ps/server.h"

namespace xshards::learn::testing {

// Long enough for a slow machine under a sanitizer; nothing waits for its end.
inline constexpr std::chrono::seconds kPatience{60};

template <typename T>
std::span<T> VectorOf(std::byte* vector, const Parameter& parameter) {
  return {reinterpret_cast<T*>(vector + parameter.offset),
          static_cast<size_t>(parameter.count)};
}

template <typename T>
std::span<T> VectorOf(std::byte* vector, const ParameterRecord& parameter) {
  return {reinterpret_cast<T*>(vector + parameter.offset),
          static_cast<size_t>(parameter.count)};
}

/// Fill a replica's complete gradient with numbers that depend only on replica and step.
inline void FillGradient(const ReplicaClient& client) {
  std::mt19937 random(static_cast<unsigned>(1000 * client.replica()) +
                      static_cast<unsigned>(client.steps()));
  std::normal_distribution<double> normal;
  for (const ParameterRecord& parameter : client.region()->parameters()) {
    if (parameter.type == ParameterType::kFloat32) {
      for (float& value : VectorOf<float>(client.gradient(), parameter)) {
        value = static_cast<float>(normal(random));
      }
    } else {
      for (double& value : VectorOf<double>(client.gradient(), parameter)) {
        value = normal(random);
      }
    }
  }
}

/// Runs each replica of a server as a thread of this process.
class ReplicaThreads {
 public:
  /// `body` is called once for each replica, with its client attached.
  ReplicaThreads(const ParameterServer& server,
                 const std::function<void(ReplicaClient&)>& body) {
    const auto& region = server.region();
    for (int32_t replica = 0; replica < region->sizes().num_replicas; ++replica) {
      threads_.emplace_back([region, replica, body] {
        auto client = ReplicaClient::Attach(region, replica);
        ASSERT_TRUE(client.ok()) << client.status();
        body(**client);
      });
    }
  }

 private:
  std::vector<std::jthread> threads_;
};

/// Push a gradient of `rows` rows and wait for its update, asleep.
inline void PushAndWait(ReplicaClient& client, double rows) {
  const auto pushed = client.Push(rows);
  ASSERT_TRUE(pushed.ok()) << pushed;
  const auto outcome = client.Wait(kPatience, std::chrono::nanoseconds(0));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ASSERT_EQ(*outcome, WaitOutcome::kReady);
}

}  // namespace xshards::learn::testing
