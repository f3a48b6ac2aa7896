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

/// Which of equal rows to keep.
enum class Keep : uint8_t { kFirst, kLast, kNone };

/// How to draw rows; see SampleNode.
struct SampleOptions {
  int64_t count = -1;  // how many; -1: as many as `share` says
  double share = 0;    // of all rows, rounded
  bool replace = false;
  std::string weights;  // a column; empty: all rows weigh the same
  uint64_t seed = 0;
};

/// A partitioned data set that is described, not held: a plan and the Context to run it.
///
/// A value: copying is cheap and methods return new objects. Methods that build (Filter,
/// Select, ...) only add a node and never fail; actions (ToTable, Count, ...) run the
/// plan and return a Result. Mistakes such as an unknown column are reported by schema()
/// and by every action. Thread-safe.
class XSHARDS_EXPORT XShards {
 public:
  XShards(std::shared_ptr<Context> context, Plan plan);
  XShards(const XShards&) = default;
  XShards(XShards&&) noexcept = default;
  /// The old plan goes before its Context does, which its data lives in.
  XShards& operator=(XShards other) noexcept;
  ~XShards() = default;

  /// Wrap batches in memory; one partition each, zero copy.
  static arrow::Result<XShards> FromBatches(std::shared_ptr<Context> context,
                                            arrow::RecordBatchVector batches);
  /// Cut a table into `num_partitions` slices whose sizes differ by at most one row
  /// (0: as many as the Context has cores); zero copy.
  static arrow::Result<XShards> FromTable(std::shared_ptr<Context> context,
                                          const std::shared_ptr<arrow::Table>& table,
                                          int num_partitions = 0);
  /// Copy payloads to segments that worker processes can map; `payloads[i]` is what
  /// partition i holds.
  static arrow::Result<XShards> FromPayloads(
      std::shared_ptr<Context> context,
      const std::vector<std::vector<Payload>>& payloads);
  static XShards FromPartitions(std::shared_ptr<Context> context,
                                std::vector<Partition> partitions,
                                std::shared_ptr<arrow::Schema> schema);

  const Plan& plan() const { return plan_; }
  /// A mistake made in building, which every action reports.
  const arrow::Status& status() const { return status_; }
  const std::shared_ptr<Context>& context() const { return context_; }

  // Row by row; nothing moves between partitions.
  XShards Select(std::vector<std::string> columns) const;
  XShards Select(std::initializer_list<std::string> columns) const {
    return Select(std::vector<std::string>(columns));
  }
  XShards Select(std::vector<std::pair<std::string, Expression>> columns) const;
  XShards Filter(Expression predicate) const;
  /// Add a column, or replace the one of that name in its place.
  XShards WithColumn(const std::string& name, Expression value) const;
  XShards Drop(const std::vector<std::string>& columns) const;
  /// One column, for Unique() and the like.
  XShards operator[](const std::string& column) const;

  /// Call a function on each whole partition. See MakeNativeFunction for what it may
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
  /// the function runs once a partition.
  XShards TransformPython(MapPythonNode function) const;
  /// The same for partition i of these and of others, together.
  XShards TransformPython(MapPythonNode function, const XShards& other) const;

