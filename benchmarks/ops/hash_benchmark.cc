// SPDX-License-Identifier: Apache-2.0
#include "ops/keys/hash.h"

#include <algorithm>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "benchmarks/ops/operator_run.h"

namespace xshards::bench {
namespace {

void HashColumns(benchmark::State& state, const std::vector<std::string>& columns) {
  OperatorRun run;
  const int64_t num_keys = 1000;
  const auto rows = RandomRows(state.range(0), num_keys);
  arrow::ArrayVector keys;
  for (const auto& column : columns) keys.push_back(rows->GetColumnByName(column));

  // Both columns are made from the key: equal keys must have equal hashes, others not.
  const auto hashes = Get(ops::HashRows(keys, rows->num_rows(), run.pool()));
  const auto& key = static_cast<const arrow::Int64Array&>(*rows->column(0));
  std::vector<uint64_t> by_key(static_cast<size_t>(num_keys), 0);
  for (int64_t i = 0; i < rows->num_rows(); ++i) {
    uint64_t& known = by_key[static_cast<size_t>(key.Value(i))];
    const uint64_t hash = hashes[static_cast<size_t>(i)];
    if (known != 0 && known != hash) return state.SkipWithError("equal keys differ");
    known = hash;
  }
  std::sort(by_key.begin(), by_key.end());
  const auto twins = std::adjacent_find(
      by_key.begin(), by_key.end(), [](uint64_t a, uint64_t b) { return a && a == b; });
  if (twins != by_key.end()) return state.SkipWithError("different keys collide");

  int64_t bytes = 0;
  for (const auto& column : keys) {
    bytes += Get(arrow::util::ReferencedBufferSize(*column));
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(Get(ops::HashRows(keys, rows->num_rows(), run.pool())));
  }
  state.SetItemsProcessed(state.iterations() * rows->num_rows());
  state.SetBytesProcessed(state.iterations() * bytes);
}
BENCHMARK_CAPTURE(HashColumns, integers, {"key"})->ArgName("rows")->Arg(1 << 17);
BENCHMARK_CAPTURE(HashColumns, strings, {"name"})->ArgName("rows")->Arg(1 << 17);
BENCHMARK_CAPTURE(HashColumns, both, {"key", "name"})->ArgName("rows")->Arg(1 << 17);

}  // namespace
}  // namespace xshards::bench
