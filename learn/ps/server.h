// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "learn/ps/gradient_clip.h"
#include "learn/ps/key_range.h"
#include "learn/ps/owner_pool.h"
#include "learn/ps/region/parameter_layout.h"
#include "learn/ps/region/parameter_region.h"
#include "learn/ps/region/process_watch.h"
#include "learn/ps/shard.h"
#include "learn/ps/sync_policy.h"
#include "learn/ps/update/update_rule.h"
#include "xshards/export.h"
#include "xshards/memory/memory_budget.h"

namespace xshards::learn {

struct XSHARDS_EXPORT ServerOptions {
  std::vector<UpdateRule> rules;  // one for each parameter group
  int32_t num_replicas = 1;
  int num_owners = 0;  // 0: one for each core
  GradientClip clip;
  int64_t replica_state_bytes = 0;       // room for the state a replica needs to restart
  std::shared_ptr<MemoryBudget> budget;  // charged for the region; may be null
  /// Null: synchronous.
  std::shared_ptr<const SyncPolicy> policy;

  arrow::Status Validate(const ParameterLayout& layout) const;
};

enum class StepOutcome : uint8_t {
  kUpdated,      // weights are updated, replicas have been woken
  kReady,        // from Await: all gradients for the next update have arrived
  kReplicaDied,  // see dead_replicas; restart them and call Step again
  kCalled,       // a replica called; nothing has changed
  kTimeout,      // gradients are incomplete; nothing has changed
  kStopped,      // Stop was called
};

/// "updated", "ready", "replica_died", ...
XSHARDS_EXPORT const char* ToString(StepOutcome outcome);

struct StepReport {
  StepOutcome outcome = StepOutcome::kUpdated;
  uint64_t step = 0;  // updates made so far
  double rows = 0;    // in this update, or the sum of their weights
  /// Of the averaged gradient before clipping by norm; only when that is on.
  std::optional<double> gradient_norm;
  std::vector<int32_t> dead_replicas;  // each death is reported once
};

/// Keeps the one copy of weights and optimizer state in a shared region, and updates it
/// from the gradients that replicas write there.
///
/// The region's descriptor is all a replica needs (see ReplicaClient). All methods except
/// Stop are called by one driver thread. An update is bitwise the same for the same
/// gradients, whatever the number of owners.
class XSHARDS_EXPORT ParameterServer {
 public:
  static arrow::Result<std::unique_ptr<ParameterServer>> Make(ParameterLayout layout,
                                                              ServerOptions options);
  /// Stops.
  ~ParameterServer();
  ParameterServer(const ParameterServer&) = delete;
  ParameterServer& operator=(const ParameterServer&) = delete;

  const ParameterLayout& layout() const { return layout_; }
  const std::shared_ptr<ParameterRegion>& region() const { return region_; }
  uint64_t step() const { return region_->step().load(); }

  /// Wait for the gradients required by the policy, make one update and wake the
  /// replicas. Blocks for at most `timeout`; the death of a replica is noticed within a
  /// fifth of a second.
  arrow::Result<StepReport> Step(std::chrono::nanoseconds timeout);
  /// Call Step repeatedly, until `timeout` is over or no gradients arrive for `patience`.
  /// `go_on` is called before each update; if it returns false, the outcome is kReady and
  /// that update is still pending. kUpdated means that at least one update was made.
  arrow::Result<StepReport> StepWhile(const std::function<bool()>& go_on,
                                      std::chrono::nanoseconds timeout,
                                      std::chrono::nanoseconds patience);
  /// The two halves of an update that the caller computes: wait for the gradients as Step
  /// does, and, once weights are written, let the replicas continue.
  arrow::Result<StepReport> Await(std::chrono::nanoseconds timeout);
  arrow::Result<StepReport> Release();
  /// End this and every later wait of driver and replicas. From any thread.
  void Stop();

  /// Vectors in the region: an optimizer state, and what a replica pushed last.
  /// IndexError if there is no such state or replica.
  arrow::Result<std::byte*> State(int32_t state) const;
  arrow::Result<std::byte*> Gradient(int32_t replica) const;
  /// One byte per parameter: whether the replica has a gradient for it.
  arrow::Result<std::span<const uint8_t>> Presence(int32_t replica) const;
  /// Of the replica's last gradient, or the sum of their weights.
  arrow::Result<double> Rows(int32_t replica) const;

  arrow::Result<UpdateRule> RuleOf(int32_t group) const;
  /// The optimizer states of a group, in the order of their vectors.
  arrow::Result<std::vector<std::string>> StateNames(int32_t group) const;
  arrow::Result<double> LearningRate(int32_t group) const;
  arrow::Status SetLearningRate(int32_t group, double learning_rate);
  /// Change hyper-parameters from the next update on. The rule must keep the same states
  /// as the one it replaces.
  arrow::Status SetRule(int32_t group, const UpdateRule& rule);
  arrow::Status SetClip(const GradientClip& clip);

  /// The state that a replica pushed with the gradient of the last update. Valid until
  /// the next Step.
  arrow::Result<std::span<const std::byte>> ReplicaState(int32_t replica) const;

  /// Resume from a checkpoint after `step` updates: each replica starts with the state
  /// that ReplicaState returned at the time. Weights, optimizer states and step counts
  /// are written into the region by the caller, all before replicas attach.
  arrow::Status Restore(uint64_t step,
                        const std::vector<std::span<const std::byte>>& replica_states);

 private:
  ParameterServer(ParameterLayout layout, ServerOptions options,
                  std::shared_ptr<ParameterRegion> region,
                  std::unique_ptr<OwnerPool> owners);

  std::vector<ReplicaProgress> Progress() const;
  std::vector<int32_t> FindDeadReplicas();
  /// The replicas to take gradients from, or in `report` why there are none.
  std::vector<int32_t> AwaitGradients(std::chrono::nanoseconds timeout,
                                      StepReport* report);
  arrow::Status MakeUpdate(const std::vector<int32_t>& replicas, StepReport* report);
  Update Prepare(const std::vector<int32_t>& replicas, StepReport* report) const;
  arrow::Status ClipByNorm(Update* update, StepReport* report);
  arrow::Status CheckRestore(
      const std::vector<std::span<const std::byte>>& replica_states) const;
  void Publish(const std::vector<int32_t>& replicas, StepReport* report);

  const ParameterLayout layout_;
  std::vector<UpdateRule> rules_;
  const std::shared_ptr<const SyncPolicy> policy_;
  const std::shared_ptr<ParameterRegion> region_;
  const std::vector<Block> blocks_;
  ShardEnvironment environment_;  // points at the members above
  std::vector<Shard> shards_;
  std::vector<double> block_sums_;
  std::vector<ProcessWatch> watches_;  // by replica
  uint64_t calls_ = 0;                 // of replicas, that the caller has seen
  const std::unique_ptr<OwnerPool> owners_;
};

}  // namespace xshards::learn
