// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/util/cancel.h>

#include "xshards/execution/fragments/metrics.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/execution/fragments/runner.h"
#include "xshards/export.h"
#include "xshards/memory/memory_budget.h"
#include "xshards/memory/segment_pool.h"
#include "xshards/plan/plan.h"
#include "xshards/plan/write_options.h"

namespace xshards {

class Executor;
class ResultStore;
struct ExecutionEnvironment;

// Every member has an initialiser, so that users who set a few get no warning.
struct XSHARDS_EXPORT ContextOptions {
  int cores = 0;                     // 0: all the process may use
  int64_t memory_bytes = 0;          // 0: three fifths of the machine's
  std::string spill_directory = {};  // empty: the system's temporary directory
  /// Executors; nullptr means DefaultOperators().
  std::shared_ptr<const OperatorTable> operators = {};
  /// Run fragments that call Python functions, in worker processes and on this process's
  /// threads; nullptr means they are an error.
  std::shared_ptr<Runner> python_runner = {};
  std::shared_ptr<Runner> python_thread_runner = {};
  /// False runs plans as they are written, to test that the optimizer changes no result.
  bool optimize = true;

  arrow::Status Validate() const;
};

/// Cores, memory, spill directory and runners, passed to the code that needs them.
/// Several may live in one process. Thread-safe; it must outlive the data it made
/// (XShards keep it).
class XSHARDS_EXPORT Context : public std::enable_shared_from_this<Context> {
 public:
  static arrow::Result<std::shared_ptr<Context>> Make(ContextOptions options = {});
  ~Context();

  int cores() const { return options_.cores; }
  int64_t memory_bytes() const { return options_.memory_bytes; }
  const std::string& spill_directory() const { return options_.spill_directory; }
  MemoryBudget& budget() { return *budget_; }
  arrow::MemoryPool* memory_pool() { return budget_->pool(); }
  StorageEnvironment storage() { return {budget_.get(), segments_.get()}; }
  Progress& progress() { return progress_; }
  /// What its plans have cached and found.
  ResultStore& results() { return *results_; }
  /// A plan with that in it, as schemas and sizes depend on it.
  Plan WithResults(const Plan& plan) const;

  /// Optimize and run a plan, and return its partitions.
  arrow::Result<std::vector<Partition>> Execute(
      const Plan& plan, const arrow::StopToken& stop = arrow::StopToken::Unstoppable());
  /// The same for the first partitions only: enough for `num_shards` shards, perhaps a
  /// few more.
  arrow::Result<std::vector<Partition>> ExecuteFirst(
      const Plan& plan, int64_t num_shards,
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable());
  /// Run a plan and count its rows, reading as little as possible.
  arrow::Result<int64_t> Count(
      const Plan& plan, const arrow::StopToken& stop = arrow::StopToken::Unstoppable());
  /// Run a plan and write each partition to its own file in a directory, or below a URI
  /// such as s3://bucket/out: part-00000.csv, ... Returns the paths, without credentials.
  /// A failed write leaves the directory as it was.
  arrow::Result<std::vector<std::string>> Write(
      const Plan& plan, const std::string& directory, const std::string& format,
      const WriteOptions& options,
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable());

  /// Describe a plan before it runs: as written, as optimised, and as stages.
  arrow::Result<std::string> Explain(const Plan& plan);
  /// Run a plan and describe the stages that ran, with the rows, bytes and time of each.
  arrow::Result<std::string> ExplainAnalyze(
      const Plan& plan, const arrow::StopToken& stop = arrow::StopToken::Unstoppable());

  /// Run plans while another plan is built: inspecting files uses memory, threads and the
  /// stop token like any other work, but is not a user's action, so it records no
  /// profile. The context must outlive the result.
  RunPlan MakeProbe(const arrow::StopToken& stop);

  /// The profile of the last action.
  Profile last_profile() const;
  /// Spill everything that can be spilled; for tests.
  arrow::Status SpillAll();

 private:
  Context();
  ExecutionEnvironment environment();
  /// Run an action; run it again if a scan finds values that do not fit the inferred
  /// types.
  template <typename Action>
  auto Run(const Plan& plan, const arrow::StopToken& stop, Action action)
      -> decltype(action(std::declval<Executor&>(), plan));
  template <typename Action>
  auto RunOnce(const Plan& plan, const arrow::StopToken& stop, Action action)
      -> decltype(action(std::declval<Executor&>(), plan));
  /// Find the types that scans infer.
  arrow::Status FindInferredTypes(const std::vector<ScanNode>& scans,
                                  const arrow::StopToken& stop);
  std::string DescribeTypeMismatch(const std::vector<ScanNode>& scans,
                                   const TypeMismatchLocation& place);

  ContextOptions options_;
  std::unique_ptr<MemoryBudget> budget_;
  std::unique_ptr<SegmentPool> segments_;
  std::shared_ptr<Runner> thread_runner_;
  // After what its partitions are made of.
  std::shared_ptr<ResultStore> results_;
  Progress progress_;
  mutable std::mutex profile_mutex_;  // guards profile_
  Profile profile_;
};

}  // namespace xshards
