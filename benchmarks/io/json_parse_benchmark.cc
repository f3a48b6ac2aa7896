// SPDX-License-Identifier: Apache-2.0
// The record loop of JSON lines, on text of one kind of value that stays in a core's
// cache. Under callgrind it tells instructions per byte; see README.md.
#include <memory>
#include <random>
#include <string>

#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <benchmark/benchmark.h>

#include "benchmarks/random_rows.h"
#include "io/json/block_reader.h"
#include "io/json/record_parser.h"
#include "io/text/text_input.h"

namespace xshards::bench {
namespace {

constexpr int64_t kBytes = 256LL << 10;
constexpr int kKeys = 8;

enum Kind : int64_t { kIntegers, kFloats, kWords, kEscapes };

std::string Value(Kind kind, std::mt19937_64& random) {
  switch (kind) {
    case kIntegers:
      return std::to_string(static_cast<int64_t>(random() % 100000) - 5000);
    case kFloats:
      return std::to_string(static_cast<double>(random() % 100000000) / 1e3);
    case kWords:
      return "\"city-" + std::to_string(random() % 300) + "\"";
    default:
      return "\"a late\\ncrew, \\\"fog\\\" and \\u00e9\"";
  }
}

std::shared_ptr<arrow::DataType> TypeOfKind(Kind kind) {
  if (kind == kIntegers) return arrow::int64();
  return kind == kFloats ? arrow::float64() : arrow::large_utf8();
}

void JsonRecordLines(benchmark::State& state) {
  const auto kind = static_cast<Kind>(state.range(0));
  const bool is_wanted = state.range(1) != 0;
  std::mt19937_64 random(7);
  std::string text;
  int64_t num_rows = 0;
  for (; static_cast<int64_t>(text.size()) < kBytes; ++num_rows) {
    for (int i = 0; i < kKeys; ++i) {
      text += (i == 0 ? "{\"column_" : ",\"column_") + std::to_string(i) + "\":";
      text += Value(kind, random);
    }
    text += "}\n";
  }
  const auto size = static_cast<int64_t>(text.size());
  text.append(static_cast<size_t>(io::kTextPadding), '\0');
  arrow::FieldVector fields;
  for (int i = 0; i < kKeys; ++i) {
    fields.push_back(arrow::field("column_" + std::to_string(i), TypeOfKind(kind)));
  }
  io::JsonRecordFormat format;
  format.path = "text";
  format.known = arrow::schema(fields);
  format.wanted = is_wanted ? format.known : arrow::schema({fields.back()});
  format.target = io::BestJsonTarget();
  auto records =
      Get(io::JsonRecords::Make(std::move(format), arrow::default_memory_pool()));
  records->Expect((num_rows + 63) / 64 * 64);
  for (auto _ : state) {
    if (Get(records->Append({.text = text.data(), .size = size})) != size) {
      return state.SkipWithError("text is left over");
    }
    if (Get(records->Finish())->num_rows() != num_rows) {
      return state.SkipWithError("rows are missing");
    }
  }
  state.SetBytesProcessed(state.iterations() * size);
}
BENCHMARK(JsonRecordLines)
    ->ArgNames({"kind", "all_wanted"})
    ->ArgsProduct({{kIntegers, kFloats, kWords, kEscapes}, {0, 1}});

}  // namespace
}  // namespace xshards::bench
