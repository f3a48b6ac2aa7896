// SPDX-License-Identifier: Apache-2.0
// Planner::LowerExchange: stages that move rows between partitions.
#include <utility>

#include "xshards/execution/planner/algorithm.h"
#include "xshards/execution/planner/planner.h"
#include "xshards/plan/partitioning.h"
#include "xshards/types/conform.h"

namespace xshards {

namespace {

/// True if equal keys of these types have equal hashes.
bool HashAlike(const arrow::DataType& left, const arrow::DataType& right) {
  const auto is_null = [](const auto& type) { return type.id() == arrow::Type::NA; };
  const auto value = [](const arrow::DataType& type) -> const arrow::DataType& {
    return type.id() == arrow::Type::DICTIONARY
               ? *static_cast<const arrow::DictionaryType&>(type).value_type()
               : type;
  };
  const auto& a = value(left);
  const auto& b = value(right);
  return is_null(a) || is_null(b) || a.Equals(b) ||
         (arrow::is_integer(a.id()) && arrow::is_integer(b.id()));
}

/// True if workers have partitioned all outputs of their functions, and in the same way
/// as if each had known the common schema.
bool ArePartitioned(const std::vector<Partition>& whole,
                    const std::vector<std::shared_ptr<BlockStore>>& stores,
                    const std::vector<std::string>& keys) {
  auto unified = UnifySchemas(whole);
  if (!unified.ok() || *unified == nullptr) return false;
  for (size_t i = 0; i < whole.size(); ++i) {
    auto schema = whole[i].schema();
    if (!schema.ok()) return false;
    if (*schema == nullptr) continue;  // the function was not called, or returned no rows
    if (KindOf(**schema) != PayloadKind::kTable || stores[i]->num_blocks() == 0) {
      return false;
    }
    for (const auto& key : keys) {
      const auto own = (*schema)->GetFieldByName(key);
      const auto all = (*unified)->GetFieldByName(key);
      if (own == nullptr || all == nullptr || !HashAlike(*own->type(), *all->type())) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

arrow::Result<Trees> Planner::LowerExchange(const Plan& plan, Storage storage) {
  const auto& exchange = plan->as<ExchangeNode>();
  SinkSpec sink{.kind = SinkKind::kPartition, .storage = storage};
  sink.mode = exchange.mode;
  sink.keys = exchange.keys;
  sink.num_partitions = exchange.num_partitions;
  ARROW_ASSIGN_OR_RAISE(auto written, LowerFunctionExchange(plan->inputs[0], sink));
  if (written.has_value()) return std::move(*written);

  ARROW_ASSIGN_OR_RAISE(auto trees, LowerTable(plan->inputs[0], storage, *plan));
  if (sink.num_partitions <= 0) sink.num_partitions = static_cast<int32_t>(trees.size());
  if (MovesNothing(exchange, *plan->inputs[0])) {
    Note(ChooseAlgorithm(*plan));
    return trees;
  }
  if (exchange.mode == ExchangeMode::kGather) sink.num_partitions = 1;
  if (exchange.mode == ExchangeMode::kRange) {
    for (const auto& key : exchange.keys) sink.sort_keys.push_back({.column = key});
    const SortNode order{.keys = sink.sort_keys};
    ARROW_RETURN_NOT_OK(OutputSchema(*MakeNode(order, {trees[0]})).status());
  }
  // Ranges and balanced partitions depend on all rows: these must exist first, and the
  // runner completes the sink from them.
  if (exchange.mode == ExchangeMode::kRange ||
      exchange.mode == ExchangeMode::kRoundRobin) {
    ARROW_ASSIGN_OR_RAISE(trees, Publish(std::move(trees), storage));
  }
  Note(ChooseAlgorithm(*plan));
  return Partitioned(std::move(trees), std::move(sink));
}

arrow::Result<std::optional<Trees>> Planner::LowerFunctionExchange(const Plan& input,
                                                                   SinkSpec sink) {
  if (sink.mode != ExchangeMode::kHash || input->kind() != NodeKind::kCache ||
      input->inputs[0]->kind() != NodeKind::kMapPython) {
    return std::nullopt;
  }
  const auto& cache = input->as<CacheNode>();
  const auto lock = LockToFill(cache);
  if (Filled(cache) != nullptr) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(auto trees, Lower(input->inputs[0], Storage::kShared));
  if (trees.empty()) return std::nullopt;
  if (sink.num_partitions <= 0) sink.num_partitions = static_cast<int32_t>(trees.size());
  sink.keep_whole = true;
  const auto keys = sink.keys;
  Note({Algorithm::kHashExchangeInWorkers,
        "each worker partitions the result of its function"});
  ARROW_ASSIGN_OR_RAISE(trees, Partitioned(std::move(trees), std::move(sink)));
  ARROW_ASSIGN_OR_RAISE(trees, Observe(trees, Decision::kWhetherKeysHaveOneType));
  const int32_t stage = trees[0]->as<StageInputNode>().stage->number;
  ARROW_ASSIGN_OR_RAISE(const auto output, execution_.Await(graph_, stage));
  if (output == nullptr) return trees;
  Fill(cache, output->whole);
  if (!ArePartitioned(output->whole, output->stores, keys)) return std::nullopt;
  return trees;
}

}  // namespace xshards
