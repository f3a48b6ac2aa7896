// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <benchmark/benchmark.h>

#include "benchmarks/ops/operator_run.h"
#include "ops/executors.h"

namespace xshards::bench {
namespace {

void Aggregate(benchmark::State& state) {
  OperatorRun run;
  const int64_t num_keys = state.range(1);
  const auto rows = RandomRows(1 << 20, num_keys);
  const AggregateNode node = {.keys = {state.range(0) == 0 ? "key" : "name"},
                              .aggregates = {{"count", kAllRows, "rows"},
                                             {"sum", "x", "sum(x)"},
                                             {"mean", "y", "mean(y)"},
                                             {"max", "y", "max(y)"}}};

  // Each group once, and each row in one.
  const auto groups = run.Run(ops::OpenAggregate, node, {rows});
  std::vector<bool> seen(static_cast<size_t>(num_keys));
  const auto& key = static_cast<const arrow::Int64Array&>(*rows->column(0));
  for (int64_t i = 0; i < key.length(); ++i)
    seen[static_cast<size_t>(key.Value(i))] = true;
  int64_t counted = 0;
  for (const auto& batch : groups) {
    const auto& count = static_cast<const arrow::Int64Array&>(*batch->column(1));
    for (int64_t i = 0; i < count.length(); ++i) counted += count.Value(i);
  }
  if (NumRows(groups) != std::count(seen.begin(), seen.end(), true) ||
      counted != rows->num_rows()) {
    return state.SkipWithError("a group or a row is lost");
  }

  for (auto _ : state) {
    benchmark::DoNotOptimize(run.Run(ops::OpenAggregate, node, {rows}));
  }
  state.SetItemsProcessed(state.iterations() * rows->num_rows());
}
BENCHMARK(Aggregate)
    ->ArgNames({"strings", "groups"})
    ->ArgsProduct({{0, 1}, {100, 100'000}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace xshards::bench
