// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/server.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

namespace xshards::learn {

namespace {

using Clock = std::chrono::steady_clock;

// How often a waiting driver checks that its replicas are alive.
constexpr std::chrono::milliseconds kWatchInterval{100};
// Below this many bytes of parameters, waking a second thread costs more than it saves.
constexpr int64_t kBytesWorthAnOwner = 256 * 1024;

std::vector<std::string> NamesOfStates(const UpdateRule& rule) {
  std::vector<std::string> names;
  for (const RuleState& state : StatesOf(rule)) names.push_back(state.name);
  return names;
}

int32_t MostStates(const std::vector<UpdateRule>& rules) {
  size_t most = 0;
  for (const UpdateRule& rule : rules) most = std::max(most, StatesOf(rule).size());
  return static_cast<int32_t>(most);
}

template <typename T>
void Fill(std::byte* values, int64_t count, double value) {
  std::fill_n(reinterpret_cast<T*>(values), count, static_cast<T>(value));
}

/// The region starts as zeros, the initial value of most states.
void InitializeStates(const ParameterLayout& layout, const std::vector<UpdateRule>& rules,
                      const ParameterRegion& region) {
  for (const Parameter& parameter : layout.parameters()) {
    const auto states = StatesOf(rules[static_cast<size_t>(parameter.group)]);
    for (size_t index = 0; index < states.size(); ++index) {
      const double value = states[index].initial_value;
      if (value == 0) continue;
      std::byte* at = region.state(static_cast<int32_t>(index)) + parameter.offset;
      parameter.type == ParameterType::kFloat32
          ? Fill<float>(at, parameter.count, value)
          : Fill<double>(at, parameter.count, value);
    }
  }
}

}  // namespace

const char* ToString(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::kUpdated:
      return "updated";
    case StepOutcome::kReady:
      return "ready";
    case StepOutcome::kReplicaDied:
      return "replica_died";
    case StepOutcome::kCalled:
      return "called";
    case StepOutcome::kTimeout:
      return "timeout";
    case StepOutcome::kStopped:
      break;
  }
  return "stopped";
}

arrow::Status ServerOptions::Validate(const ParameterLayout& layout) const {
  if (num_replicas < 1) {
    return arrow::Status::Invalid("A parameter server needs at least 1 replica, got ",
                                  num_replicas);
  }
  if (num_owners < 0) {
    return arrow::Status::Invalid("num_owners must be at least 0, got ", num_owners);
  }
  if (replica_state_bytes < 0) {
    return arrow::Status::Invalid("replica_state_bytes must be at least 0, got ",
                                  replica_state_bytes);
  }
  if (static_cast<int64_t>(rules.size()) < layout.num_groups()) {
    return arrow::Status::Invalid("Each of the ", layout.num_groups(),
                                  " parameter groups needs an update rule, got ",
                                  rules.size());
  }
  for (const UpdateRule& rule : rules) ARROW_RETURN_NOT_OK(learn::Validate(rule));
  return clip.Validate();
}

ParameterServer::ParameterServer(ParameterLayout layout, ServerOptions options,
                                 std::shared_ptr<ParameterRegion> region,
                                 std::unique_ptr<OwnerPool> owners)
    : layout_(std::move(layout)),
      rules_(std::move(options.rules)),
      policy_(std::move(options.policy)),
      region_(std::move(region)),
      blocks_(CutIntoBlocks(layout_)),
      environment_{.layout = &layout_,
                   .region = region_.get(),
                   .rules = &rules_,
                   .clip = options.clip},
      block_sums_(blocks_.size()),
      watches_(static_cast<size_t>(options.num_replicas)),
      owners_(std::move(owners)) {
  for (KeyRange range : SplitKeys(layout_, blocks_, owners_->num_owners())) {
    const auto in_range = BlocksIn(blocks_, range);
    shards_.emplace_back(&environment_, in_range, in_range.data() - blocks_.data());
  }
}

std::vector<ReplicaProgress> ParameterServer::Progress() const {
  std::vector<ReplicaProgress> progress;
  for (int32_t replica = 0; replica < region_->sizes().num_replicas; ++replica) {
    const ReplicaSlot& slot = region_->slot(replica);
    progress.push_back({.pushed = slot.pushed.load(std::memory_order_acquire),
                        .granted = slot.granted.load(std::memory_order_relaxed)});
  }
  return progress;
}

