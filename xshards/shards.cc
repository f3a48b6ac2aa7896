// SPDX-License-Identifier: Apache-2.0
#include "xshards/shards.h"

#include <algorithm>

#include <arrow/array/concatenate.h>

#include "xshards/plan/result_store.h"
#include "xshards/types/common_type.h"
#include "xshards/types/dictionary_encoding.h"

namespace xshards {

namespace {

/// The common type in which decimal columns of different scales are compared, since
/// decimals are hashed by their digits; nullptr if no cast is needed.
std::shared_ptr<arrow::DataType> CommonDecimal(
    const std::shared_ptr<arrow::Field>& left,
    const std::shared_ptr<arrow::Field>& right) {
  if (left == nullptr || right == nullptr || left->type()->Equals(right->type()) ||
      !arrow::is_decimal(left->type()->id()) || !arrow::is_decimal(right->type()->id())) {
    return nullptr;
  }
  return DecimalCommonType(*left->type(), *right->type());
}

}  // namespace

XShards::XShards(std::shared_ptr<Context> context, Plan plan)
    : context_(std::move(context)), plan_(std::move(plan)) {}

arrow::Result<XShards> XShards::FromBatches(std::shared_ptr<Context> context,
                                            arrow::RecordBatchVector batches) {
  if (batches.empty()) {
    return arrow::Status::Invalid(
        "FromBatches needs at least one batch: an empty one "
        "carries the schema");
  }
  std::vector<Partition> partitions;
  for (auto& batch : batches) {
    auto schema = batch->schema();
    partitions.push_back(
        Partition::FromPayload(Payload::Table(std::move(schema), {std::move(batch)})));
  }
  ARROW_ASSIGN_OR_RAISE(auto schema, UnifySchemas(partitions));
  return FromPartitions(std::move(context), std::move(partitions), std::move(schema));
}

arrow::Result<XShards> XShards::FromTable(std::shared_ptr<Context> context,
                                          const std::shared_ptr<arrow::Table>& table,
                                          int num_partitions) {
  const int64_t count = num_partitions > 0 ? num_partitions : context->cores();
  const int64_t rows = table->num_rows();
  std::vector<Partition> partitions;
  for (int64_t i = 0; i < count; ++i) {
    // The first `rows % count` slices have one more row, as in numpy.array_split.
    const int64_t begin = rows / count * i + std::min(i, rows % count);
    const int64_t length = rows / count + (i < rows % count ? 1 : 0);
    arrow::TableBatchReader reader(table->Slice(begin, length));
    ARROW_ASSIGN_OR_RAISE(auto batches, reader.ToRecordBatches());
    partitions.push_back(
        Partition::FromPayload(Payload::Table(table->schema(), std::move(batches))));
  }
  return FromPartitions(std::move(context), std::move(partitions), table->schema());
}

arrow::Result<XShards> XShards::FromPayloads(
    std::shared_ptr<Context> context, const std::vector<std::vector<Payload>>& payloads) {
  // One segment for all, however many partitions there are.
  BlockWriter writer(context->storage(), Storage::kShared);
  for (size_t i = 0; i < payloads.size(); ++i) {
    for (const Payload& payload : payloads[i]) {
      for (const auto& batch : payload.batches()) {
        ARROW_RETURN_NOT_OK(writer.Append(static_cast<int32_t>(i), batch));
      }
      if (!payload.batches().empty()) continue;
      ARROW_ASSIGN_OR_RAISE(auto empty, arrow::RecordBatch::MakeEmpty(payload.schema()));
      ARROW_RETURN_NOT_OK(writer.Append(static_cast<int32_t>(i), std::move(empty)));
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto store, writer.Finish());
  auto partitions = Partition::ForAll({store}, static_cast<int32_t>(payloads.size()));
  ARROW_ASSIGN_OR_RAISE(auto schema, UnifySchemas(partitions));
  return FromPartitions(std::move(context), std::move(partitions), std::move(schema));
}

XShards XShards::FromPartitions(std::shared_ptr<Context> context,
                                std::vector<Partition> partitions,
                                std::shared_ptr<arrow::Schema> schema) {
  return {std::move(context), MakeNode(LiteralNode{.schema = std::move(schema),
                                                   .partitions = std::move(partitions)})};
}

XShards& XShards::operator=(XShards other) noexcept {
  std::swap(context_, other.context_);
  std::swap(plan_, other.plan_);
  std::swap(status_, other.status_);
  return *this;
}

XShards XShards::WithStatus(arrow::Status status) const {
  XShards shards = *this;
  if (shards.status_.ok()) shards.status_ = std::move(status);
  return shards;
}

XShards XShards::With(NodeVariant node) const {
  return XShards(context_, MakeNode(std::move(node), {plan_})).WithStatus(status_);
}

XShards XShards::With(NodeVariant node, const XShards& other) const {
  if (other.context_ != context_) {
    // The other side's plan is dropped: its data lives only as long as its own Context.
    return WithStatus(
        arrow::Status::Invalid("These shards belong to different Contexts; create both "
                               "with the same one (in Python, "
                               "after the last xshards.init())"));
  }
  return XShards(context_, MakeNode(std::move(node), {plan_, other.plan_}))
      .WithStatus(status_)
      .WithStatus(other.status_);
}

XShards XShards::Select(std::vector<std::string> columns) const {
  ProjectNode project;
  for (const auto& column : columns) project.expressions.push_back(col(column));
  project.names = std::move(columns);
  return With(std::move(project));
}

XShards XShards::Select(std::vector<std::pair<std::string, Expression>> columns) const {
  ProjectNode project;
  for (auto& [name, expression] : columns) {
    project.names.push_back(std::move(name));
    project.expressions.push_back(std::move(expression));
  }
  return With(std::move(project));
}

XShards XShards::Filter(Expression predicate) const {
  return With(FilterNode{std::move(predicate)});
}

XShards XShards::WithColumn(const std::string& name, Expression value) const {
  return WithColumns({{name, std::move(value)}});
}

XShards XShards::WithColumns(
    std::vector<std::pair<std::string, Expression>> columns) const {
  ProjectNode project;
  project.keep_input = true;
  for (auto& [name, value] : columns) {
    project.names.push_back(std::move(name));
    project.expressions.push_back(std::move(value));
  }
  return With(std::move(project));
}

XShards XShards::Drop(const std::vector<std::string>& columns) const {
  ProjectNode project;
  project.keep_input = true;
  project.drop = columns;
  return With(std::move(project));
}

XShards XShards::operator[](const std::string& column) const {
  return Select(std::vector<std::string>{column});
}

XShards XShards::TransformShard(const std::string& registered_name) const {
  return MapNative({.name = registered_name});
}

XShards XShards::MapNative(MapNativeNode node) const { return With(std::move(node)); }

XShards XShards::TransformPython(MapPythonNode function) const {
  return With(std::move(function)).Cache();
}

XShards XShards::TransformPython(MapPythonNode function, const XShards& other) const {
  return With(std::move(function), other).Cache();
}

XShards XShards::PartitionBy(std::vector<std::string> columns, int num_partitions) const {
  return With(ExchangeNode{.mode = ExchangeMode::kHash,
                           .keys = std::move(columns),
                           .num_partitions = num_partitions});
}

XShards XShards::PartitionByRange(std::vector<std::string> columns,
                                  int num_partitions) const {
  return With(ExchangeNode{.mode = ExchangeMode::kRange,
                           .keys = std::move(columns),
                           .num_partitions = num_partitions});
}

XShards XShards::Repartition(int num_partitions) const {
  return With(
      ExchangeNode{.mode = ExchangeMode::kRoundRobin, .num_partitions = num_partitions});
}

XShards XShards::GroupBy(std::vector<std::string> keys,
                         std::vector<xshards::Aggregate> aggregates, bool ordered) const {
  if (ordered && aggregates.empty() && !keys.empty()) {
    return Select(std::move(keys)).Distinct();
  }
  AggregateNode node;
  node.ordered = ordered;
  node.keys = std::move(keys);
  node.aggregates = std::move(aggregates);
  return With(std::move(node));
}

XShards XShards::Join(const XShards& right, JoinNode join) const {
  const auto own = known_schema().ValueOr(nullptr);
  const auto other = right.known_schema().ValueOr(nullptr);
  XShards left_side = *this;
  XShards right_side = right;
  const size_t num_keys = std::min(join.left_keys.size(), join.right_keys.size());
  for (size_t i = 0; i < num_keys && own != nullptr && other != nullptr; ++i) {
    const auto& left_key = join.left_keys[i];
    const auto& right_key = join.right_keys[i];
    const auto type =
        CommonDecimal(own->GetFieldByName(left_key), other->GetFieldByName(right_key));
    if (type == nullptr) continue;
    left_side = left_side.WithColumn(left_key, col(left_key).Cast(type));
    right_side = right_side.WithColumn(right_key, col(right_key).Cast(type));
  }
  return left_side.With(std::move(join), right_side);
}

XShards XShards::Sort(std::vector<SortKey> keys, bool nulls_first) const {
  return With(SortNode{.keys = std::move(keys), .nulls_first = nulls_first});
}

XShards XShards::Sample(SampleOptions options) const {
  SampleNode node;
  node.count = options.count;
  node.share = options.share;
  node.replace = options.replace;
  node.weights = std::move(options.weights);
  node.seed = options.seed;
  return With(std::move(node));
}

std::pair<XShards, XShards> XShards::Split(double share, uint64_t seed) const {
  SampleNode node;
  node.share = share;
  node.seed = seed;
  auto drawn = With(node);
  node.complement = true;
  return {With(std::move(node)), std::move(drawn)};
}

arrow::Result<XShards> XShards::DropNull(std::vector<std::string> columns,
                                         int64_t thresh) const {
  if (columns.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto known, schema());
    columns = known->field_names();
  }
  if (thresh < 0) thresh = static_cast<int64_t>(columns.size());
  Expression there = lit(int64_t{0});
  for (const auto& column : columns) {
    there =
        there + Expression::Call("choose", {Expression::Call("is_null", {col(column)}),
                                            lit(int64_t{0}), lit(int64_t{1})});
  }
  return columns.empty() ? *this : Filter(there >= lit(thresh));
}

arrow::Result<XShards> XShards::Rename(
    const std::map<std::string, std::string>& names) const {
  ARROW_ASSIGN_OR_RAISE(const auto known, schema());
  for (const auto& [name, renamed] : names) {
    if (known->GetFieldIndex(name) < 0) {
      return arrow::Status::KeyError("There is no column '", name, "' to rename to '",
                                     renamed, "'");
    }
  }
  std::vector<std::pair<std::string, Expression>> columns;
  for (const auto& name : known->field_names()) {
    const auto renamed = names.find(name);
    columns.emplace_back(renamed == names.end() ? name : renamed->second, col(name));
  }
  return Select(std::move(columns));
}

XShards XShards::FillNull(const std::vector<std::string>& columns,
                          const Expression& value) const {
  std::vector<std::pair<std::string, Expression>> filled;
  for (const auto& name : columns) {
    filled.emplace_back(name, Expression::Call("fill_missing", {col(name), value}));
  }
  return WithColumns(std::move(filled));
}

XShards XShards::Cast(
    const std::map<std::string, std::shared_ptr<arrow::DataType>>& types) const {
  std::vector<std::pair<std::string, Expression>> converted;
  for (const auto& [name, type] : types) {
    converted.emplace_back(name, col(name).Cast(type));
  }
  return WithColumns(std::move(converted));
}

arrow::Result<XShards> XShards::ValueCounts(std::vector<std::string> columns,
                                            const std::string& count) const {
  if (columns.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto known, schema());
    columns = known->field_names();
  }
  return GroupBy(std::move(columns), {{"count", kAllRows, count}}, /*ordered=*/true)
      .Sort({{count, /*ascending=*/false}});
}

