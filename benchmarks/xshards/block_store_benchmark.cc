// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/block_store.h"

#include <benchmark/benchmark.h>

#include "benchmarks/random_rows.h"
#include "benchmarks/temporary_storage.h"

namespace xshards::bench {
namespace {

constexpr int kNumBlocks = 16;

std::shared_ptr<BlockStore> Store(TemporaryStorage& storage, Storage where,
                                  const std::shared_ptr<arrow::RecordBatch>& rows) {
  BlockWriter writer(storage.environment(), where);
  for (int i = 0; i < kNumBlocks; ++i) Check(writer.Append(i % 4, rows));
  return Get(writer.Finish());
}

bool ReadsBack(const BlockStore& store, const arrow::RecordBatch& rows) {
  if (store.num_blocks() != kNumBlocks) return false;
  for (size_t i = 0; i < store.num_blocks(); ++i) {
    if (!Get(store.ReadBlock(i))->Equals(rows)) return false;
  }
  return true;
}

void BlockStoreWrite(benchmark::State& state) {
  TemporaryStorage storage;
  const auto where = state.range(0) == 0 ? Storage::kHeap : Storage::kShared;
  const auto rows = RandomRows(1 << 16, 1000);
  if (!ReadsBack(*Store(storage, where, rows), *rows)) {
    return state.SkipWithError("a block read is not the block written");
  }
  for (auto _ : state) benchmark::DoNotOptimize(Store(storage, where, rows));
  state.SetBytesProcessed(state.iterations() * kNumBlocks * NumBytes(*rows));
}
BENCHMARK(BlockStoreWrite)->ArgName("shared")->Arg(0)->Arg(1)->UseRealTime();

void BlockStoreSpill(benchmark::State& state) {
  TemporaryStorage storage;
  const auto rows = RandomRows(1 << 16, 1000);
  {
    const auto store = Store(storage, Storage::kHeap, rows);
    Check(store->Spill().status());
    if (store->storage() != Storage::kFile || !ReadsBack(*store, *rows)) {
      return state.SkipWithError("a block read is not the block spilled");
    }
  }
  for (auto _ : state) {
    state.PauseTiming();
    auto store = Store(storage, Storage::kHeap, rows);
    state.ResumeTiming();
    benchmark::DoNotOptimize(Get(store->Spill()));
    state.PauseTiming();
    store.reset();
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * kNumBlocks * NumBytes(*rows));
}
BENCHMARK(BlockStoreSpill)->UseRealTime()->Unit(benchmark::kMillisecond);

void BlockStoreReadSpilled(benchmark::State& state) {
  TemporaryStorage storage;
  const auto rows = RandomRows(1 << 16, 1000);
  const auto store = Store(storage, Storage::kHeap, rows);
  Check(store->Spill().status());
  if (!ReadsBack(*store, *rows)) {
    return state.SkipWithError("a block read is not the block spilled");
  }
  for (auto _ : state) {
    for (size_t i = 0; i < store->num_blocks(); ++i) {
      benchmark::DoNotOptimize(Get(store->ReadBlock(i)));
    }
  }
  state.SetBytesProcessed(state.iterations() * kNumBlocks * NumBytes(*rows));
}
BENCHMARK(BlockStoreReadSpilled)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace xshards::bench
