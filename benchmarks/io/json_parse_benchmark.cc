// SPDX-License-Identifier: Apache-2.0
// JSON lines of one kind of value that stay in a core's cache, into the same columns: by
// the record loop and by simdjson's On-Demand parser. Under callgrind it tells
// instructions per byte; see README.md.
#include <memory>
#include <random>
#include <string>

#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <benchmark/benchmark.h>

#include "benchmarks/io/on_demand_records.h"
#include "benchmarks/random_rows.h"
#include "io/json/block_reader.h"
#include "io/json/column_builders.h"
#include "io/json/record_parser.h"
#include "io/text/text_input.h"
#include "xshards/types/json_text_field.h"

namespace xshards::bench {
namespace {

constexpr int64_t kBytes = 256LL << 10;
constexpr int kKeys = 8;

enum Kind : int64_t { kIntegers, kFloats, kWords, kEscapes, kNested, kMixed };

std::string Value(Kind kind, std::mt19937_64& random) {
  switch (kind) {
    case kIntegers:
      return std::to_string(static_cast<int64_t>(random() % 100000) - 5000);
    case kFloats:
      return std::to_string(static_cast<double>(random() % 100000000) / 1e3);
    case kWords:
      return "\"city-" + std::to_string(random() % 300) + "\"";
    case kNested:
      return "{\"x\":[" + std::to_string(random() % 1000) + "," +
             std::to_string(random() % 1000) + "],\"name\":\"city-" +
             std::to_string(random() % 300) + "\"}";
    case kMixed:
      return random() % 2 == 0 ? "[1,{\"a\":\"text of some length\"}]" : "\"a word\"";
    default:
      return "\"a late\\ncrew, \\\"fog\\\" and \\u00e9\"";
  }
}

std::shared_ptr<arrow::Field> FieldOfKind(const std::string& name, Kind kind) {
  switch (kind) {
    case kIntegers:
      return arrow::field(name, arrow::int64());
    case kFloats:
      return arrow::field(name, arrow::float64());
    case kNested:
      return arrow::field(name,
                          arrow::struct_({arrow::field("x", arrow::list(arrow::int64())),
                                          arrow::field("name", arrow::large_utf8())}));
    case kMixed:
      return io::JsonTextField(name);
    default:
      return arrow::field(name, arrow::large_utf8());
  }
}

// Lines of eight values of a kind, and the columns they become.
struct Lines {
  explicit Lines(Kind kind) {
    std::mt19937_64 random(7);
    for (; static_cast<int64_t>(text.size()) < kBytes; ++num_rows) {
      for (int i = 0; i < kKeys; ++i) {
        text += (i == 0 ? "{\"column_" : ",\"column_") + std::to_string(i) + "\":";
        text += Value(kind, random);
      }
      text += "}\n";
    }
    size = static_cast<int64_t>(text.size());
    text.append(static_cast<size_t>(io::kTextPadding), '\0');
    for (int i = 0; i < kKeys; ++i) {
      fields.push_back(FieldOfKind("column_" + std::to_string(i), kind));
    }
  }

  arrow::FieldVector Wanted(bool all) const {
    return all ? fields : arrow::FieldVector{fields.back()};
  }

  std::string text;
  int64_t size = 0;
  int64_t num_rows = 0;
  arrow::FieldVector fields;
};

// Of kinds in the order of the enum, all columns or only the last.
void AllKinds(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"kind", "all_wanted"})
      ->ArgsProduct({{kIntegers, kFloats, kWords, kEscapes, kNested, kMixed}, {0, 1}});
}

void JsonRecordLines(benchmark::State& state) {
  const Lines lines(static_cast<Kind>(state.range(0)));
  io::JsonRecordFormat format;
  format.path = "text";
  format.known = arrow::schema(lines.fields);
  format.wanted = arrow::schema(lines.Wanted(state.range(1) != 0));
  format.target = io::BestJsonTarget();
  auto records =
      Get(io::JsonRecords::Make(std::move(format), arrow::default_memory_pool()));
  records->Expect((lines.num_rows + 63) / 64 * 64);
  for (auto _ : state) {
    if (Get(records->Append({.text = lines.text.data(), .size = lines.size})) !=
        lines.size) {
      return state.SkipWithError("text is left over");
    }
    if (Get(records->Finish())->num_rows() != lines.num_rows) {
      return state.SkipWithError("rows are missing");
    }
  }
  state.SetBytesProcessed(state.iterations() * lines.size);
}
BENCHMARK(JsonRecordLines)->Apply(AllKinds);

// The same columns of the same text by simdjson, to see which of the two should parse
// records.
void JsonOnDemandLines(benchmark::State& state) {
  const Lines lines(static_cast<Kind>(state.range(0)));
  const auto wanted = lines.Wanted(state.range(1) != 0);
  auto columns = Get(io::MakeJsonObject(
      {.wanted = wanted, .known = wanted, .settled = {}}, arrow::default_memory_pool()));
  io::ExpectRows(columns.get(), (lines.num_rows + 63) / 64 * 64);
  OnDemandRecords records(columns.get());
  for (auto _ : state) {
    if (records.Append(lines.text.data(), static_cast<size_t>(lines.size),
                       io::kTextPadding) != lines.num_rows) {
      return state.SkipWithError("rows are missing");
    }
    benchmark::DoNotOptimize(Get(io::FinishColumns(columns.get())));
  }
  state.SetBytesProcessed(state.iterations() * lines.size);
}
BENCHMARK(JsonOnDemandLines)->Apply(AllKinds);

}  // namespace
}  // namespace xshards::bench