XShards XShards::Head(int64_t count) const { return With(LimitNode{count}); }

XShards XShards::Union(const XShards& other) const { return With(UnionNode{}, other); }

XShards XShards::Zip(const XShards& other) const { return With(ZipNode{}, other); }

XShards XShards::Distinct() const { return With(DistinctNode{}); }

arrow::Result<XShards> XShards::DropDuplicates(std::vector<std::string> columns,
                                               Keep keep) const {
  ARROW_ASSIGN_OR_RAISE(const auto known, known_schema());
  // All columns named are all columns: no other ones are kept with the keys.
  if (known != nullptr) {
    const auto names = known->field_names();
    if (std::is_permutation(names.begin(), names.end(), columns.begin(), columns.end())) {
      columns.clear();
    }
  }
  return With(DistinctNode{.keys = std::move(columns), .keep = keep});
}

XShards XShards::Cache() const {
  if (plan_->kind() == NodeKind::kCache) return *this;
  return With(CacheNode{.id = context_->results().MakeId()});
}

void XShards::Uncache() const {
  if (plan_->kind() != NodeKind::kCache) return;
  context_->results().ClearPartitions(plan_->as<CacheNode>().id);
}

bool XShards::is_cached() const {
  return plan_->kind() == NodeKind::kCache &&
         context_->results().partitions(plan_->as<CacheNode>().id) != nullptr;
}

