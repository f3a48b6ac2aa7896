// SPDX-License-Identifier: Apache-2.0
#include "xshards/execution/executor.h"

#include <algorithm>
#include <utility>

#include "xshards/execution/fragment.h"
#include "xshards/execution/join_strategy.h"
#include "xshards/execution/range_boundaries.h"
#include "xshards/execution/stage_label.h"
#include "xshards/execution/stage_trees.h"
#include "xshards/plan/distinct.h"
#include "xshards/plan/partitioning.h"
#include "xshards/types/conform.h"

namespace xshards {

namespace {

arrow::Status CheckPairs(const PlanNode& node, size_t left, size_t right) {
  if (left == right) return arrow::Status::OK();
  return arrow::Status::Invalid(
      Describe(node), " needs the same number of partitions on both sides; got ", left,
      " and ", right);
}

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

/// True if workers have partitioned everything that their functions returned, and as they
/// would have if each had known the schema of all.
bool ArePartitioned(const std::vector<Partition>& whole,
                    const std::vector<std::shared_ptr<BlockStore>>& stores,
                    const std::vector<std::string>& keys) {
  auto unified = UnifySchemas(whole);
  if (!unified.ok() || *unified == nullptr) return false;
  for (size_t i = 0; i < whole.size(); ++i) {
    auto schema = whole[i].schema();
    if (!schema.ok()) return false;
    if (*schema == nullptr) continue;  // the function was not called, or gave nothing
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

arrow::Status CheckTable(const PlanNode& tree, const PlanNode& consumer) {
  if (tree.kind() != NodeKind::kLiteral) return arrow::Status::OK();
  const auto& literal = tree.as<LiteralNode>();
  for (const auto& partition : literal.partitions) {
    ARROW_ASSIGN_OR_RAISE(auto schema, partition.schema());
    if (schema == nullptr || KindOf(*schema) == PayloadKind::kTable) continue;
    return arrow::Status::TypeError(
        Describe(consumer), " works on DataFrame shards, but these hold ",
        ToString(KindOf(*schema)), ": make DataFrames of them with transform_shard");
  }
  if (literal.schema != nullptr) return arrow::Status::OK();
  return arrow::Status::TypeError(Describe(consumer),
                                  " works on DataFrame shards, but these are empty");
}

}  // namespace

Executor::Executor(Context& context, const arrow::StopToken& stop)
    : context_(context), stop_(stop) {}

arrow::Result<std::vector<Partition>> Executor::Collect(const Plan& plan) {
  ARROW_ASSIGN_OR_RAISE(auto trees, Lower(plan, Storage::kHeap));
  return Publish(trees, Storage::kHeap);
}

arrow::Result<std::vector<Partition>> Executor::CollectFirst(const Plan& plan,
                                                             int64_t num_shards) {
  ARROW_ASSIGN_OR_RAISE(auto trees, Lower(plan, Storage::kHeap));
  std::vector<Partition> first;
  const auto wave = static_cast<std::ptrdiff_t>(context_.cores());
  for (auto begin = trees.begin(); begin != trees.end() && num_shards > 0;) {
    const auto end = begin + std::min(wave, trees.end() - begin);
    ARROW_ASSIGN_OR_RAISE(auto some, Publish({begin, end}, Storage::kHeap));
    for (auto& partition : some) {
      num_shards -= partition.num_shards();
      first.push_back(std::move(partition));
    }
    begin = end;
  }
  return first;
}

arrow::Result<int64_t> Executor::Count(const Plan& plan) {
  ARROW_ASSIGN_OR_RAISE(auto trees, Lower(plan, Storage::kHeap));
  ARROW_ASSIGN_OR_RAISE(auto results, RunStage(trees, {.kind = SinkKind::kCount}));
  int64_t rows = 0;
  for (const auto& result : results) rows += result.metrics.rows_out;
  return rows;
}

arrow::Result<std::vector<std::string>> Executor::Write(
    const Plan& plan, const SinkSpec& sink,
    const std::function<std::string(size_t)>& path_of) {
  ARROW_ASSIGN_OR_RAISE(auto trees, LowerTable(plan, Storage::kHeap, *plan));
  std::vector<std::string> paths;
  for (size_t i = 0; i < trees.size(); ++i) paths.push_back(path_of(i));
  ARROW_RETURN_NOT_OK(RunStage(trees, sink, [&](size_t i, SinkSpec& own) {
                        own.path = paths[i];
                      }).status());
  return paths;
}

arrow::Result<Executor::Trees> Executor::Lower(const Plan& plan, Storage storage) {
  switch (plan->kind()) {
    case NodeKind::kScan: {
      Trees trees;
      const ScanNode whole = WithFoundTypes(plan->as<ScanNode>());
      for (const auto& split : whole.splits) {
        ScanNode scan = whole;
        scan.splits = {split};
        trees.push_back(MakeNode(std::move(scan)));
      }
      return trees;
    }
    case NodeKind::kLiteral: {
      const auto& literal = plan->as<LiteralNode>();
      return ToTrees(literal.partitions, literal.schema);
    }
    case NodeKind::kProject:
    case NodeKind::kFilter:
    case NodeKind::kMapNative: {
      ARROW_ASSIGN_OR_RAISE(auto trees, LowerTable(plan->inputs[0], storage, *plan));
      return Wrap(plan->node, trees);
    }
    case NodeKind::kMapPython:
      return LowerMapPython(plan, storage);
    case NodeKind::kExchange:
      return LowerExchange(plan, storage);
    case NodeKind::kAggregate:
      return LowerAggregate(plan, storage);
    case NodeKind::kJoin:
      return LowerJoin(plan, storage);
    case NodeKind::kSort:
      return LowerSort(plan, storage);
    case NodeKind::kLimit:
      return LowerLimit(plan, storage);
    case NodeKind::kSample:
      return LowerSample(plan, storage);
    case NodeKind::kUnion:
      return LowerUnion(plan, storage);
    case NodeKind::kZip:
      return LowerZip(plan, storage);
    case NodeKind::kCache:
      return LowerCache(plan, storage);
  }
  return arrow::Status::NotImplemented("Cannot run ", Describe(*plan));
}

arrow::Result<Executor::Trees> Executor::LowerMapPython(const Plan& plan,
                                                        Storage storage) {
  const bool here = plan->as<MapPythonNode>().on_threads;
  const Storage input = here ? storage : Storage::kShared;
  ARROW_ASSIGN_OR_RAISE(auto trees, Lower(plan->inputs[0], input));
  for (Plan& tree : trees) {
    ARROW_ASSIGN_OR_RAISE(tree, AsStored(tree));
  }
  if (plan->inputs.size() == 1) return Wrap(plan->node, trees);
  ARROW_ASSIGN_OR_RAISE(auto right, Lower(plan->inputs[1], input));
  ARROW_RETURN_NOT_OK(CheckPairs(*plan, trees.size(), right.size()));
  for (size_t i = 0; i < trees.size(); ++i) {
    trees[i] = MakeNode(plan->node, {trees[i], right[i]});
  }
  return trees;
}

arrow::Result<Executor::Trees> Executor::LowerTable(const Plan& plan, Storage storage,
                                                    const PlanNode& consumer) {
  ARROW_ASSIGN_OR_RAISE(auto trees, Lower(plan, storage));
  if (trees.empty()) {
    return arrow::Status::Invalid(Describe(consumer), " has no partitions to work on");
  }
  // A function's output must exist before anything can be asked of its columns.
  const bool unknown = std::any_of(trees.begin(), trees.end(),
                                   [](const Plan& tree) { return IsFunction(*tree); });
  if (unknown) {
    ARROW_ASSIGN_OR_RAISE(auto partitions, Publish(trees, storage));
    ARROW_ASSIGN_OR_RAISE(trees, ToTrees(partitions));
  }
  for (const auto& tree : trees) ARROW_RETURN_NOT_OK(CheckTable(*tree, consumer));
  return trees;
}

arrow::Result<Executor::Trees> Executor::LowerExchange(const Plan& plan,
                                                       Storage storage) {
  const auto& exchange = plan->as<ExchangeNode>();
  SinkSpec sink{.kind = SinkKind::kPartition, .storage = storage};
  sink.mode = exchange.mode;
  sink.keys = exchange.keys;
  sink.num_partitions = exchange.num_partitions;
  ARROW_ASSIGN_OR_RAISE(auto written, LowerFunctionExchange(plan->inputs[0], sink));
  if (written.has_value()) return std::move(*written);

  ARROW_ASSIGN_OR_RAISE(auto trees, LowerTable(plan->inputs[0], storage, *plan));
  if (sink.num_partitions <= 0) sink.num_partitions = static_cast<int32_t>(trees.size());
  if (MovesNothing(exchange, *plan->inputs[0])) return trees;
  if (exchange.mode == ExchangeMode::kGather) sink.num_partitions = 1;
  if (exchange.mode == ExchangeMode::kRange) {
    return RangePartitioned(trees, exchange, std::move(sink));
  }
  if (exchange.mode != ExchangeMode::kRoundRobin) return Partitioned(trees, sink);

  // Balancing needs to know how many rows come before each partition.
  ARROW_ASSIGN_OR_RAISE(auto partitions, Publish(trees, storage));
  ARROW_ASSIGN_OR_RAISE(trees, ToTrees(partitions));
  std::vector<int64_t> first_rows;
  for (const auto& partition : partitions) {
    first_rows.push_back(sink.total_rows);
    sink.total_rows += partition.num_rows();
  }
  return Partitioned(trees, sink,
                     [&](size_t i, SinkSpec& own) { own.first_row = first_rows[i]; });
}

arrow::Result<Executor::Trees> Executor::RangePartitioned(const Trees& trees,
                                                          const ExchangeNode& exchange,
                                                          SinkSpec sink) {
  SortNode order;
  for (const auto& key : exchange.keys) order.keys.push_back({.column = key});
  ARROW_RETURN_NOT_OK(OutputSchema(*MakeNode(order, {trees[0]})).status());
  // Where to cut is known only once all rows are there.
  ARROW_ASSIGN_OR_RAISE(auto partitions, Publish(trees, sink.storage));
  ARROW_ASSIGN_OR_RAISE(auto schema, UnifySchemas(partitions));
  sink.sort_keys = order.keys;
  ARROW_ASSIGN_OR_RAISE(sink.boundaries,
                        ChooseBoundaries(partitions, order, schema, sink.num_partitions,
                                         context_.memory_pool()));
  return Partitioned(ToTrees(partitions, schema), sink);
}

arrow::Result<std::optional<Executor::Trees>> Executor::LowerFunctionExchange(
    const Plan& input, SinkSpec sink) {
  if (sink.mode != ExchangeMode::kHash || input->kind() != NodeKind::kCache ||
      input->inputs[0]->kind() != NodeKind::kMapPython) {
    return std::nullopt;
  }
  auto& cell = *input->as<CacheNode>().cell;
  std::lock_guard lock(cell.filling());
  if (cell.Get().has_value()) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(auto trees, Lower(input->inputs[0], Storage::kShared));
  if (trees.empty()) return std::nullopt;
  if (sink.num_partitions <= 0) sink.num_partitions = static_cast<int32_t>(trees.size());
  sink.keep_whole = true;
  ARROW_ASSIGN_OR_RAISE(auto results, RunStage(trees, sink));
  std::vector<Partition> whole;
  std::vector<std::shared_ptr<BlockStore>> stores;
  for (auto& result : results) {
    whole.push_back(Partition({std::move(result.whole)}, 0));
    stores.push_back(std::move(result.store));
  }
  cell.Set(whole);
  if (!ArePartitioned(whole, stores, sink.keys)) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(trees, ReadPartitions(stores, sink));
  return trees;
}

arrow::Result<Executor::Trees> Executor::LowerAggregate(const Plan& plan,
                                                        Storage storage) {
  auto aggregate = plan->as<AggregateNode>();
  ARROW_ASSIGN_OR_RAISE(auto trees, LowerTable(plan->inputs[0], storage, *plan));
  // Also finds unknown columns that the plan, before running, could not.
  ARROW_ASSIGN_OR_RAISE(auto input, OutputSchema(*trees[0]));
  ARROW_ASSIGN_OR_RAISE(auto output, OutputSchema(*MakeNode(aggregate, {trees[0]})));
  if (GroupsInPlace(aggregate, *plan->inputs[0])) return Wrap(aggregate, trees);
  if (aggregate.all_columns) {
    aggregate.keys = input->field_names();
    aggregate.all_columns = false;
  }
  if (IsMadeByPosition(plan->as<AggregateNode>(), *plan->inputs[0])) {
    return LowerDistinct(aggregate, std::move(trees), output, storage);
  }
  const bool one = aggregate.ordered || aggregate.keys.empty();
  aggregate.phase = AggregatePhase::kPartial;
  trees = Wrap(aggregate, trees);
  SinkSpec sink{.kind = SinkKind::kPartition, .storage = storage};
  sink.mode = one ? ExchangeMode::kGather : ExchangeMode::kHash;
  sink.num_partitions = one ? 1 : static_cast<int32_t>(trees.size());
  sink.keys = aggregate.keys;
  ARROW_ASSIGN_OR_RAISE(trees, Partitioned(trees, sink));
  aggregate.phase = AggregatePhase::kFinal;
  aggregate.schema = std::move(output);
  return Wrap(aggregate, trees);
}

arrow::Result<Executor::Trees> Executor::LowerJoin(const Plan& plan, Storage storage) {
  const auto& join = plan->as<JoinNode>();
  ARROW_ASSIGN_OR_RAISE(auto left, LowerTable(plan->inputs[0], storage, *plan));
  ARROW_ASSIGN_OR_RAISE(auto right, LowerTable(plan->inputs[1], storage, *plan));
  ARROW_RETURN_NOT_OK(OutputSchema(*MakeNode(join, {left[0], right[0]})).status());
  const auto choose = [&] {
    return ChooseJoin(join, BytesOf(left), BytesOf(right), context_.memory_bytes());
  };
  auto choice = choose();
  if (choice.hold_all) {
    // What files and functions give is known only once it is there.
    Trees& held = choice.build_left ? left : right;
    ARROW_ASSIGN_OR_RAISE(auto partitions, Publish(held, storage));
    ARROW_ASSIGN_OR_RAISE(held, ToTrees(partitions));
    const bool was_left = choice.build_left;
    choice = choose();
    choice.hold_all &= choice.build_left == was_left;
  }
  Note(choice.reason);
  auto chosen = join;
  chosen.build_left = choice.build_left;
  return choice.hold_all
             ? JoinWithAll(std::move(chosen), left, right, storage)
             : JoinByHash(*plan, chosen, std::move(left), std::move(right), storage);
}

arrow::Result<Executor::Trees> Executor::JoinWithAll(JoinNode join, const Trees& left,
                                                     const Trees& right,
                                                     Storage storage) {
  const Trees& held = join.build_left ? left : right;
  const Trees& streamed = join.build_left ? right : left;
  ARROW_ASSIGN_OR_RAISE(auto partitions, Publish(held, storage));
  ARROW_ASSIGN_OR_RAISE(auto schema, UnifySchemas(partitions));
  const Plan all = MakeNode(LiteralNode{.schema = std::move(schema),
                                        .partitions = {Partition::Joined(partitions)}});
  join.shared_table = ++num_shared_tables_;
  Trees trees;
  for (const Plan& tree : streamed) {
    trees.push_back(join.build_left ? MakeNode(join, {all, tree})
                                    : MakeNode(join, {tree, all}));
  }
  // Workers would each make a table of their own.
  if (storage == Storage::kHeap) return trees;
  ARROW_ASSIGN_OR_RAISE(partitions, Publish(trees, storage));
  return ToTrees(partitions);
}

arrow::Result<Executor::Trees> Executor::JoinByHash(const PlanNode& plan,
                                                    const JoinNode& join, Trees left,
                                                    Trees right, Storage storage) {
  const JoinSide left_side{left.size(), BytesOf(left)};
  const JoinSide right_side{right.size(), BytesOf(right)};
  const int32_t num_partitions =
      NumJoinPartitions(join, left_side, right_side, context_.memory_bytes());
  const auto lies_right = [&](const PlanNode& input,
                              const std::vector<std::string>& keys) {
    return PartitioningOf(input) == Partitioning{keys, num_partitions};
  };
  const bool left_lies_right = lies_right(*plan.inputs[0], join.left_keys);
  const bool right_lies_right = lies_right(*plan.inputs[1], join.right_keys);
  // Of encoded columns each part would bring the dictionaries of all batches to one.
  ARROW_ASSIGN_OR_RAISE(const bool any_encoded, AnyEncoded({left[0], right[0]}));
  const bool in_parts = !left_lies_right && !right_lies_right && !any_encoded;
  const int32_t num_parts =
      in_parts ? NumJoinParts(join, left_side, right_side, num_partitions) : 1;
  if (num_parts > 1) {
    Note("in " + std::to_string(num_parts) +
         " parts: what is held of a partition at a time is in cache");
  }
  SinkSpec sink{.kind = SinkKind::kPartition, .storage = storage};
  sink.mode = ExchangeMode::kHash;
  sink.num_partitions = num_partitions * num_parts;
  const auto bring_together = [&](const char* side, const std::vector<std::string>& keys,
                                  bool lies_right_already, Trees& side_trees) {
    if (lies_right_already) {
      Note(std::string("no exchange of the ") + side + ": its rows lie right already");
      return arrow::Status::OK();
    }
    sink.keys = keys;
    return Partitioned(side_trees, sink).Value(&side_trees);
  };
  ARROW_RETURN_NOT_OK(bring_together("left", join.left_keys, left_lies_right, left));
  ARROW_RETURN_NOT_OK(bring_together("right", join.right_keys, right_lies_right, right));
  Trees trees;
  for (size_t i = 0; i < left.size(); ++i) {
    trees.push_back(MakeNode(join, {left[i], right[i]}));
  }
  return InGroups(trees, static_cast<size_t>(num_parts));
}

arrow::Result<Executor::Trees> Executor::LowerSort(const Plan& plan, Storage storage) {
  const auto& sort = plan->as<SortNode>();
  ARROW_ASSIGN_OR_RAISE(auto trees, LowerTable(plan->inputs[0], storage, *plan));
  ARROW_RETURN_NOT_OK(OutputSchema(*MakeNode(sort, {trees[0]})).status());
  if (trees.size() == 1) return Wrap(sort, trees);
  SinkSpec sink{.kind = SinkKind::kPartition, .storage = storage};
  if (sort.limit) {
    sink.mode = ExchangeMode::kGather;
    ARROW_ASSIGN_OR_RAISE(trees, Partitioned(Wrap(sort, trees), sink));
    return Wrap(sort, trees);
  }
  ARROW_ASSIGN_OR_RAISE(auto partitions, Publish(trees, storage));
  ARROW_ASSIGN_OR_RAISE(auto schema, UnifySchemas(partitions));
  ARROW_ASSIGN_OR_RAISE(
      bool in_order,
      AreInOrder(partitions, sort, schema, RowsSeen::kSample, context_.memory_pool()));
  if (in_order) {
    Note("sort in place: a sample of the rows lies in order");
    // Then sorting each alone, which passes on rows that are in order, may be enough.
    ARROW_ASSIGN_OR_RAISE(partitions,
                          Publish(Wrap(sort, ToTrees(partitions, schema)), storage));
    ARROW_ASSIGN_OR_RAISE(in_order, AreInOrder(partitions, sort, schema, RowsSeen::kEnds,
                                               context_.memory_pool()));
    if (in_order) return ToTrees(partitions, schema);
    Note("range sort: a sample of the rows lay in order, but not the ends of partitions");
  }
  sink.mode = ExchangeMode::kRange;
  sink.num_partitions = static_cast<int32_t>(partitions.size());
  sink.sort_keys = sort.keys;
  sink.nulls_first = sort.nulls_first;
  ARROW_ASSIGN_OR_RAISE(sink.boundaries,
                        ChooseBoundaries(partitions, sort, schema, sink.num_partitions,
                                         context_.memory_pool()));
  trees = ToTrees(partitions, schema);
  partitions.clear();
  ARROW_ASSIGN_OR_RAISE(trees, Partitioned(trees, sink));
  return Wrap(sort, trees);
}

arrow::Result<Executor::Trees> Executor::LowerLimit(const Plan& plan, Storage storage) {
  int64_t wanted = plan->as<LimitNode>().count;
  ARROW_ASSIGN_OR_RAISE(auto trees, LowerTable(plan->inputs[0], storage, *plan));
  Trees kept;
  // A few partitions at a time, in order: most limits need only the first.
  const auto wave = static_cast<size_t>(context_.cores());
  for (size_t begin = 0; begin < trees.size() && (wanted > 0 || begin == 0);
       begin += wave) {
    const size_t end = std::min(begin + wave, trees.size());
    Trees some(trees.begin() + static_cast<std::ptrdiff_t>(begin),
               trees.begin() + static_cast<std::ptrdiff_t>(end));
    ARROW_ASSIGN_OR_RAISE(auto partitions,
                          Publish(Wrap(LimitNode{wanted}, some), storage));
    ARROW_ASSIGN_OR_RAISE(auto literals, ToTrees(partitions));
    for (size_t i = 0; i < partitions.size() && (wanted > 0 || kept.empty()); ++i) {
      const int64_t rows = partitions[i].num_rows();
      kept.push_back(rows <= wanted ? literals[i]
                                    : MakeNode(LimitNode{wanted}, {literals[i]}));
      wanted -= std::min(rows, wanted);
    }
  }
  return kept;
}

arrow::Result<Executor::Trees> Executor::LowerUnion(const Plan& plan, Storage storage) {
  Trees all;
  std::vector<std::shared_ptr<arrow::Schema>> schemas;
  std::shared_ptr<arrow::Schema> unified;
  for (const auto& input : plan->inputs) {
    ARROW_ASSIGN_OR_RAISE(auto trees, Lower(input, storage));
    if (!trees.empty() && IsFunction(*trees[0])) {
      ARROW_ASSIGN_OR_RAISE(auto partitions, Publish(trees, storage));
      ARROW_ASSIGN_OR_RAISE(trees, ToTrees(partitions));
    }
    for (auto& tree : trees) {
      ARROW_ASSIGN_OR_RAISE(auto schema, OutputSchema(*tree));
      if (schema != nullptr) {
        ARROW_ASSIGN_OR_RAISE(unified, Unify(unified ? unified : schema, schema));
      }
      schemas.push_back(std::move(schema));
      all.push_back(std::move(tree));
    }
  }
  // What comes after sees one schema, whichever branch a partition is from.
  for (size_t i = 0; i < all.size(); ++i) {
    if (schemas[i] == nullptr || schemas[i]->Equals(*unified, /*check_metadata=*/true)) {
      continue;
    }
    all[i] = MakeNode(ToSchema(*schemas[i], *unified), {all[i]});
  }
  return all;
}

arrow::Result<Executor::Trees> Executor::LowerZip(const Plan& plan, Storage storage) {
  ARROW_ASSIGN_OR_RAISE(auto left, LowerTable(plan->inputs[0], storage, *plan));
  ARROW_ASSIGN_OR_RAISE(auto right, LowerTable(plan->inputs[1], storage, *plan));
  ARROW_RETURN_NOT_OK(CheckPairs(*plan, left.size(), right.size()));
  Trees trees;
  for (size_t i = 0; i < left.size(); ++i) {
    trees.push_back(MakeNode(ZipNode{}, {left[i], right[i]}));
  }
  return trees;
}

arrow::Result<Executor::Trees> Executor::LowerCache(const Plan& plan, Storage storage) {
  auto& cell = *plan->as<CacheNode>().cell;
  std::lock_guard lock(cell.filling());
  auto partitions = cell.Get();
  if (!partitions) {
    ARROW_ASSIGN_OR_RAISE(auto trees, Lower(plan->inputs[0], storage));
    ARROW_ASSIGN_OR_RAISE(partitions, Publish(trees, storage));
    cell.Set(*partitions);
  }
  return ToTrees(*partitions);
}

arrow::Result<std::vector<Partition>> Executor::Publish(const Trees& trees,
                                                        Storage storage) {
  std::vector<Partition> partitions;
  if (AllLiteral(trees)) {
    for (const auto& tree : trees) {
      partitions.push_back(tree->as<LiteralNode>().partitions[0]);
    }
    return partitions;
  }
  ARROW_ASSIGN_OR_RAISE(
      auto results, RunStage(trees, {.kind = SinkKind::kPublish, .storage = storage}));
  for (auto& result : results) {
    partitions.push_back(Partition({std::move(result.store)}, 0));
  }
  return partitions;
}

arrow::Result<Executor::Trees> Executor::Partitioned(const Trees& trees,
                                                     const SinkSpec& sink,
                                                     const AdaptSink& adapt) {
  ARROW_ASSIGN_OR_RAISE(auto results, RunStage(trees, sink, adapt));
  std::vector<std::shared_ptr<BlockStore>> stores;
  for (auto& result : results) stores.push_back(std::move(result.store));
  return ReadPartitions(stores, sink);
}

arrow::Result<Executor::Trees> Executor::ReadPartitions(
    const std::vector<std::shared_ptr<BlockStore>>& stores, const SinkSpec& sink) {
  auto partitions = Partition::ForAll(stores, sink.num_partitions);
  ARROW_ASSIGN_OR_RAISE(auto schema, UnifySchemas(partitions));
  if (schema == nullptr) return ToTrees(partitions, schema);
  // A partition that got no row is an empty table, not nothing.
  for (auto& partition : partitions) {
    ARROW_ASSIGN_OR_RAISE(auto own, partition.schema());
    if (own == nullptr) partition = Partition::FromPayload(Payload::Table(schema, {}));
  }
  return ToTrees(partitions, schema);
}

arrow::Result<std::vector<FragmentResult>> Executor::RunStage(const Trees& trees,
                                                              const SinkSpec& sink,
                                                              const AdaptSink& adapt) {
  if (trees.empty()) return std::vector<FragmentResult>{};
  const bool here = NeedsPythonThreads(*trees[0]);
  const bool python = NeedsPython(*trees[0]) && !here;
  const auto& options = context_.options_;
  Runner* runner = here     ? options.python_thread_runner.get()
                   : python ? options.python_runner.get()
                            : context_.thread_runner_.get();
  if (runner == nullptr) {
    return arrow::Status::NotImplemented(
        "This Context has no runner for Python functions: use the Python package");
  }
  std::vector<Fragment> fragments;
  for (size_t i = 0; i < trees.size(); ++i) {
    fragments.push_back(
        {.index = static_cast<int32_t>(i), .root = trees[i], .sink = sink});
    if (python) fragments[i].sink.storage = Storage::kShared;
    if (adapt) adapt(i, fragments[i].sink);
  }
  StageProfile stage{.label = StageLabel(*trees[0], sink), .runner = runner->name()};
  stage.num_fragments = static_cast<int>(fragments.size());
  context_.progress_.StartStage(stage.label, stage.num_fragments);
  stage.begin_ns = SteadyNanoseconds();
  stage.notes = std::exchange(notes_, {});
  const int64_t spilled_before = context_.budget_->spilled_bytes();
  ARROW_ASSIGN_OR_RAISE(auto results,
                        runner->Run(fragments, context_.storage(), stop_,
                                    [this] { context_.progress_.FinishFragment(); }));
  stage.wall_seconds = static_cast<double>(SteadyNanoseconds() - stage.begin_ns) / 1e9;
  stage.spilled_bytes = context_.budget_->spilled_bytes() - spilled_before;
  for (const auto& result : results) {
    stage.metrics.Merge(result.metrics);
    stage.spans.push_back(result.span);
  }
  profile_.stages.push_back(std::move(stage));
  return results;
}

}  // namespace xshards