std::vector<int32_t> ParameterServer::FindDeadReplicas() {
  std::vector<int32_t> dead;
  for (int32_t replica = 0; replica < region_->sizes().num_replicas; ++replica) {
    ProcessWatch& watch = watches_[static_cast<size_t>(replica)];
    ReplicaSlot& slot = region_->slot(replica);
    int32_t pid = slot.pid.load(std::memory_order_acquire);
    if (watch.pid() != pid) watch = ProcessWatch(pid);
    if (!watch.HasEnded()) continue;
    watch = ProcessWatch();
    // A new process may have attached meanwhile: then nothing needs to be replaced.
    if (slot.pid.compare_exchange_strong(pid, 0)) dead.push_back(replica);
  }
  return dead;
}

std::vector<int32_t> ParameterServer::AwaitGradients(std::chrono::nanoseconds timeout,
                                                     StepReport* report) {
  const auto deadline = Clock::now() + timeout;
  auto next_watch = Clock::now() + kWatchInterval;
  while (true) {
    const uint32_t seen = region_->gradients_bell().value();
    if (region_->stopped().load(std::memory_order_acquire)) {
      report->outcome = StepOutcome::kStopped;
      return {};
    }
    const uint64_t calls = region_->calls().load(std::memory_order_acquire);
    auto replicas = policy_->NextUpdate(Progress());
    if (!replicas.empty()) return replicas;
    if (std::exchange(calls_, calls) != calls) {
      report->outcome = StepOutcome::kCalled;
      return {};
    }
    const auto now = Clock::now();
    if (now >= next_watch || now >= deadline) {
      next_watch = now + kWatchInterval;
      report->dead_replicas = FindDeadReplicas();
      if (!report->dead_replicas.empty()) {
        report->outcome = StepOutcome::kReplicaDied;
        return {};
      }
    }
    if (now >= deadline) {
      report->outcome = StepOutcome::kTimeout;
      return {};
    }
    region_->gradients_bell().Wait(seen, std::min(next_watch, deadline) - now);
  }
}

Update ParameterServer::Prepare(const std::vector<int32_t>& replicas,
                                StepReport* report) const {
  for (int32_t replica : replicas) report->rows += region_->slot(replica).rows;
  Update update;
  update.active.assign(static_cast<size_t>(layout_.num_parameters()), false);
  for (int32_t replica : replicas) {
    const double rows = region_->slot(replica).rows;
    if (rows == 0) continue;  // no data: its gradient is not used
    update.contributions.push_back({.gradient = region_->gradient(replica),
                                    .presence = region_->presence(replica),
                                    .weight = rows / report->rows});
  }
  for (const Contribution& contribution : update.contributions) {
    for (size_t index = 0; index < update.active.size(); ++index) {
      if (contribution.presence[index] != 0) update.active[index] = true;
    }
  }
  return update;
}

arrow::Status ParameterServer::ClipByNorm(Update* update, StepReport* report) {
  if (!environment_.clip.max_norm) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(owners_->Run(static_cast<int>(shards_.size()), [&](int owner) {
    shards_[static_cast<size_t>(owner)].SumSquares(*update, block_sums_);
  }));
  // In the order of blocks: the result does not depend on who summed which.
  const double squares = std::accumulate(block_sums_.begin(), block_sums_.end(), 0.0);
  report->gradient_norm = std::sqrt(squares);
  update->gradient_scale = environment_.clip.ScaleFor(*report->gradient_norm);
  return arrow::Status::OK();
}

void ParameterServer::Publish(const std::vector<int32_t>& replicas, StepReport* report) {
  report->step = region_->step().fetch_add(1, std::memory_order_release) + 1;
  for (int32_t replica : replicas) {
    region_->slot(replica).granted.fetch_add(1, std::memory_order_release);
  }
  region_->weights_bell().Ring();
}

arrow::Status ParameterServer::MakeUpdate(const std::vector<int32_t>& replicas,
                                          StepReport* report) {
  Update update = Prepare(replicas, report);
  for (size_t index = 0; index < update.active.size(); ++index) {
    if (update.active[index]) ++region_->step_counts()[index];
  }
  ARROW_RETURN_NOT_OK(ClipByNorm(&update, report));
  ARROW_RETURN_NOT_OK(owners_->Run(static_cast<int>(shards_.size()), [&](int owner) {
    shards_[static_cast<size_t>(owner)].Apply(update);
  }));
  Publish(replicas, report);
  return arrow::Status::OK();
}

