// SPDX-License-Identifier: Apache-2.0
#include "xshards/context.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <arrow/compute/initialize.h>

#include "xshards/execution/stages/executor.h"
#include "xshards/execution/stages/explain.h"
#include "xshards/optimizer/optimizer.h"
#include "xshards/output/part_name.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/result_store.h"

namespace xshards {

namespace {

// Below this a single batch of ordinary columns does not fit.
constexpr int64_t kMinMemoryBytes = 16'000'000;

int UsableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// The machine's memory, or the limit of its control group if that is less.
int64_t UsableMemory() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
                  static_cast<int64_t>(sysconf(_SC_PAGE_SIZE));
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  int64_t group = 0;
  if (limit >> group && group > 0) bytes = std::min(bytes, group);
  return bytes;
}

}  // namespace

arrow::Status ContextOptions::Validate() const {
  if (cores < 0) {
    return arrow::Status::Invalid("cores must be at least 1 (or 0 for all), got ", cores);
  }
  if (memory_bytes != 0 && memory_bytes < kMinMemoryBytes) {
    return arrow::Status::Invalid("memory must be at least ", kMinMemoryBytes / 1000000,
                                  " MB, enough for one batch on each core; got ",
                                  memory_bytes, " bytes");
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<Context>> Context::Make(ContextOptions options) {
  ARROW_RETURN_NOT_OK(options.Validate());
  ARROW_RETURN_NOT_OK(arrow::compute::Initialize());
  if (options.cores == 0) options.cores = UsableCores();
  if (options.memory_bytes == 0) options.memory_bytes = UsableMemory() / 5 * 3;
  if (options.spill_directory.empty()) {
    std::error_code error;
    options.spill_directory = std::filesystem::temp_directory_path(error).string();
    if (error) {
      return arrow::Status::IOError("No temporary directory to spill to: ",
                                    error.message(), ". Set spill_directory");
    }
  }
  if (options.operators == nullptr) options.operators = DefaultOperators();
  auto context = std::shared_ptr<Context>(new Context());
  context->budget_ = std::make_unique<MemoryBudget>(options.memory_bytes);
  ARROW_ASSIGN_OR_RAISE(context->segments_,
                        SegmentPool::Make(options.spill_directory, context->budget_.get(),
                                          /*max_idle_bytes=*/options.memory_bytes / 2));
  context->thread_runner_ = MakeThreadRunner(options.cores, options.operators);
  context->options_ = std::move(options);
  return context;
}

Context::Context() : results_(ResultStore::Make()) {}
Context::~Context() = default;

Plan Context::WithResults(const Plan& plan) const {
  return xshards::WithResults(plan, *results_);
}

ExecutionEnvironment Context::environment() {
  return {.cores = cores(),
          .storage = storage(),
          .threads = thread_runner_.get(),
          .processes = options_.python_runner.get(),
          .python_threads = options_.python_thread_runner.get(),
          .progress = &progress_,
          .results = results_.get()};
}

template <typename Action>
auto Context::Run(const Plan& plan, const arrow::StopToken& stop, Action action)
    -> decltype(action(std::declval<Executor&>(), plan)) {
  auto result = RunOnce(plan, stop, action);
  // Borrowed from the result.
  const TypeMismatchLocation* const mismatch = TypeMismatchLocation::Of(result.status());
  if (mismatch == nullptr) return result;
  // Collected now: outputs kept by a second run hide the scans below them.
  const auto scans = InferredScans(*plan, *results_);
  if (scans.empty()) return result;
  ARROW_RETURN_NOT_OK(FindInferredTypes(scans, stop));
  // The types found now fit all values, so that one more run is enough.
  auto again = RunOnce(plan, stop, action);
  // Optimizations valid for the inferred types may be invalid now.
  if (!again.ok() && again.status().IsTypeError()) {
    return again.status().WithMessage(again.status().message(),
                                      ". The type was changed by the value ",
                                      DescribeTypeMismatch(scans, *mismatch));
  }
  return again;
}

/// Runs an action with an Executor and keeps its profile, also when it failed.
template <typename Action>
auto Context::RunOnce(const Plan& plan, const arrow::StopToken& stop, Action action)
    -> decltype(action(std::declval<Executor&>(), plan)) {
  const int64_t begin_ns = SteadyNanoseconds();
  progress_.Reset();
  auto optimized = WithResults(plan);
  if (options_.optimize) {
    ARROW_ASSIGN_OR_RAISE(optimized, Optimize(std::move(optimized), stop));
  }
  Executor executor(environment(), stop);
  auto result = action(executor, optimized);
  auto profile = executor.profile();
  profile.begin_ns = begin_ns;
  profile.wall_seconds = static_cast<double>(SteadyNanoseconds() - begin_ns) / 1e9;
  std::lock_guard lock(profile_mutex_);
  profile_ = std::move(profile);
  return result;
}

RunPlan Context::MakeProbe(const arrow::StopToken& stop) {
  return [this, stop](const Plan& plan) -> arrow::Result<arrow::RecordBatchVector> {
    Executor executor(environment(), stop);
    ARROW_ASSIGN_OR_RAISE(const auto partitions, executor.Collect(plan));
    ARROW_ASSIGN_OR_RAISE(const auto schema, OutputSchema(*plan));
    arrow::RecordBatchVector batches;
    for (const auto& partition : partitions) {
      ARROW_ASSIGN_OR_RAISE(auto stream, partition.Open(schema, memory_pool()));
      ARROW_ASSIGN_OR_RAISE(auto more, ReadAll(*stream));
      std::move(more.begin(), more.end(), std::back_inserter(batches));
    }
    return batches;
  };
}

arrow::Status Context::FindInferredTypes(const std::vector<ScanNode>& scans,
                                         const arrow::StopToken& stop) {
  const RunPlan run = MakeProbe(stop);
  for (const auto& scan : scans) {
    // It may be in the plan twice, or another action was first.
    if (results_->schema(scan.found) != nullptr) continue;
    ARROW_ASSIGN_OR_RAISE(const FindTypes* find,
                          options_.operators->TypeFinder(scan.format));
    ARROW_ASSIGN_OR_RAISE(auto schema, (*find)(scan, run));
    results_->SetSchema(scan.found, std::move(schema));
  }
  return arrow::Status::OK();
}

std::string Context::DescribeTypeMismatch(const std::vector<ScanNode>& scans,
                                          const TypeMismatchLocation& place) {
  for (const auto& scan : scans) {
    const auto describe = options_.operators->PlaceDescriber(scan.format);
    if (!describe.ok()) continue;
    auto described = (**describe)(scan, place, memory_pool());
    if (described.has_value()) return *std::move(described);
  }
  return place.ToString();
}

arrow::Result<std::vector<Partition>> Context::Execute(const Plan& plan,
                                                       const arrow::StopToken& stop) {
  return Run(plan, stop, [](Executor& executor, const Plan& optimized) {
    return executor.Collect(optimized);
  });
}

arrow::Result<std::vector<Partition>> Context::ExecuteFirst(
    const Plan& plan, int64_t num_shards, const arrow::StopToken& stop) {
  return Run(plan, stop, [&](Executor& executor, const Plan& optimized) {
    return executor.CollectFirst(optimized, num_shards);
  });
}

arrow::Result<int64_t> Context::Count(const Plan& plan, const arrow::StopToken& stop) {
  ARROW_ASSIGN_OR_RAISE(auto schema, OutputSchema(*WithResults(plan)));
  // Counting rows needs no column; the optimizer finds those used by other nodes.
  Plan counted = schema == nullptr ? plan : MakeNode(ProjectNode{}, {plan});
  return Run(counted, stop, [](Executor& executor, const Plan& optimized) {
    return executor.Count(optimized);
  });
}

arrow::Result<std::vector<std::string>> Context::Write(const Plan& plan,
                                                       const std::string& directory,
                                                       const std::string& format,
                                                       const WriteOptions& options,
                                                       const arrow::StopToken& stop) {
  SinkSpec sink{.kind = SinkKind::kWrite};
  sink.format = format;
  sink.options = options.format;
  sink.partition_cols = options.partition_cols;
  ARROW_ASSIGN_OR_RAISE(auto output,
                        options_.operators->MakeOutput(directory, options.mode));
  std::vector<std::string> names;
  const auto path_of = [&](size_t i) {
    names.push_back(PartName(static_cast<int64_t>(i), format) + options.suffix);
    return output->StagedPath(names.back());
  };
  const auto write =
      [&](Executor& executor,
          const Plan& optimized) -> arrow::Result<std::vector<std::string>> {
    // A run that met types other than inferred may have left files.
    ARROW_RETURN_NOT_OK(output->ClearStaging());
    names.clear();
    return executor.Write(optimized, sink, path_of);
  };
  ARROW_RETURN_NOT_OK(Run(plan, stop, write).status());
  if (options.partition_cols.has_value()) {
    ARROW_ASSIGN_OR_RAISE(names, output->ListStaged());
  }
  return output->Publish(names);
}

arrow::Result<std::string> Context::Explain(const Plan& plan) {
  return xshards::Explain(WithResults(plan), {.cores = cores(),
                                              .memory_bytes = memory_bytes(),
                                              .pool = memory_pool(),
                                              .results = results_.get()});
}

arrow::Result<std::string> Context::ExplainAnalyze(const Plan& plan,
                                                   const arrow::StopToken& stop) {
  return Run(
      plan, stop,
      [&](Executor& executor, const Plan& optimized) -> arrow::Result<std::string> {
        ARROW_RETURN_NOT_OK(executor.Collect(optimized).status());
        return xshards::Explain(*WithResults(plan), *WithResults(optimized),
                                executor.graph(), &executor.profile());
      });
}

Profile Context::last_profile() const {
  std::lock_guard lock(profile_mutex_);
  return profile_;
}

arrow::Status Context::SpillAll() { return budget_->MakeRoom(budget_->limit()); }

}  // namespace xshards
