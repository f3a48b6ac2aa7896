// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include <benchmark/benchmark.h>

#include "benchmarks/ops/operator_run.h"
#include "ops/executors.h"

namespace xshards::bench {
namespace {

std::map<int64_t, int64_t> RowsByKey(const arrow::RecordBatch& rows) {
  std::map<int64_t, int64_t> counts;
  const auto& key = static_cast<const arrow::Int64Array&>(*rows.column(0));
  for (int64_t i = 0; i < key.length(); ++i) ++counts[key.Value(i)];
  return counts;
}

void InnerJoin(benchmark::State& state) {
  OperatorRun run;
  const auto left = RandomRows(1 << 19, 1 << 18);
  const auto right = RandomRows(state.range(1), 1 << 18);
  const std::string key = state.range(0) == 0 ? "key" : "name";
  const JoinNode node = {
      .type = JoinType::kInner, .left_keys = {key}, .right_keys = {key}};

  auto right_rows = RowsByKey(*right);
  int64_t expected = 0;
  for (const auto& [value, count] : RowsByKey(*left)) {
    const auto found = right_rows.find(value);
    if (found != right_rows.end()) expected += count * found->second;
  }
  if (NumRows(run.Run(ops::OpenJoin, node, {left, right})) != expected) {
    return state.SkipWithError("pairs are lost");
  }

  for (auto _ : state) {
    benchmark::DoNotOptimize(run.Run(ops::OpenJoin, node, {left, right}));
  }
  state.SetItemsProcessed(state.iterations() * (left->num_rows() + right->num_rows()));
}
BENCHMARK(InnerJoin)
    ->ArgNames({"strings", "right_rows"})
    ->ArgsProduct({{0, 1}, {1'000, 100'000}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace xshards::bench
