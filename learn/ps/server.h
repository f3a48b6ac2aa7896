// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
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
  int64_t replica_state_bytes = 0;       // room for what a replica needs to start again
  std::shared_ptr<MemoryBudget> budget;  // counts the region; may be null
  /// Null: synchronous.
  std::shared_ptr<const SyncPolicy> policy;

  arrow::Status Validate(const ParameterLayout& layout) const;
};

enum class StepOutcome : uint8_t {
  kUpdated,      // weights are new, replicas have been told
  kReady,        // of Await: all gradients for the next update are there
  kReplicaDied,  // see dead_replicas; start them again and call Step again
  kCalled,       // a replica called; nothing has changed
  kTimeout,      // gradients are missing still; nothing has changed
  kStopped,      // Stop was called
};

struct StepReport {
  StepOutcome outcome = StepOutcome::kUpdated;
  uint64_t step = 0;  // updates made so far
  int64_t rows = 0;   // behind this update
  /// Of the averaged gradient before clipping by norm; only when that is on.
  std::optional<double> gradient_norm;
  std::vector<int32_t> dead_replicas;  // each death is reported once
};

/// Keeps the one copy of weights and optimizer state in a shared region, and changes it
/// by the gradients that replicas leave there.
///
/// The region's descriptor is all a replica needs (see ReplicaClient). Step, Stop aside,
/// every method is for one driver thread. An update is bitwise the same for the same
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

  /// Wait until the policy has the gradients it wants, make one update and wake the
  /// replicas. Blocks for at most `timeout`; the death of a replica is noticed within a
  /// fifth of a second.
  arrow::Result<StepReport> Step(std::chrono::nanoseconds timeout);
  /// Step again and again, until `timeout` is over or gradients do not come for as long
  /// as `patience`. Before each update `go_on` is asked; if it says no, the outcome is
  /// kReady and that update is still to be made. kUpdated means that at least one was.
  arrow::Result<StepReport> StepWhile(const std::function<bool()>& go_on,
                                      std::chrono::nanoseconds timeout,
                                      std::chrono::nanoseconds patience);
  /// The two halves of an update that somebody else computes: wait for the gradients as
  /// Step does, and, once weights are written, let the replicas go on.
  arrow::Result<StepReport> Await(std::chrono::nanoseconds timeout);
  arrow::Result<StepReport> Release();
  /// End this and every later wait of driver and replicas. From any thread.
  void Stop();

  arrow::Result<UpdateRule> RuleOf(int32_t group) const;
  /// Change hyper-parameters from the next update on. The rule must keep the same states
  /// as the one it replaces.
  arrow::Status SetRule(int32_t group, const UpdateRule& rule);
  arrow::Status SetClip(const GradientClip& clip);

  /// What a replica left with the gradient that the last update took from it. Valid
  /// until the next Step.
  arrow::Result<std::span<const std::byte>> ReplicaState(int32_t replica) const;

  /// Go on from a checkpoint: `step` updates are made, and each replica starts with what
  /// ReplicaState gave then. Weights, optimizer states and step counts are written into
  /// the region by the caller, all before replicas attach.
  arrow::Status Restore(uint64_t step,
                        const std::vector<std::span<const std::byte>>& replica_states);

 private:
  ParameterServer(ParameterLayout layout, ServerOptions options,
                  std::shared_ptr<ParameterRegion> region, int num_owners);

  std::vector<ReplicaProgress> Progress() const;
  std::vector<int32_t> FindDeadReplicas();
  /// The replicas to take gradients from, or in `report` why there are none.
  std::vector<int32_t> AwaitGradients(std::chrono::nanoseconds timeout,
                                      StepReport* report);
  void MakeUpdate(const std::vector<int32_t>& replicas, StepReport* report);
  Update Prepare(const std::vector<int32_t>& replicas, StepReport* report) const;
  void ClipByNorm(Update* update, StepReport* report);
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
  uint64_t calls_ = 0;                 // of replicas, that the caller knows of
  OwnerPool owners_;
};

}  // namespace xshards::learn
