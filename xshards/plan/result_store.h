// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <arrow/type.h>

#include "xshards/export.h"
#include "xshards/plan/plan.h"
#include "xshards/plan/result_id.h"
#include "xshards/storage/partition.h"

namespace xshards {

/// Results of a Context's plans for later plans: partitions of Cache nodes, types of
/// scans, each by the id in its node. Thread-safe. An id that is nullptr, of another
/// store, or without owners is invalid: it reads as empty, and values set for it are
/// dropped.
class XSHARDS_EXPORT ResultStore : public std::enable_shared_from_this<ResultStore> {
 public:
  static std::shared_ptr<ResultStore> Make();

  /// A new id. Its result is dropped with the last copy of the handle.
  ResultHandle MakeId();

  /// nullptr until they are set.
  CachedPartitions partitions(const ResultHandle& id) const;
  void SetPartitions(const ResultHandle& id, std::vector<Partition> partitions);
  void ClearPartitions(const ResultHandle& id);
  /// Held by the thread that computes missing partitions. The handle must outlive the
  /// lock.
  std::unique_lock<std::mutex> LockToFill(const ResultHandle& id);

  /// nullptr until it is set.
  std::shared_ptr<arrow::Schema> schema(const ResultHandle& id) const;
  void SetSchema(const ResultHandle& id, std::shared_ptr<arrow::Schema> schema);

  /// The ids in use.
  int64_t size() const;

 private:
  struct Entry {
    std::mutex filling;
    CachedPartitions partitions;
    std::shared_ptr<arrow::Schema> schema;
  };

  ResultStore();
  /// nullptr if there is none. Call with mutex_ held.
  std::shared_ptr<Entry> Find(const ResultHandle& id) const;
  void Drop(const ResultId& id);

  const uint64_t random_;
  mutable std::mutex mutex_;  // guards the members below, and entries except `filling`
  uint64_t last_number_ = 0;
  std::map<uint64_t, std::shared_ptr<Entry>> entries_;  // by the number of the id
};

/// A plan with the available results: filled Cache nodes have their partitions, scans the
/// inferred types. All code that inspects a plan uses this one.
XSHARDS_EXPORT Plan WithResults(const Plan& plan, const ResultStore& results);
/// The scans below a plan whose types are inferred, without those below filled caches.
XSHARDS_EXPORT std::vector<ScanNode> InferredScans(const PlanNode& plan,
                                                   const ResultStore& results);

}  // namespace xshards
