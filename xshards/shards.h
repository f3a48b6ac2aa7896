// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arrow/result.h>
#include <arrow/table.h>
#include <arrow/util/cancel.h>

#include "xshards/context.h"
#include "xshards/export.h"
#include "xshards/expression/expression.h"
#include "xshards/function/native_function.h"
#include "xshards/plan/plan.h"

namespace xshards {

/// How to draw rows; see SampleNode.
struct SampleOptions {
  int64_t count = -1;  // number of rows; -1: use `share`
  double share = 0;    // of all rows, rounded
  bool replace = false;
  std::string weights;  // a column; empty: all rows have the same weight
  uint64_t seed = 0;
};

/// A lazy partitioned dataset: a plan and the Context to run it.
///
/// A value: copying is cheap and methods return new objects. Methods that build (Filter,
/// Select, ...) only add a node and never fail; actions (ToTable, Count, ...) run the
/// plan and return a Result. Errors such as an unknown column are reported by schema()
/// and by every action. Thread-safe.
class XSHARDS_EXPORT XShards {
 public:
  XShards(std::shared_ptr<Context> context, Plan plan);
  XShards(const XShards&) = default;
  XShards(XShards&&) noexcept = default;
  /// The old plan is destroyed before its Context, which owns its data.
  XShards& operator=(XShards other) noexcept;
  ~XShards() = default;

  /// Wrap batches in memory; one partition each, zero copy.
  static arrow::Result<XShards> FromBatches(std::shared_ptr<Context> context,
                                            arrow::RecordBatchVector batches);
  /// Split a table into `num_partitions` slices whose sizes differ by at most one row (0:
  /// as many as the Context has cores); zero copy.
  static arrow::Result<XShards> FromTable(std::shared_ptr<Context> context,
                                          const std::shared_ptr<arrow::Table>& table,
                                          int num_partitions = 0);
  /// Copy payloads to segments that worker processes can map; `payloads[i]` are the
  /// payloads of partition i.
  static arrow::Result<XShards> FromPayloads(
      std::shared_ptr<Context> context,
      const std::vector<std::vector<Payload>>& payloads);
  static XShards FromPartitions(std::shared_ptr<Context> context,
                                std::vector<Partition> partitions,
                                std::shared_ptr<arrow::Schema> schema);

  const Plan& plan() const { return plan_; }
  /// An error from building the plan, which every action reports.
  const arrow::Status& status() const { return status_; }
  const std::shared_ptr<Context>& context() const { return context_; }

  // Row by row; no rows move between partitions.
  XShards Select(std::vector<std::string> columns) const;
  XShards Select(std::initializer_list<std::string> columns) const {
    return Select(std::vector<std::string>(columns));
  }
  XShards Select(std::vector<std::pair<std::string, Expression>> columns) const;
  XShards Filter(Expression predicate) const;
  /// Add a column, or replace the one of that name in its place.
  XShards WithColumn(const std::string& name, Expression value) const;
  /// The same for several, all computed from the columns as they were before.
  XShards WithColumns(std::vector<std::pair<std::string, Expression>> columns) const;
  XShards Drop(const std::vector<std::string>& columns) const;
  /// One column, for Unique() and the like.
  XShards operator[](const std::string& column) const;

  /// Call a function on each partition as a whole. See MakeNativeFunction for what it may
  /// take and return. An unregistered callable keeps its stage in this process.
  template <typename F>
    requires(!std::is_convertible_v<F, std::string>)
  XShards TransformShard(F function) const {
    return MapNative({.name = "",
                      .function = std::make_shared<const NativeFunction>(
                          MakeNativeFunction(std::move(function)))});
  }
  /// The same for a function registered with XSHARDS_FUNCTION.
  XShards TransformShard(const std::string& registered_name) const;
  /// Call a Python function, given as its pickle; the output is kept (see Cache) so that
  /// the function runs once per partition.
  XShards TransformPython(MapPythonNode function) const;
  /// The same for partition i of these and of others, together.
  XShards TransformPython(MapPythonNode function, const XShards& other) const;

