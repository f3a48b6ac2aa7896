// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <benchmark/benchmark.h>

#include "benchmarks/ops/operator_run.h"
#include "ops/executors.h"

namespace xshards::bench {
namespace {

// In order of column `first`, and missing values of x last.
bool IsSorted(const arrow::RecordBatchVector& batches, const std::string& first) {
  std::string previous_name;
  double previous_x = -2.0;  // below all
  bool missing = false;
  for (const auto& batch : batches) {
    const auto& name =
        static_cast<const arrow::LargeStringArray&>(*batch->GetColumnByName("name"));
    const auto& x = static_cast<const arrow::DoubleArray&>(*batch->GetColumnByName("x"));
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      if (first == "name") {
        if (name.GetView(i) < previous_name) return false;
        previous_name = name.GetString(i);
      } else if (x.IsNull(i)) {
        missing = true;
      } else if (missing || x.Value(i) < previous_x) {
        return false;
      } else {
        previous_x = x.Value(i);
      }
    }
  }
  return true;
}

void Sort(benchmark::State& state, const std::string& first) {
  OperatorRun run;
  const auto rows = RandomRows(state.range(0), 10'000);
  const SortNode node = {.keys = {{.column = first}, {.column = "y"}}};
  const auto sorted = run.Run(ops::OpenSort, node, {rows});
  if (NumRows(sorted) != rows->num_rows() || !IsSorted(sorted, first)) {
    return state.SkipWithError("rows are lost or out of order");
  }
  for (auto _ : state) benchmark::DoNotOptimize(run.Run(ops::OpenSort, node, {rows}));
  state.SetItemsProcessed(state.iterations() * rows->num_rows());
  state.SetBytesProcessed(state.iterations() * NumBytes(*rows));
}
BENCHMARK_CAPTURE(Sort, reals, "x")
    ->ArgName("rows")
    ->Arg(1 << 18)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Sort, strings, "name")
    ->ArgName("rows")
    ->Arg(1 << 18)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace xshards::bench
