// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/segment.h"

#include <benchmark/benchmark.h>

#include "benchmarks/random_rows.h"
#include "benchmarks/temporary_storage.h"

namespace xshards::bench {
namespace {

SegmentKind KindOf(const benchmark::State& state) {
  return state.range(0) == 0 ? SegmentKind::kMemory : SegmentKind::kDisk;
}

void SegmentAppend(benchmark::State& state) {
  TemporaryStorage storage;
  const auto rows = RandomRows(state.range(1), 1000);
  {
    auto segment = Get(storage.segments->Create(KindOf(state)));
    const auto range = Get(segment->Append(*rows));
    const auto back = Get(Segment::Read(segment, range, storage.budget.pool()));
    if (!back->Equals(*rows)) {
      return state.SkipWithError("the batch read is not the batch written");
    }
  }
  for (auto _ : state) {
    auto segment = Get(storage.segments->Create(KindOf(state)));
    benchmark::DoNotOptimize(Get(segment->Append(*rows)));
  }
  state.SetBytesProcessed(state.iterations() * NumBytes(*rows));
}
BENCHMARK(SegmentAppend)
    ->ArgNames({"disk", "rows"})
    ->ArgsProduct({{0, 1}, {1 << 12, 1 << 17}})
    ->UseRealTime();

void SegmentRead(benchmark::State& state) {
  TemporaryStorage storage;
  const auto rows = RandomRows(state.range(1), 1000);
  const auto segment = Get(storage.segments->Create(KindOf(state)));
  const auto range = Get(segment->Append(*rows));
  if (!Get(Segment::Read(segment, range, storage.budget.pool()))->Equals(*rows)) {
    return state.SkipWithError("the batch read is not the batch written");
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(Get(Segment::Read(segment, range, storage.budget.pool())));
  }
  state.SetBytesProcessed(state.iterations() * NumBytes(*rows));
}
BENCHMARK(SegmentRead)
    ->ArgNames({"disk", "rows"})
    ->ArgsProduct({{0, 1}, {1 << 12, 1 << 17}})
    ->UseRealTime();

}  // namespace
}  // namespace xshards::bench
