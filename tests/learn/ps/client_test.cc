// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/client.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "learn/ps/server.h"
#include "tests/learn/ps/replica_group.h"
#include "tests/support/status_assertions.h"

namespace xshards::learn {
namespace {

using testing::kPatience;

/// A server of one parameter, whose replicas may leave 8 bytes.
std::unique_ptr<ParameterServer> MakeServer(int32_t num_replicas) {
  return ParameterServer::Make(
             ParameterLayout::Make({{.name = "w", .count = 1}}).ValueOrDie(),
             {.rules = {Sgd{.learning_rate = 1}},
              .num_replicas = num_replicas,
              .replica_state_bytes = 8})
      .ValueOrDie();
}

TEST(ReplicaClient, RejectsUnknownAndAttachedReplicas) {
  auto server = MakeServer(2);
  EXPECT_FAILS(IndexError, "replicas 0 to 1, got 2",
               ReplicaClient::Attach(server->region(), 2));
  ASSERT_OK_AND_ASSIGN(auto client, ReplicaClient::Attach(server->region(), 0));
  EXPECT_FAILS(Invalid, "Replica 0 is already attached",
               ReplicaClient::Attach(server->region(), 0));
  client.reset();
  ASSERT_OK(ReplicaClient::Attach(server->region(), 0).status());
}

TEST(ReplicaClient, StateBeyondItsRoomIsAnError) {
  auto server = MakeServer(1);
  ASSERT_OK_AND_ASSIGN(auto client, ReplicaClient::Attach(server->region(), 0));
  for (const int64_t size : {int64_t{9}, int64_t{-1}, int64_t{1} << 62}) {
    server->region()->slot(0).state_size = {size, size};
    EXPECT_FAILS(Invalid, "room for 8 bytes of state", client->state());
    EXPECT_FAILS(Invalid, "room for 8 bytes of state", server->ReplicaState(0));
  }
}

TEST(ReplicaClient, StateIsThatOfTheLastPush) {
  auto server = MakeServer(1);
  ASSERT_OK_AND_ASSIGN(auto client, ReplicaClient::Attach(server->region(), 0));
  EXPECT_TRUE(client->state()->empty());
  for (std::string text : {"first", "second", "third"}) {
    ASSERT_OK(client->Push(1, std::as_bytes(std::span(text))));
    ASSERT_OK_AND_ASSIGN(const StepReport report, server->Step(kPatience));
    EXPECT_EQ(report.outcome, StepOutcome::kUpdated);
    client = nullptr;
    ASSERT_OK_AND_ASSIGN(client, ReplicaClient::Attach(server->region(), 0));
    ASSERT_OK_AND_ASSIGN(const auto state, client->state());
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(state.data()), state.size()),
              text);
  }
  EXPECT_EQ(client->steps(), 3U);
  const std::string large(9, 'x');
  EXPECT_FAILS(Invalid, "room for 8 bytes of state",
               client->Push(1, std::as_bytes(std::span(large))));
  EXPECT_FAILS(Invalid, "at least 0 rows, got -1", client->Push(-1));
  EXPECT_FAILS(Invalid, "at least 0 rows, got nan",
               client->Push(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FAILS(Invalid, "at least 0 rows, got inf",
               client->Push(std::numeric_limits<double>::infinity()));
}

}  // namespace
}  // namespace xshards::learn