arrow::Result<std::shared_ptr<arrow::Schema>> XShards::known_schema() const {
  ARROW_RETURN_NOT_OK(status_);
  ARROW_ASSIGN_OR_RAISE(const auto known, OutputSchema(*context_->WithResults(plan_)));
  return DecodedSchema(known);
}

arrow::Result<std::shared_ptr<arrow::Schema>> XShards::schema(
    const arrow::StopToken& stop) const {
  ARROW_ASSIGN_OR_RAISE(auto known, known_schema());
  if (known != nullptr) return known;
  ARROW_ASSIGN_OR_RAISE(auto partitions, Collect(stop));
  ARROW_ASSIGN_OR_RAISE(const auto found, UnifySchemas(partitions));
  return DecodedSchema(found);
}

bool XShards::gives_tables() const { return GivesTables(*context_->WithResults(plan_)); }

int XShards::known_num_partitions() const {
  return NumPartitions(*context_->WithResults(plan_));
}

arrow::Result<int> XShards::num_partitions(const arrow::StopToken& stop) const {
  ARROW_RETURN_NOT_OK(status_);
  const int known = known_num_partitions();
  if (known >= 0) return known;
  ARROW_ASSIGN_OR_RAISE(auto partitions, Collect(stop));
  return static_cast<int>(partitions.size());
}

