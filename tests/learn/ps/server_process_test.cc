// SPDX-License-Identifier: Apache-2.0
// Replicas as processes: what threads cannot show.
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "learn/ps/client.h"
#include "learn/ps/server.h"
#include "tests/learn/ps/replica_group.h"
#include "tests/support/status_assertions.h"

namespace xshards::learn {
namespace {

using std::chrono::steady_clock;
using testing::FillGradient;
using testing::kPatience;
using testing::VectorOf;

/// A child process that exits with its body's result; killed at the end of the test.
class Child {
 public:
  explicit Child(const std::function<int()>& body) : pid_(fork()) {
    if (pid_ == 0) _exit(body());
  }
  ~Child() {
    if (pid_ > 0) Kill();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void Kill() {
    kill(pid_, SIGKILL);
    Join();
  }
  /// The exit code, or minus the signal.
  int Join() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

/// One replica's training: `steps` gradients from the first one not yet pushed. 0 on
/// success.
int TrainReplica(int fd, int32_t replica, uint64_t steps) {
  auto client = ReplicaClient::Attach(fd, replica);
  if (!client.ok()) return 1;
  while (true) {
    const auto outcome = (*client)->Wait(kPatience);
    if (!outcome.ok() || *outcome != WaitOutcome::kReady) return 2;
    if ((*client)->steps() == steps) return 0;
    FillGradient(**client);
    const uint64_t next = (*client)->steps() + 1;
    if (!(*client)->Push(replica + 1, std::as_bytes(std::span(&next, 1))).ok()) return 3;
  }
}

std::unique_ptr<ParameterServer> MakeServer(int32_t num_replicas) {
  auto layout = ParameterLayout::Make(
      {{.name = "w", .count = 10'000},
       {.name = "wide", .count = 100, .type = ParameterType::kFloat64}});
  return ParameterServer::Make(layout.MoveValueUnsafe(),
                               {.rules = {Adam{.learning_rate = 0.1}},
                                .num_replicas = num_replicas,
                                .num_owners = 2,
                                .replica_state_bytes = sizeof(uint64_t)})
      .ValueOrDie();
}

std::vector<std::byte> WeightsOf(const ParameterServer& server) {
  const auto* weights = server.region()->weights();
  return {weights, weights + server.layout().vector_bytes()};
}

constexpr uint64_t kTrainSteps = 12;

/// The weights of an uninterrupted run with the same gradients, on threads.
std::vector<std::byte> Undisturbed() {
  auto server = MakeServer(2);
  testing::ReplicaThreads replicas(*server, [](ReplicaClient& client) {
    while (client.steps() < kTrainSteps) {
      FillGradient(client);
      testing::PushAndWait(client, client.replica() + 1);
    }
  });
  for (uint64_t step = 0; step < kTrainSteps; ++step) {
    EXPECT_EQ(server->Step(kPatience)->outcome, StepOutcome::kUpdated);
  }
  return WeightsOf(*server);
}

class ServerProcess : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the thread sanitizer does not follow forks of threaded programs";
#endif
  }
};

TEST_F(ServerProcess, TrainsLikeThreads) {
  const auto expected = Undisturbed();
  auto server = MakeServer(2);
  const int fd = server->region()->fd();
  Child first([&] { return TrainReplica(fd, 0, kTrainSteps); });
  Child second([&] { return TrainReplica(fd, 1, kTrainSteps); });
  for (uint64_t step = 0; step < kTrainSteps; ++step) {
    ASSERT_OK_AND_ASSIGN(auto report, server->Step(kPatience));
    ASSERT_EQ(report.outcome, StepOutcome::kUpdated);
    EXPECT_EQ(report.rows, 3);
  }
  EXPECT_EQ(first.Join(), 0);
  EXPECT_EQ(second.Join(), 0);
  EXPECT_EQ(WeightsOf(*server), expected);
}

TEST_F(ServerProcess, DeathIsReportedOnceAndTheReplacementRepeatsTheStep) {
  const auto expected = Undisturbed();
  auto server = MakeServer(2);
  const int fd = server->region()->fd();
  Child other([&] { return TrainReplica(fd, 0, kTrainSteps); });
  // Pushes five gradients and dies in the middle of writing the sixth.
  Child victim([&] {
    if (TrainReplica(fd, 1, 5) != 0) return 1;
    auto client = ReplicaClient::Attach(fd, 1).ValueOrDie();
    VectorOf<float>(client->gradient(), client->region()->parameters()[0])[0] = 1e9F;
    raise(SIGKILL);
    return 2;
  });
  for (int step = 0; step < 5; ++step) {
    ASSERT_EQ(server->Step(kPatience)->outcome, StepOutcome::kUpdated);
  }
  ASSERT_OK_AND_ASSIGN(auto report, server->Step(kPatience));
  ASSERT_EQ(report.outcome, StepOutcome::kReplicaDied);
  EXPECT_EQ(report.dead_replicas, std::vector<int32_t>{1});
  EXPECT_EQ(report.step, 5U);
  EXPECT_EQ(victim.Join(), -SIGKILL);
  ASSERT_OK_AND_ASSIGN(report, server->Step(std::chrono::milliseconds(300)));
  EXPECT_EQ(report.outcome, StepOutcome::kTimeout);

  Child replacement([&] {
    auto client = ReplicaClient::Attach(fd, 1).ValueOrDie();
    uint64_t state = 0;
    std::memcpy(&state, client->state()->data(), client->state()->size());
    if (client->steps() != 5 || state != 5) return 9;
    client.reset();
    return TrainReplica(fd, 1, kTrainSteps);
  });
  for (uint64_t step = 5; step < kTrainSteps; ++step) {
    ASSERT_EQ(server->Step(kPatience)->outcome, StepOutcome::kUpdated);
  }
  EXPECT_EQ(replacement.Join(), 0);
  EXPECT_EQ(other.Join(), 0);
  EXPECT_EQ(WeightsOf(*server), expected);
}

TEST_F(ServerProcess, GradientPushedBeforeDeathCounts) {
  auto server = MakeServer(1);
  const int fd = server->region()->fd();
  Child victim([&] {
    auto client = ReplicaClient::Attach(fd, 0).ValueOrDie();
    FillGradient(*client);
    if (!client->Push(4).ok()) return 1;
    raise(SIGKILL);
    return 2;
  });
  EXPECT_EQ(victim.Join(), -SIGKILL);
  ASSERT_OK_AND_ASSIGN(auto report, server->Step(kPatience));
  EXPECT_EQ(report.outcome, StepOutcome::kUpdated);
  EXPECT_EQ(report.rows, 4);
  ASSERT_OK_AND_ASSIGN(report, server->Step(kPatience));
  EXPECT_EQ(report.outcome, StepOutcome::kReplicaDied);
  ASSERT_OK_AND_ASSIGN(auto client, ReplicaClient::Attach(server->region(), 0));
  EXPECT_EQ(client->steps(), 1U);
}

TEST_F(ServerProcess, DeadReplicasSlotCanBeTakenBeforeTheDriverLooks) {
  auto server = MakeServer(1);
  const int fd = server->region()->fd();
  Child victim([&] {
    auto client = ReplicaClient::Attach(fd, 0).ValueOrDie();
    raise(SIGKILL);
    return 2;
  });
  victim.Join();
  EXPECT_NE(server->region()->slot(0).pid.load(), 0);
  Child replacement([&] { return TrainReplica(fd, 0, 1); });
  EXPECT_EQ(server->Step(kPatience)->outcome, StepOutcome::kUpdated);
  EXPECT_EQ(replacement.Join(), 0);
}

TEST_F(ServerProcess, OrderlyExitIsNotReportedAsDeath) {
  auto server = MakeServer(1);
  const int fd = server->region()->fd();
  Child child([&] { return ReplicaClient::Attach(fd, 0).ok() ? 0 : 1; });
  EXPECT_EQ(child.Join(), 0);
  ASSERT_OK_AND_ASSIGN(auto report, server->Step(std::chrono::milliseconds(300)));
  EXPECT_EQ(report.outcome, StepOutcome::kTimeout);
}

TEST_F(ServerProcess, ReplicaCannotWriteWeightsOrAnothersGradient) {
  auto server = MakeServer(2);
  const int fd = server->region()->fd();
  for (int target = 0; target < 3; ++target) {
    Child child([&] {
      signal(SIGSEGV, SIG_DFL);  // sanitizers report it and exit
      auto client = ReplicaClient::Attach(fd, 0).ValueOrDie();
      const auto& region = client->region();
      std::byte* forbidden[] = {region->weights(), region->state(0), region->gradient(1)};
      *client->gradient() = std::byte{1};
      *static_cast<volatile std::byte*>(forbidden[target]) = std::byte{1};
      return 0;
    });
    EXPECT_EQ(child.Join(), -SIGSEGV) << "target " << target;
  }
}

TEST_F(ServerProcess, ReplicaOfADeadDriverGivesUp) {
  int to_test[2];
  ASSERT_EQ(pipe2(to_test, O_CLOEXEC), 0);
  // The driver makes a server, starts a replica and dies.
  Child driver([&] {
    auto server = MakeServer(1);
    const int fd = server->region()->fd();
    if (fork() == 0) {
      auto client = ReplicaClient::Attach(fd, 0).ValueOrDie();
      if (!client->Push(1).ok()) _exit(1);
      const auto outcome = client->Wait(kPatience);
      const char gave_up = !outcome.ok() && outcome.status().IsIOError() ? 'y' : 'n';
      _exit(write(to_test[1], &gave_up, 1) == 1 ? 0 : 1);
    }
    while (server->region()->slot(0).pushed.load() == 0) usleep(1000);
    raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(driver.Join(), -SIGKILL);
  close(to_test[1]);
  char gave_up = '?';
  EXPECT_EQ(read(to_test[0], &gave_up, 1), 1);
  EXPECT_EQ(gave_up, 'y');
  close(to_test[0]);
}

TEST_F(ServerProcess, RejectsDescriptorsOfOtherFiles) {
  EXPECT_FAILS(IOError, "is not a parameter region", ReplicaClient::Attach(-1, 0));
  const int fd = memfd_create("other", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  EXPECT_FAILS(Invalid, "not a parameter region of this version",
               ReplicaClient::Attach(fd, 0));
  close(fd);
  auto server = MakeServer(1);
  EXPECT_FAILS(IndexError, "replicas 0 to 0, got 3",
               ReplicaClient::Attach(server->region()->fd(), 3));
}

}  // namespace
}  // namespace xshards::learn
