// SPDX-License-Identifier: Apache-2.0
#include "io/scan/plan_probe.h"

#include <iterator>
#include <utility>

#include "xshards/execution/executor.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

RunPlan MakeProbe(Context& context, const arrow::StopToken& stop) {
  return [&context, stop](const Plan& plan) -> arrow::Result<arrow::RecordBatchVector> {
    Executor executor(context, stop);
    ARROW_ASSIGN_OR_RAISE(const auto partitions, executor.Collect(plan));
    ARROW_ASSIGN_OR_RAISE(const auto schema, OutputSchema(*plan));
    arrow::RecordBatchVector batches;
    for (const auto& partition : partitions) {
      ARROW_ASSIGN_OR_RAISE(auto stream, partition.Open(schema, context.memory_pool()));
      ARROW_ASSIGN_OR_RAISE(auto more, ReadAll(*stream));
      std::move(more.begin(), more.end(), std::back_inserter(batches));
    }
    return batches;
  };
}

}  // namespace xshards::io