  // Across partitions.
  /// Bring rows of equal keys together, keeping their order (0: keep the number of
  /// partitions).
  XShards PartitionBy(std::vector<std::string> columns, int num_partitions = 0) const;
  /// Bring rows together by ranges of their keys, about equally many in each: the keys of
  /// partition i are smaller than those of partition i + 1, missing keys last. Keeps the
  /// order of the rows of a partition (0: keep the number of partitions).
  XShards PartitionByRange(std::vector<std::string> columns,
                           int num_partitions = 0) const;
  /// Balance rows over partitions, to within one, keeping their order.
  XShards Repartition(int num_partitions) const;
  /// Groups come in any order, or, if `ordered`, in that of their first rows.
  XShards GroupBy(std::vector<std::string> keys,
                  std::vector<xshards::Aggregate> aggregates, bool ordered = false) const;
  XShards Join(const XShards& right, JoinNode join) const;
  XShards Sort(std::vector<SortKey> keys, bool nulls_first = false) const;
  /// Rows drawn at random, in order: the same for a seed, whatever the partitions and
  /// threads.
  XShards Sample(SampleOptions options) const;
  /// Two parts, of which the second has `share` of the rows at random; both in order.
  std::pair<XShards, XShards> Split(double share, uint64_t seed) const;
  /// Drop rows with fewer than `thresh` values that are there among `columns` (none:
  /// all); -1: with fewer than all. Runs the plan where only that tells the columns.
  arrow::Result<XShards> DropNull(std::vector<std::string> columns = {},
                                  int64_t thresh = -1) const;
  /// Other names for some columns, which keep their place. Runs the plan where only that
  /// tells the columns.
  arrow::Result<XShards> Rename(const std::map<std::string, std::string>& names) const;
  /// Put a value in the place of missing ones in `columns`.
  XShards FillNull(const std::vector<std::string>& columns,
                   const Expression& value) const;
  /// Convert columns to other types. Actions fail where a value does not fit.
  XShards Cast(
      const std::map<std::string, std::shared_ptr<arrow::DataType>>& types) const;
  /// Rows that are equal in `columns` (none: in all), the most frequent first, with how
  /// many there are in a column `count`. As frequent ones come in order of appearance.
  arrow::Result<XShards> ValueCounts(std::vector<std::string> columns = {},
                                     const std::string& count = "count") const;
  /// The first rows, in order.
  XShards Head(int64_t count) const;
  XShards Union(const XShards& other) const;
  XShards Zip(const XShards& other) const;
  /// Distinct rows, the first of each, in order.
  XShards Distinct() const;
  /// Of rows that are equal in `columns` (none: in all), keep one or none, in order.
  arrow::Result<XShards> DropDuplicates(std::vector<std::string> columns,
                                        Keep keep = Keep::kFirst) const;

  /// Keep the partitions once they have been made. Returns the shards to go on with.
  XShards Cache() const;
  /// Drop what a Cache keeps; it fills again when needed. No effect on other shards.
  void Uncache() const;
  bool is_cached() const;

  /// The schema as far as it is known without running the plan, else nullptr.
  arrow::Result<std::shared_ptr<arrow::Schema>> known_schema() const;
  /// The schema; runs the plan where only running tells.
  arrow::Result<std::shared_ptr<arrow::Schema>> schema(
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  /// The number of partitions; runs the plan where only running tells.
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
  /// The first partitions: as many as hold `num_shards` shards, or a few more.
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
  /// How many different values each column has; missing ones do not count.
  arrow::Result<std::map<std::string, int64_t>> CountDistinct(
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  /// What one of GroupBy's functions ("sum", "median", ...) makes of all values of a
  /// column: null where it is missing.
  arrow::Result<std::shared_ptr<arrow::Scalar>> Reduce(
      const std::string& function, const std::string& column,
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  arrow::Result<std::shared_ptr<arrow::Scalar>> Sum(const std::string& column) const;
  arrow::Result<std::shared_ptr<arrow::Scalar>> Mean(const std::string& column) const;
  arrow::Result<std::shared_ptr<arrow::Scalar>> Min(const std::string& column) const;
  arrow::Result<std::shared_ptr<arrow::Scalar>> Max(const std::string& column) const;
  /// Of a sample, as pandas' std.
  arrow::Result<std::shared_ptr<arrow::Scalar>> StdDev(const std::string& column) const;
  /// What pandas' describe says of columns of numbers (none: of all): a row for each of
  /// count, mean, std, min, 25%, 50%, 75% and max, which the first column, `statistic`,
  /// names. The quartiles are exact, so that the values of a column are held.
  arrow::Result<std::shared_ptr<arrow::Table>> Describe(
      std::vector<std::string> columns = {},
      const arrow::StopToken& stop = arrow::StopToken::Unstoppable()) const;
  arrow::Result<std::vector<std::string>> Write(
      const std::string& directory, const std::string& format,
      const std::map<std::string, std::string>& options = {},
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
