// SPDX-License-Identifier: Apache-2.0
// The loops that CSV text goes through, each on its own: text of one kind of field that
// stays in a core's cache. Under callgrind they tell instructions per byte; see
// README.md.
#include <charconv>
#include <random>
#include <string>

#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <benchmark/benchmark.h>

#include "benchmarks/random_rows.h"
#include "io/csv/convert/column_converter.h"
#include "io/csv/parse/rows.h"
#include "io/csv/parse/tokenizer.h"
#include "io/csv/parse/value_kinds.h"
#include "io/csv/plan/record_boundaries.h"
#include "io/text/text_input.h"

namespace xshards::bench {
namespace {

constexpr int64_t kBytes = 256LL << 10;
constexpr int64_t kColumns = 8;

enum Kind : int64_t { kIntegers, kFloats, kWords, kQuoted };

std::string Field(Kind kind, std::mt19937_64& random) {
  std::uniform_real_distribution<double> reals(-10000.0, 10000.0);
  switch (kind) {
    case kIntegers:
      return std::to_string(static_cast<int64_t>(random() % 100000) - 5000);
    case kFloats: {
      char digits[64];
      const auto end = std::to_chars(digits, digits + sizeof(digits), reals(random),
                                     std::chars_format::fixed, 6);
      return {digits, end.ptr};
    }
    case kWords:
      return "city-" + std::to_string(random() % 300);
    default:
      return "\"the delay of this flight was \"\"caused\"\" by fog, rain and a "
             "late\ncrew\"";
  }
}

/// Text as from TextBlocks: with readable padding before and after it.
class Text {
 public:
  explicit Text(Kind kind) : padded_(static_cast<size_t>(io::kTextPadding), '\0') {
    std::mt19937_64 random(7);
    while (static_cast<int64_t>(padded_.size()) < kBytes) {
      for (int64_t i = 0; i < kColumns; ++i) {
        padded_ += Field(kind, random);
        padded_ += i + 1 < kColumns ? ',' : '\n';
      }
    }
    size_ = static_cast<int64_t>(padded_.size()) - io::kTextPadding;
    padded_.append(static_cast<size_t>(io::kTextPadding), '\0');
  }
  char* data() { return padded_.data() + io::kTextPadding; }
  int64_t size() const { return size_; }

 private:
  std::string padded_;
  int64_t size_ = 0;
};

std::shared_ptr<arrow::DataType> TypeOfKind(Kind kind) {
  if (kind == kIntegers) return arrow::int64();
  return kind == kFloats ? arrow::float64() : arrow::large_utf8();
}

void CsvFindFields(benchmark::State& state) {
  Text text(static_cast<Kind>(state.range(0)));
  io::CsvRows rows(io::CsvOptions{});
  rows.Find(text.data(), text.size(), /*is_last=*/true, kColumns);
  if (rows.consumed() != text.size()) return state.SkipWithError("text is left over");
  for (auto _ : state) {
    rows.Find(text.data(), text.size(), /*is_last=*/true, kColumns);
    benchmark::DoNotOptimize(rows.num_rows());
  }
  state.SetBytesProcessed(state.iterations() * text.size());
}
BENCHMARK(CsvFindFields)->ArgName("kind")->DenseRange(kIntegers, kQuoted);

void CsvColumns(benchmark::State& state) {
  const auto kind = static_cast<Kind>(state.range(0));
  Text text(kind);
  const io::CsvOptions options;
  const io::CsvValues values(options);
  io::CsvRows rows(options);
  rows.Find(text.data(), text.size(), /*is_last=*/true, kColumns);
  auto column = Get(io::CsvColumn::Make(TypeOfKind(kind), /*inferred=*/true, &values,
                                        arrow::default_memory_pool()));
  for (auto _ : state) {
    for (int64_t i = 0; i < kColumns; ++i) {
      if (!column->Start(rows.num_rows()).ok()) return state.SkipWithError("memory");
      if (Get(column->Append(rows, i, 0, rows.num_rows())) != rows.num_rows()) {
        return state.SkipWithError("a value does not fit");
      }
      benchmark::DoNotOptimize(Get(column->Finish()));
    }
  }
  state.SetBytesProcessed(state.iterations() * text.size());
}
BENCHMARK(CsvColumns)->ArgName("kind")->DenseRange(kIntegers, kQuoted);

void CsvFindCuts(benchmark::State& state) {
  Text text(static_cast<Kind>(state.range(0)));
  for (auto _ : state) {
    io::RecordBoundaries boundaries(',', '"', 0, {text.size() - 1000});
    boundaries.Feed({text.data(), static_cast<size_t>(text.size())});
    if (boundaries.starts().empty()) return state.SkipWithError("no record found");
  }
  state.SetBytesProcessed(state.iterations() * text.size());
}
BENCHMARK(CsvFindCuts)->ArgName("kind")->DenseRange(kIntegers, kQuoted);

}  // namespace
}  // namespace xshards::bench
