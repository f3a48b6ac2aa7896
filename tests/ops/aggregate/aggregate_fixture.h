// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {

class AggregateTest : public OperatorTest {
 protected:
  /// Aggregate each part on its own, then merge the states, as an exchange would bring
  /// them together.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> RunInTwoPhases(
      AggregateNode node, const arrow::RecordBatchVector& parts) {
    ARROW_ASSIGN_OR_RAISE(auto complete, Open(node, {parts}));
    arrow::RecordBatchVector states;
    for (const auto& part : parts) {
      node.phase = AggregatePhase::kPartial;
      ARROW_ASSIGN_OR_RAISE(auto state, RunToBatch(node, {Cut(part, 50)}));
      states.push_back(std::move(state));
    }
    node.phase = AggregatePhase::kFinal;
    node.schema = complete->schema();
    return RunToBatch(node, {states});
  }

  /// The same by one phase and by two.
  std::shared_ptr<arrow::RecordBatch> Both(
      const AggregateNode& node, const std::shared_ptr<arrow::RecordBatch>& batch) {
    const auto complete = Get(RunToBatch(node, {Cut(batch, 3)}));
    ExpectBatch(Get(RunInTwoPhases(node, Cut(batch, 2))), complete);
    return complete;
  }
};

}  // namespace xshards::ops