arrow::Result<std::string> XShards::Explain() const {
  ARROW_RETURN_NOT_OK(status_);
  return context_->Explain(plan_);
}

arrow::Result<std::string> XShards::ExplainAnalyze(const arrow::StopToken& stop) const {
  ARROW_RETURN_NOT_OK(status_);
  return context_->ExplainAnalyze(plan_, stop);
}

arrow::Result<std::vector<Partition>> XShards::Collect(
    const arrow::StopToken& stop) const {
  ARROW_RETURN_NOT_OK(status_);
  return context_->Execute(plan_, stop);
}

arrow::Result<std::vector<Partition>> XShards::CollectFirst(
    int64_t num_shards, const arrow::StopToken& stop) const {
  return context_->ExecuteFirst(plan_, num_shards, stop);
}

arrow::Result<std::shared_ptr<arrow::Table>> XShards::ToTable(
    const arrow::StopToken& stop) const {
  ARROW_ASSIGN_OR_RAISE(auto partitions, Collect(stop));
  ARROW_ASSIGN_OR_RAISE(auto schema, UnifySchemas(partitions));
  schema = DecodedSchema(schema);
  if (schema == nullptr) {
    return arrow::Status::TypeError(
        "Expected DataFrame shards to make a table; these hold "
        "tensors, objects or nothing");
  }
  arrow::RecordBatchVector batches;
  for (const auto& partition : partitions) {
    ARROW_ASSIGN_OR_RAISE(auto stream, partition.Open(schema, context_->memory_pool()));
    ARROW_ASSIGN_OR_RAISE(auto more, ReadAll(*stream));
    for (auto& batch : more) {
      if (KindOf(*batch->schema()) != PayloadKind::kTable) {
        return arrow::Status::TypeError(
            "Expected DataFrame shards to make a table; one of "
            "these holds ",
            ToString(KindOf(*batch->schema())));
      }
      batches.push_back(std::move(batch));
    }
  }
  return arrow::Table::FromRecordBatches(schema, batches);
}

arrow::Result<int64_t> XShards::Count(const arrow::StopToken& stop) const {
  ARROW_RETURN_NOT_OK(status_);
  return context_->Count(plan_, stop);
}

arrow::Result<std::shared_ptr<arrow::Array>> XShards::Unique(
    const arrow::StopToken& stop) const {
  ARROW_ASSIGN_OR_RAISE(auto table, Distinct().ToTable(stop));
  if (table->num_columns() != 1) {
    return arrow::Status::Invalid(
        "Unique() works on one column, as in shards[\"name\"]; "
        "these have ",
        table->num_columns());
  }
  const auto& chunks = table->column(0)->chunks();
  if (chunks.size() == 1) return chunks[0];
  if (chunks.empty()) return arrow::MakeEmptyArray(table->column(0)->type());
  return arrow::Concatenate(chunks, context_->memory_pool());
}

arrow::Result<std::vector<std::string>> XShards::Write(
    const std::string& directory, const std::string& format, const WriteOptions& options,
    const arrow::StopToken& stop) const {
  ARROW_RETURN_NOT_OK(status_);
  return context_->Write(plan_, directory, format, options, stop);
}

arrow::Status XShards::WriteCsv(const std::string& directory) const {
  return Write(directory, "csv").status();
}
arrow::Status XShards::WriteJson(const std::string& directory) const {
  return Write(directory, "json").status();
}
arrow::Status XShards::WriteParquet(const std::string& directory) const {
  return Write(directory, "parquet").status();
}
arrow::Status XShards::WriteIpc(const std::string& directory) const {
  return Write(directory, "ipc").status();
}

}  // namespace xshards
