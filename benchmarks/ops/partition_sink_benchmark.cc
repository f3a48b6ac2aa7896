// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "benchmarks/ops/operator_run.h"
#include "ops/exchange/hash_partition.h"
#include "ops/executors.h"

namespace xshards::bench {
namespace {

std::shared_ptr<BlockStore> Partition(OperatorRun& run, const SinkSpec& sink,
                                      const std::shared_ptr<arrow::RecordBatch>& rows) {
  BlockWriter writer(run.context().storage, sink.storage);
  const auto input = OperatorRun::Stream(rows);
  Check(ops::RunPartitionSink(sink, *input, writer, run.context()));
  return Get(writer.Finish());
}

// Every row is stored once, where the hash of its key sends it.
bool IsPartitioned(OperatorRun& run, const BlockStore& store, const SinkSpec& sink,
                   int64_t num_rows) {
  const auto blocks = store.blocks();
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto batch = Get(store.ReadBlock(i));
    num_rows -= batch->num_rows();
    for (const int32_t destination :
         Get(ops::HashDestinations(*batch, sink.keys, sink.num_partitions, run.pool()))) {
      if (destination != blocks[i].destination) return false;
    }
  }
  return num_rows == 0;
}

void PartitionSink(benchmark::State& state) {
  OperatorRun run;
  const auto rows = RandomRows(1 << 20, 10'000);
  const SinkSpec sink = {.kind = SinkKind::kPartition,
                         .mode = ExchangeMode::kHash,
                         .keys = {state.range(0) == 0 ? "key" : "name"},
                         .num_partitions = static_cast<int32_t>(state.range(1))};
  if (!IsPartitioned(run, *Partition(run, sink, rows), sink, rows->num_rows())) {
    return state.SkipWithError("a row is lost or in the wrong partition");
  }
  for (auto _ : state) benchmark::DoNotOptimize(Partition(run, sink, rows));
  state.SetItemsProcessed(state.iterations() * rows->num_rows());
  state.SetBytesProcessed(state.iterations() * NumBytes(*rows));
}
BENCHMARK(PartitionSink)
    ->ArgNames({"strings", "partitions"})
    ->ArgsProduct({{0, 1}, {8, 256}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace xshards::bench
