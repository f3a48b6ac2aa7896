// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/result_store.h"

#include <random>
#include <utility>

namespace xshards {

namespace {

uint64_t RandomNumber() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

void AddInferredScans(const PlanNode& plan, const ResultStore& results,
                      std::vector<ScanNode>* scans) {
  if (plan.kind() == NodeKind::kScan) {
    const auto& scan = plan.as<ScanNode>();
    if (scan.inferred && scan.found != nullptr) scans->push_back(scan);
  }
  if (plan.kind() == NodeKind::kCache &&
      results.partitions(plan.as<CacheNode>().id) != nullptr) {
    return;
  }
  for (const auto& input : plan.inputs) AddInferredScans(*input, results, scans);
}

}  // namespace

ResultStore::ResultStore() : random_(RandomNumber()) {}

std::shared_ptr<ResultStore> ResultStore::Make() {
  return std::shared_ptr<ResultStore>(new ResultStore());
}

ResultHandle ResultStore::MakeId() {
  auto id = std::make_unique<ResultId>(ResultId{.store = random_});
  {
    std::lock_guard lock(mutex_);
    id->number = ++last_number_;
    entries_.emplace(id->number, std::make_shared<Entry>());
  }
  // A plan may outlive the Context.
  const auto drop = [store = weak_from_this()](const ResultId* last) {
    if (const auto alive = store.lock()) alive->Drop(*last);
    delete last;
  };
  return ResultHandle(id.release(), drop);
}

std::shared_ptr<ResultStore::Entry> ResultStore::Find(const ResultHandle& id) const {
  if (id == nullptr || id->store != random_) return nullptr;
  const auto found = entries_.find(id->number);
  return found == entries_.end() ? nullptr : found->second;
}

void ResultStore::Drop(const ResultId& id) {
  // Freed after the lock is released: partitions may be large.
  std::shared_ptr<Entry> dropped;
  std::lock_guard lock(mutex_);
  const auto found = entries_.find(id.number);
  dropped = std::move(found->second);
  entries_.erase(found);
}

CachedPartitions ResultStore::partitions(const ResultHandle& id) const {
  std::lock_guard lock(mutex_);
  const auto entry = Find(id);
  return entry == nullptr ? nullptr : entry->partitions;
}

void ResultStore::SetPartitions(const ResultHandle& id,
                                std::vector<Partition> partitions) {
  // The previous value is freed after the lock is released.
  CachedPartitions other =
      std::make_shared<const std::vector<Partition>>(std::move(partitions));
  std::lock_guard lock(mutex_);
  if (const auto entry = Find(id)) entry->partitions.swap(other);
}

void ResultStore::ClearPartitions(const ResultHandle& id) {
  CachedPartitions dropped;
  std::lock_guard lock(mutex_);
  if (const auto entry = Find(id)) entry->partitions.swap(dropped);
}

std::unique_lock<std::mutex> ResultStore::LockToFill(const ResultHandle& id) {
  std::shared_ptr<Entry> entry;
  {
    std::lock_guard lock(mutex_);
    entry = Find(id);
  }
  return entry == nullptr ? std::unique_lock<std::mutex>()
                          : std::unique_lock(entry->filling);
}

std::shared_ptr<arrow::Schema> ResultStore::schema(const ResultHandle& id) const {
  std::lock_guard lock(mutex_);
  const auto entry = Find(id);
  return entry == nullptr ? nullptr : entry->schema;
}

void ResultStore::SetSchema(const ResultHandle& id,
                            std::shared_ptr<arrow::Schema> schema) {
  std::lock_guard lock(mutex_);
  if (const auto entry = Find(id)) entry->schema = std::move(schema);
}

int64_t ResultStore::size() const {
  std::lock_guard lock(mutex_);
  return static_cast<int64_t>(entries_.size());
}

Plan WithResults(const Plan& plan, const ResultStore& results) {
  if (plan->kind() == NodeKind::kScan) {
    auto schema = results.schema(plan->as<ScanNode>().found);
    if (schema == nullptr) return plan;
    ScanNode scan = plan->as<ScanNode>();
    scan.schema = std::move(schema);
    scan.inferred = false;
    return MakeNode(std::move(scan));
  }
  if (plan->kind() == NodeKind::kCache) {
    CacheNode cache = plan->as<CacheNode>();
    cache.partitions = results.partitions(cache.id);
    if (cache.partitions != nullptr) return MakeNode(std::move(cache), plan->inputs);
  }
  std::vector<Plan> inputs;
  for (const auto& input : plan->inputs) inputs.push_back(WithResults(input, results));
  return WithInputs(plan, std::move(inputs));
}

std::vector<ScanNode> InferredScans(const PlanNode& plan, const ResultStore& results) {
  std::vector<ScanNode> scans;
  AddInferredScans(plan, results, &scans);
  return scans;
}

}  // namespace xshards