arrow::Result<StepReport> ParameterServer::Step(std::chrono::nanoseconds timeout) {
  StepReport report{.step = region_->step().load()};
  const auto replicas = AwaitGradients(timeout, &report);
  if (!replicas.empty()) ARROW_RETURN_NOT_OK(MakeUpdate(replicas, &report));
  return report;
}

arrow::Result<StepReport> ParameterServer::StepWhile(const std::function<bool()>& go_on,
                                                     std::chrono::nanoseconds timeout,
                                                     std::chrono::nanoseconds patience) {
  const auto deadline = Clock::now() + timeout;
  const uint64_t first = region_->step().load();
  while (true) {
    StepReport report{.step = region_->step().load()};
    const auto left = std::max<std::chrono::nanoseconds>(deadline - Clock::now(), {});
    const auto replicas = AwaitGradients(std::min(left, patience), &report);
    if (replicas.empty()) {
      const bool late = report.outcome == StepOutcome::kTimeout;
      if (late && report.step > first) report.outcome = StepOutcome::kUpdated;
      return report;
    }
    if (!go_on()) {
      report.outcome = StepOutcome::kReady;
      return report;
    }
    ARROW_RETURN_NOT_OK(MakeUpdate(replicas, &report));
    if (Clock::now() >= deadline) return report;
  }
}

arrow::Result<StepReport> ParameterServer::Await(std::chrono::nanoseconds timeout) {
  StepReport report{.outcome = StepOutcome::kReady, .step = region_->step().load()};
  for (int32_t replica : AwaitGradients(timeout, &report)) {
    report.rows += region_->slot(replica).rows;
  }
  return report;
}

arrow::Result<StepReport> ParameterServer::Release() {
  const auto replicas = policy_->NextUpdate(Progress());
  if (replicas.empty()) {
    return arrow::Status::Invalid("Gradients are not complete: call Await() first");
  }
  StepReport report;
  const Update update = Prepare(replicas, &report);
  for (size_t index = 0; index < update.active.size(); ++index) {
    if (update.active[index]) ++region_->step_counts()[index];
  }
  Publish(replicas, &report);
  return report;
}

ParameterServer::~ParameterServer() { Stop(); }

arrow::Result<std::unique_ptr<ParameterServer>> ParameterServer::Make(
    ParameterLayout layout, ServerOptions options) {
  ARROW_RETURN_NOT_OK(options.Validate(layout));
  if (options.policy == nullptr) options.policy = std::make_shared<SynchronousPolicy>();
  const RegionSizes sizes{.num_replicas = options.num_replicas,
                          .num_states = MostStates(options.rules),
                          .replica_state_bytes = options.replica_state_bytes};
  ARROW_ASSIGN_OR_RAISE(auto region,
                        ParameterRegion::Create(layout, sizes, options.budget));
  InitializeStates(layout, options.rules, *region);
  int owners = options.num_owners;
  if (owners == 0) {
    const auto useful = layout.vector_bytes() / kBytesWorthAnOwner + 1;
    owners = static_cast<int>(
        std::min<int64_t>(useful, std::max(1U, std::thread::hardware_concurrency())));
  }
  ARROW_ASSIGN_OR_RAISE(auto pool, OwnerPool::Make(owners));
  return std::unique_ptr<ParameterServer>(new ParameterServer(
      std::move(layout), std::move(options), std::move(region), std::move(pool)));
}

void ParameterServer::Stop() {
  region_->stopped().store(true, std::memory_order_release);
  region_->gradients_bell().Ring();
  region_->weights_bell().Ring();
}

arrow::Result<std::byte*> ParameterServer::State(int32_t state) const {
  ARROW_RETURN_NOT_OK(region_->CheckState(state));
  return region_->state(state);
}

arrow::Result<std::byte*> ParameterServer::Gradient(int32_t replica) const {
  ARROW_RETURN_NOT_OK(region_->CheckReplica(replica));
  return region_->gradient(replica);
}

arrow::Result<std::span<const uint8_t>> ParameterServer::Presence(int32_t replica) const {
  ARROW_RETURN_NOT_OK(region_->CheckReplica(replica));
  return region_->presence(replica);
}

