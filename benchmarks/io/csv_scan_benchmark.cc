// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include <benchmark/benchmark.h>

#include "benchmarks/random_rows.h"
#include "io/readers.h"
#include "xshards/context.h"
#include "xshards/shards.h"

namespace xshards::bench {
namespace {

/// A file of integers, reals (some missing) and strings (some quoted); removed at the
/// end.
class CsvFile {
 public:
  explicit CsvFile(int64_t num_rows)
      : path_(std::filesystem::temp_directory_path() /
              ("xshards-csv-benchmark-" + std::to_string(getpid()) + ".csv")) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> reals(-1000.0, 1000.0);
    std::ofstream file(path_);
    file << "id,count,price,city,note\n";
    for (int64_t i = 0; i < num_rows; ++i) {
      file << i << ',' << random() % 100000 << ',';
      if (i % 20 != 0) file << reals(random);
      file << ",city-" << random() % 300 << (i % 10 == 0 ? ",\"a, b\"\n" : ",plain\n");
    }
  }
  ~CsvFile() { std::filesystem::remove(path_); }
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  std::string path() const { return path_.string(); }
  int64_t size() const { return static_cast<int64_t>(std::filesystem::file_size(path_)); }

 private:
  std::filesystem::path path_;
};

void CsvScan(benchmark::State& state) {
  const int64_t num_rows = state.range(1);
  const CsvFile file(num_rows);
  const auto context = Get(Context::Make({.cores = static_cast<int>(state.range(0))}));
  const XShards shards = Get(io::ReadCsv(context, file.path()));

  const auto table = Get(shards.ToTable());
  const auto id = table->GetColumnByName("id");
  const auto price = table->GetColumnByName("price");
  int64_t next = 0;
  for (const auto& chunk : id->chunks()) {
    const auto& ids = static_cast<const arrow::Int64Array&>(*chunk);
    for (int64_t i = 0; i < ids.length(); ++i) {
      if (ids.Value(i) != next++) return state.SkipWithError("rows are out of order");
    }
  }
  if (next != num_rows || price->null_count() != (num_rows + 19) / 20) {
    return state.SkipWithError("rows or missing values are lost");
  }

  for (auto _ : state) benchmark::DoNotOptimize(Get(shards.Collect()));
  state.SetBytesProcessed(state.iterations() * file.size());
  state.SetItemsProcessed(state.iterations() * num_rows);
}
BENCHMARK(CsvScan)
    ->ArgNames({"cores", "rows"})
    ->ArgsProduct({{1, 2}, {1'000'000}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void CsvScanTwoColumns(benchmark::State& state) {
  const int64_t num_rows = state.range(1);
  const CsvFile file(num_rows);
  const auto context = Get(Context::Make({.cores = static_cast<int>(state.range(0))}));
  const XShards shards = Get(io::ReadCsv(context, file.path()))
                             .Select(std::vector<std::string>{"id", "count"});
  const auto table = Get(shards.ToTable());
  if (table->num_columns() != 2 || table->num_rows() != num_rows) {
    return state.SkipWithError("rows or columns are lost");
  }
  for (auto _ : state) benchmark::DoNotOptimize(Get(shards.Collect()));
  state.SetBytesProcessed(state.iterations() * file.size());
  state.SetItemsProcessed(state.iterations() * num_rows);
}
BENCHMARK(CsvScanTwoColumns)
    ->ArgNames({"cores", "rows"})
    ->ArgsProduct({{1, 2}, {1'000'000}})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace xshards::bench