  // Across partitions.
  /// Partition rows by the hash of their keys, keeping their order (0: keep the number of
  /// partitions).
  XShards PartitionBy(std::vector<std::string> columns, int num_partitions = 0) const;
  /// Partition rows by ranges of their keys, about equally many in each: the keys of
  /// partition i are smaller than those of partition i + 1, missing keys last. Keeps the
  /// order of the rows of a partition (0: keep the number of partitions).
  XShards PartitionByRange(std::vector<std::string> columns,
                           int num_partitions = 0) const;
  /// Balance rows over partitions, to within one, keeping their order.
  XShards Repartition(int num_partitions) const;
  /// The order of groups is unspecified, or, if `ordered`, that of their first rows.
  XShards GroupBy(std::vector<std::string> keys,
                  std::vector<xshards::Aggregate> aggregates, bool ordered = false) const;
  XShards Join(const XShards& right, JoinNode join) const;
  XShards Sort(std::vector<SortKey> keys, bool nulls_first = false) const;
  /// Rows drawn at random, in order: the same for a seed, whatever the partitions and
  /// threads.
  XShards Sample(SampleOptions options) const;
  /// Two parts, of which the second has `share` of the rows at random; both in order.
  std::pair<XShards, XShards> Split(double share, uint64_t seed) const;
  /// Drop rows with fewer than `thresh` non-null values in `columns` (none: all columns);
  /// -1: with any null. Runs the plan if the columns are not known otherwise.
  arrow::Result<XShards> DropNull(std::vector<std::string> columns = {},
                                  int64_t thresh = -1) const;
  /// Rename some columns, which keep their position. Runs the plan if the columns are not
  /// known otherwise.
  arrow::Result<XShards> Rename(const std::map<std::string, std::string>& names) const;
  /// Replace missing values in `columns` by a value.
  XShards FillNull(const std::vector<std::string>& columns,
                   const Expression& value) const;
  /// Convert columns to other types. Actions fail if a value does not fit.
  XShards Cast(
      const std::map<std::string, std::shared_ptr<arrow::DataType>>& types) const;
  /// The distinct rows of `columns` (none: of all), the most frequent first, with their
  /// frequency in a column `count`. Equally frequent ones are in order of appearance.
  arrow::Result<XShards> ValueCounts(std::vector<std::string> columns = {},
                                     const std::string& count = "count") const;
  /// The first rows, in order.
  XShards Head(int64_t count) const;
  XShards Union(const XShards& other) const;
  XShards Zip(const XShards& other) const;
  /// Distinct rows, the first of each, in order.
  XShards Distinct() const;
  /// Of rows that are equal in `columns` (none: in all columns), keep one or none, in
  /// order.
  arrow::Result<XShards> DropDuplicates(std::vector<std::string> columns,
                                        Keep keep = Keep::kFirst) const;

  /// Keep the partitions once they have been computed. Returns the shards to use from now
  /// on.
  XShards Cache() const;
  /// Drop the partitions of a Cache; it is filled again when needed. No effect on other
  /// shards.
  void Uncache() const;
  bool is_cached() const;

  /// The schema as far as it is known without running the plan, else nullptr.
  arrow::Result<std::shared_ptr<arrow::Schema>> known_schema() const;
  /// The schema; runs the plan if it is not known otherwise.
  arrow::Result<std::shared_ptr<arrow::Schema>> schema(
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  /// Whether it can give nothing but Tables, as far as that is known without running.
  bool gives_tables() const;
  /// The number of partitions as far as it is known without running, else -1.
  int known_num_partitions() const;
  /// The number of partitions; runs the plan if it is not known otherwise.
  arrow::Result<int> num_partitions(
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  /// The plan before and after optimisation, with its stages.
  arrow::Result<std::string> Explain() const;
  /// Run the plan and describe the stages that ran, with the rows, bytes and time of
  /// each.
  arrow::Result<std::string> ExplainAnalyze(
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;

  // Actions. Each takes a token that stops it.
  arrow::Result<std::vector<Partition>> Collect(
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  /// The first partitions: enough for `num_shards` shards, perhaps a few more.
  arrow::Result<std::vector<Partition>> CollectFirst(
      int64_t num_shards,
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  arrow::Result<std::shared_ptr<arrow::Table>> ToTable(
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  arrow::Result<int64_t> Count(
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  /// The distinct values of the one column, in order of first appearance.
  arrow::Result<std::shared_ptr<arrow::Array>> Unique(
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  /// The number of distinct values of each column; missing ones do not count.
  arrow::Result<std::map<std::string, int64_t>> CountDistinct(
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  /// The result of one of GroupBy's functions ("sum", "median", ...) over all values of a
  /// column: null if it is missing.
  arrow::Result<std::shared_ptr<arrow::Scalar>> Reduce(
      const std::string& function, const std::string& column,
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  arrow::Result<std::shared_ptr<arrow::Scalar>> Sum(const std::string& column) const;
  arrow::Result<std::shared_ptr<arrow::Scalar>> Mean(const std::string& column) const;
  arrow::Result<std::shared_ptr<arrow::Scalar>> Min(const std::string& column) const;
  arrow::Result<std::shared_ptr<arrow::Scalar>> Max(const std::string& column) const;
  /// Of a sample, as pandas' std.
  arrow::Result<std::shared_ptr<arrow::Scalar>> StdDev(const std::string& column) const;
  /// pandas' describe of numeric columns (none: of all): a row for each of count, mean,
  /// std, min, 25%, 50%, 75% and max, named in the first column, `statistic`. The
  /// quartiles are exact, so the values of a column are held in memory.
  arrow::Result<std::shared_ptr<arrow::Table>> Describe(
      std::vector<std::string> columns = {},
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  arrow::Result<std::vector<std::string>> Write(
      const std::string& directory, const std::string& format,
      const WriteOptions& options = {},
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  arrow::Status WriteCsv(const std::string& directory) const;
  arrow::Status WriteJson(const std::string& directory) const;
  arrow::Status WriteParquet(const std::string& directory) const;
  arrow::Status WriteIpc(const std::string& directory) const;

 private:
  XShards MapNative(MapNativeNode node) const;
  XShards With(NodeVariant node) const;
  XShards With(NodeVariant node, const XShards& other) const;
  XShards WithStatus(arrow::Status status) const;

  std::shared_ptr<Context> context_;
  Plan plan_;
  arrow::Status status_;
};

}  // namespace xshards