arrow::Result<double> ParameterServer::Rows(int32_t replica) const {
  ARROW_RETURN_NOT_OK(region_->CheckReplica(replica));
  return region_->slot(replica).rows;
}

arrow::Result<UpdateRule> ParameterServer::RuleOf(int32_t group) const {
  if (group < 0 || group >= static_cast<int32_t>(rules_.size())) {
    return arrow::Status::IndexError("The server has parameter groups 0 to ",
                                     rules_.size() - 1, ", got ", group);
  }
  return rules_[static_cast<size_t>(group)];
}

arrow::Result<std::vector<std::string>> ParameterServer::StateNames(int32_t group) const {
  ARROW_ASSIGN_OR_RAISE(const UpdateRule rule, RuleOf(group));
  return NamesOfStates(rule);
}

arrow::Result<double> ParameterServer::LearningRate(int32_t group) const {
  ARROW_ASSIGN_OR_RAISE(const UpdateRule rule, RuleOf(group));
  return LearningRateOf(rule);
}

arrow::Status ParameterServer::SetLearningRate(int32_t group, double learning_rate) {
  ARROW_ASSIGN_OR_RAISE(UpdateRule rule, RuleOf(group));
  learn::SetLearningRate(&rule, learning_rate);
  return SetRule(group, rule);
}

arrow::Status ParameterServer::SetRule(int32_t group, const UpdateRule& rule) {
  ARROW_ASSIGN_OR_RAISE(const UpdateRule current, RuleOf(group));
  ARROW_RETURN_NOT_OK(Validate(rule));
  if (NameOf(current) != NameOf(rule) || NamesOfStates(current) != NamesOfStates(rule)) {
    return arrow::Status::Invalid(
        "Group ", group, " is trained by ", NameOf(current),
        "; it can only be replaced by a rule with the same states, got ", NameOf(rule));
  }
  rules_[static_cast<size_t>(group)] = rule;
  return arrow::Status::OK();
}

arrow::Status ParameterServer::SetClip(const GradientClip& clip) {
  ARROW_RETURN_NOT_OK(clip.Validate());
  environment_.clip = clip;
  return arrow::Status::OK();
}

arrow::Result<std::span<const std::byte>> ParameterServer::ReplicaState(
    int32_t replica) const {
  ARROW_RETURN_NOT_OK(region_->CheckReplica(replica));
  // The replica may already be writing the other buffer for its next gradient.
  const uint64_t granted = region_->slot(replica).granted.load(std::memory_order_relaxed);
  return region_->StateOf(replica, granted);
}

arrow::Status ParameterServer::CheckRestore(
    const std::vector<std::span<const std::byte>>& replica_states) const {
  const auto num_replicas = static_cast<size_t>(region_->sizes().num_replicas);
  if (replica_states.size() != num_replicas) {
    return arrow::Status::Invalid("Each of the ", num_replicas,
                                  " replicas needs its state to be restored, got ",
                                  replica_states.size());
  }
  for (size_t replica = 0; replica < num_replicas; ++replica) {
    const int32_t pid = region_->slot(static_cast<int32_t>(replica)).pid.load();
    if (pid != 0) {
      return arrow::Status::Invalid("Restore before replicas attach; replica ", replica,
                                    " is process ", pid);
    }
    const auto room = region_->sizes().replica_state_bytes;
    if (static_cast<int64_t>(replica_states[replica].size()) > room) {
      return arrow::Status::Invalid("Replica ", replica, " has room for ", room,
                                    " bytes of state (replica_state_bytes), got ",
                                    replica_states[replica].size());
    }
  }
  return arrow::Status::OK();
}

arrow::Status ParameterServer::Restore(
    uint64_t step, const std::vector<std::span<const std::byte>>& replica_states) {
  ARROW_RETURN_NOT_OK(CheckRestore(replica_states));
  for (int32_t replica = 0; replica < region_->sizes().num_replicas; ++replica) {
    const auto& state = replica_states[static_cast<size_t>(replica)];
    ReplicaSlot& slot = region_->slot(replica);
    slot.pushed.store(step);
    slot.granted.store(step);
    slot.state_size[step % 2] = static_cast<int64_t>(state.size());
    std::ranges::copy(state, region_->replica_state(replica, step).begin());
  }
  region_->step().store(step);
  return arrow::Status::OK();
}

}  // namespace xshards::learn
