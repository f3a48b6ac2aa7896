// SPDX-License-Identifier: Apache-2.0
#include "xshards/expression/expression.h"

#include <cmath>

#include <arrow/compute/exec.h>
#include <arrow/compute/expression.h>
#include <arrow/compute/initialize.h>
#include <benchmark/benchmark.h>

#include "benchmarks/random_rows.h"

namespace xshards::bench {
namespace {

arrow::Datum Evaluate(const arrow::compute::Expression& bound,
                      const std::shared_ptr<arrow::RecordBatch>& rows) {
  return Get(
      arrow::compute::ExecuteScalarExpression(bound, arrow::compute::ExecBatch(*rows)));
}

void BindExpression(benchmark::State& state) {
  Check(arrow::compute::Initialize());
  const auto rows = RandomRows(1, 1);
  const Expression expression = (col("x") * lit(2.0) + col("y") > lit(0.5)) &&
                                (col("key") < lit(100)) && !col("name").IsNull();
  if (!Get(expression.Bind(*rows->schema())).arrow.IsBound()) {
    return state.SkipWithError("the expression is not bound");
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(Get(expression.Bind(*rows->schema())));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BindExpression);

void EvaluateArithmetic(benchmark::State& state) {
  Check(arrow::compute::Initialize());
  const auto rows = RandomRows(state.range(0), 1000);
  const Expression expression = col("x") * lit(2.0) + col("y") / col("key");
  const auto bound = Get(expression.Bind(*rows->schema())).arrow;
  const auto value = Evaluate(bound, rows).make_array();
  const auto& z = static_cast<const arrow::DoubleArray&>(*value);
  const auto& key = static_cast<const arrow::Int64Array&>(*rows->column(0));
  const auto& x = static_cast<const arrow::DoubleArray&>(*rows->column(2));
  const auto& y = static_cast<const arrow::DoubleArray&>(*rows->column(3));
  for (int64_t i = 0; i < rows->num_rows(); ++i) {
    const double right =
        x.Value(i) * 2.0 + y.Value(i) / static_cast<double>(key.Value(i));
    if (x.IsValid(i) && std::isfinite(right) && z.Value(i) != right) {
      return state.SkipWithError("a value is wrong");
    }
  }
  for (auto _ : state) benchmark::DoNotOptimize(Evaluate(bound, rows));
  state.SetItemsProcessed(state.iterations() * rows->num_rows());
  state.SetBytesProcessed(state.iterations() * rows->num_rows() * 3 * 8);
}
BENCHMARK(EvaluateArithmetic)->ArgName("rows")->Arg(1 << 12)->Arg(1 << 17);

void EvaluatePredicate(benchmark::State& state) {
  Check(arrow::compute::Initialize());
  const auto rows = RandomRows(state.range(0), 1000);
  const Expression expression = col("x") > lit(0.5) && col("name") != lit("name-7");
  const auto bound = Get(expression.Bind(*rows->schema())).arrow;
  const auto value = Evaluate(bound, rows).make_array();
  const auto& kept = static_cast<const arrow::BooleanArray&>(*value);
  const auto& name = static_cast<const arrow::LargeStringArray&>(*rows->column(1));
  const auto& x = static_cast<const arrow::DoubleArray&>(*rows->column(2));
  for (int64_t i = 0; i < rows->num_rows(); ++i) {
    const bool right = x.IsValid(i) && x.Value(i) > 0.5 && name.GetView(i) != "name-7";
    if ((kept.IsValid(i) && kept.Value(i)) != right) {
      return state.SkipWithError("a row is wrong");
    }
  }
  for (auto _ : state) benchmark::DoNotOptimize(Evaluate(bound, rows));
  state.SetItemsProcessed(state.iterations() * rows->num_rows());
}
BENCHMARK(EvaluatePredicate)->ArgName("rows")->Arg(1 << 12)->Arg(1 << 17);

}  // namespace
}  // namespace xshards::bench
