// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <arrow/result.h>
#include <arrow/type.h>

#include "xshards/export.h"
#include "xshards/expression/expression.h"
#include "xshards/function/native_function.h"
#include "xshards/plan/format_options.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/result_id.h"
#include "xshards/plan/sampling.h"
#include "xshards/storage/partition.h"
#include "xshards/type_fwd.h"

namespace xshards {

// Plan nodes are plain data. In a plan a node describes all partitions; in a fragment
// (see fragment.h) the same node describes its work on one partition.

/// A unit of a file that becomes one partition.
struct Split {
  std::string path;
  int64_t begin = 0;  // in bytes for text formats, in row groups for Parquet and IPC
  int64_t end = 0;
  int64_t num_bytes = 0;
  int64_t num_rows = -1;  // -1: not known without reading
  /// The file when it was listed: its size, its mtime in nanoseconds since 1970 (-1:
  /// unknown), and a sampled hash (0: none).
  int64_t file_bytes = -1;
  int64_t file_modified = -1;
  uint64_t file_fingerprint = 0;
};

/// Reads files. `format` names the executor ("csv", "json", "parquet", "ipc") and
/// `options` are that format's.
struct ScanNode {
  std::string format;
  FormatOptionsPointer options;
  std::shared_ptr<arrow::Schema> schema;  // of the files
  std::vector<Split> splits;
  /// Columns that are in no file: the folders of its path name their values, as in
  /// year=2024/part-00000.csv.
  std::vector<std::string> folder_columns = {};
  /// Columns of text that all files hold as dictionaries: see KeepDictionaries.
  std::vector<std::string> encodable = {};
  /// Set by the optimizer: the columns to read (in the given order), rows that can be
  /// skipped (the filter stays in the plan: skipping is best effort), and the maximal
  /// number of rows needed of a partition.
  std::optional<std::vector<std::string>> columns;
  std::optional<Expression> filter;
  std::optional<int64_t> limit;
  /// Whether the types are inferred from samples, and the name of those of all values.
  bool inferred = false;
  ResultHandle found = {};
};

/// Existing data.
struct LiteralNode {
  std::shared_ptr<arrow::Schema> schema;  // nullptr for Tensors and Objects
  std::vector<Partition> partitions;
};

/// Computes columns. The output has only these; or, with `keep_input`, the input's
/// columns without `drop`, where a computed column replaces the one of its name in place
/// or is added at the end (so it can be built before the schema is known).
struct ProjectNode {
  std::vector<std::string> names;
  std::vector<Expression> expressions;
  bool keep_input = false;
  std::vector<std::string> drop;
};

/// Keeps the rows for which the predicate is true.
struct FilterNode {
  Expression predicate;
};

/// Calls a C++ function on each complete partition. A registered function is sent by
/// name; an unregistered one (`function` set, `name` empty) pins its fragments to this
/// process.
struct MapNativeNode {
  std::string name;
  std::shared_ptr<const NativeFunction> function;
};

/// Calls a Python function on each complete partition, or on batches of it. The engine
/// identifies the function by the content hash of `pickle`.
struct MapPythonNode {
  std::string function_hash;
  std::string label;   // the function's name, for display
  std::string format;  // "pandas", "arrow", "polars" or "numpy"
  std::shared_ptr<arrow::Buffer> pickle;
  int64_t batch_rows = 0;  // maximal rows of a batch; 0: the complete partition
  /// Run on this process's threads instead of in a worker process. Such a function need
  /// not be picklable.
  bool on_threads = false;
};

enum class ExchangeMode : uint8_t {
  kHash,        // rows of equal keys go to one partition
  kRange,       // rows go to partitions by key range, ranges being about equal in size
  kRoundRobin,  // partitions balanced to within one row, order kept
  kGather,      // all rows to one partition, in order
};

struct SortKey {
  std::string column;
  bool ascending = true;
};

/// Moves rows between partitions. Row order is kept among the rows of a destination.
struct ExchangeNode {
  ExchangeMode mode = ExchangeMode::kHash;
  std::vector<std::string> keys;  // kHash, kRange
  int32_t num_partitions = 0;     // 0: the number of the input
};

enum class AggregatePhase : uint8_t { kComplete, kPartial, kFinal };

/// In place of an aggregate's column: the rows themselves.
inline constexpr std::nullopt_t kAllRows = std::nullopt;

/// One aggregate: `function`, a name or alias in the table of plan/aggregate_functions.h
/// (sum, mean, avg, std, quantile(0.25), ...), over `column`, named `output`. count of
/// kAllRows counts rows; approx_count_distinct is a HyperLogLog, within about 1.6 %.
/// first and last skip missing values, first_value and last_value do not.
struct Aggregate {
  std::string function;
  std::optional<std::string> column;
  std::string output;
};

/// Groups by keys, missing keys being one group; without aggregates it outputs the
/// distinct keys. Groups are in order of first appearance within a partition.
struct AggregateNode {
  std::vector<std::string> keys;
  std::vector<Aggregate> aggregates;
  AggregatePhase phase = AggregatePhase::kComplete;
  std::shared_ptr<arrow::Schema> schema;  // kFinal: the output's; the input has states
  /// Gather to one partition, so that groups are in global order of first appearance.
  bool ordered = false;
};

/// Which of equal rows to keep; kNone keeps only rows that equal no other.
enum class Keep : uint8_t { kFirst, kLast, kNone };

enum class DistinctPhase : uint8_t {
  kWhole,  // of a whole plan
  // In a fragment, where groups are held: the distinct rows of a partition, of which some
  // may come twice; the distinct rows of those.
  kPartialRows,
  kFinalRows,
  // In a fragment, where rows stay in their partitions: keys and positions of the rows
  // that may be kept; the positions of those that are. See plan/distinct.h.
  kPartialPositions,
  kFinalPositions,
};

/// Keeps one row of each key, or the rows whose key no other row has; missing keys equal
/// each other. Rows stay as they are and in order.
struct DistinctNode {
  std::vector<std::string> keys;  // none: all columns; in a fragment, written out
  Keep keep = Keep::kFirst;
  DistinctPhase phase = DistinctPhase::kWhole;
  /// kFinalPositions: give the positions of the rows to drop instead.
  bool gives_dropped = false;
};

enum class JoinType : uint8_t {
  kInner,
  kLeft,
  kRight,
  kOuter,
  kSemi,   // rows of the left that have a match, each once
  kAnti,   // rows of the left that have no match
  kCross,  // all pairs of rows; no keys
};

/// Joins two inputs on equal keys; missing keys equal each other, as in pandas.
struct JoinNode {
  JoinType type = JoinType::kInner;
  std::vector<std::string> left_keys;
  std::vector<std::string> right_keys;
  std::string left_suffix = "_x";
  std::string right_suffix = "_y";
  /// Set in fragments. Build on the left input and probe with the right, instead of the
  /// reverse; not for kSemi and kAnti.
  bool build_left = false;
  /// Set in fragments that all have the same build rows, to a number above 0: those of
  /// one process share one table (see StageState). Build rows without a match are not
  /// output.
  int32_t shared_table = 0;
};

/// Sorts all rows, stable; partition i holds smaller keys than partition i + 1.
struct SortNode {
  std::vector<SortKey> keys;
  bool nulls_first = false;
  /// Keep only the first `limit` rows, in one partition. Set by the optimizer.
  std::optional<int64_t> limit;
};

/// Keeps the first rows, in partition order.
struct LimitNode {
  int64_t count = 0;
};

/// The concatenated partitions of all inputs. In a fragment: their rows.
struct UnionNode {};

/// Pairs partition i of two inputs. In a fragment: the columns of both.
struct ZipNode {};

/// The partitions of a Cache node; nullptr: not computed yet.
using CachedPartitions = std::shared_ptr<const std::vector<Partition>>;

/// Keeps its input's partitions once made, for as long as a plan has the id.
struct CacheNode {
  ResultHandle id;
  /// Set before a plan is looked at (WithResults): those that were there then.
  CachedPartitions partitions = {};
};

enum class SamplePhase : uint8_t {
  kWhole,       // of a whole plan
  kGiveKeys,    // in a fragment: the rows' keys in the order of drawing, by weight
  kSumWeights,  // in a fragment: the sum of its rows' weights
  kDraw,        // in a fragment: the rows that are drawn
};

/// Draws rows at random; they stay in order. The result depends only on the seed and the
/// global row numbers, not on partitions and threads.
struct SampleNode {
  int64_t count = -1;  // number of rows; -1: use `share`
  double share = 0;    // of all rows, rounded
  bool replace = false;
  bool complement = false;  // output the rows that are not drawn; not with `replace`
  std::string weights;      // a column of weights; empty: all rows have the same weight
  uint64_t seed = 0;

  // In a fragment; see plan/sampling.h.
  SamplePhase phase = SamplePhase::kWhole;
  int64_t num_rows = 0;   // of the dataset
  int64_t first_row = 0;  // the number of this partition's first row
  DrawOrder bound;        // without `replace`: the first that is not drawn
  /// With `replace` and weights: the range of this partition's rows in the sum of all.
  double weight_begin = 0;
  double weight_end = 0;
  double weight_total = 0;
};

/// Refers to a stage of a StageGraph. Its output is kept while a reference exists.
struct StageReference {
  int32_t number = 0;
};

/// Reads partitions from an earlier stage of the same StageGraph, in order. Never in a
/// fragment: once the stage has run, a Literal replaces it.
struct StageInputNode {
  std::shared_ptr<const StageReference> stage;
  std::vector<int32_t> partitions;
  std::shared_ptr<arrow::Schema> schema;  // nullptr if unknown before running
  /// Of these partitions; -1 until the stage has run.
  int64_t num_rows = -1;
  int64_t num_bytes = -1;
  /// Keep a function's own columns for each partition, even if other partitions have
  /// more.
  bool as_stored = false;
};

using NodeVariant =
    std::variant<ScanNode, LiteralNode, ProjectNode, FilterNode, MapNativeNode,
                 MapPythonNode, ExchangeNode, AggregateNode, JoinNode, SortNode,
                 LimitNode, UnionNode, ZipNode, CacheNode, SampleNode, StageInputNode,
                 DistinctNode>;

/// In the order of NodeVariant; part of the codec, so new kinds go at the end.
enum class NodeKind : uint8_t {
  kScan,
  kLiteral,
  kProject,
  kFilter,
  kMapNative,
  kMapPython,
  kExchange,
  kAggregate,
  kJoin,
  kSort,
  kLimit,
  kUnion,
  kZip,
  kCache,
  kSample,
  kStageInput,
  kDistinct,
};
inline constexpr int kNumNodeKinds = 17;

using SchemaResult = arrow::Result<std::shared_ptr<arrow::Schema>>;

/// One node of a plan. Build with MakeNode.
struct XSHARDS_EXPORT PlanNode {
  const NodeVariant node;
  const std::vector<Plan> inputs;
  const SchemaResult output_schema;  // OutputSchema() returns it

  NodeKind kind() const { return static_cast<NodeKind>(node.index()); }
  template <typename T>
  const T& as() const {
    return std::get<T>(node);
  }
};

/// Finds the output's schema from those of the inputs. A node without the inputs that it
/// needs, as operators take it, has an unknown one.
XSHARDS_EXPORT Plan MakeNode(NodeVariant node, std::vector<Plan> inputs = {});
/// A node that outputs the schema of `like`, which differs from it only in what it reads:
/// other splits of the same files, say.
XSHARDS_EXPORT Plan MakeNodeLike(const PlanNode& like, NodeVariant node,
                                 std::vector<Plan> inputs = {});
/// The same node over other inputs. Its schema is found again only if theirs differ.
XSHARDS_EXPORT Plan WithInputs(const Plan& plan, std::vector<Plan> inputs);

/// "Scan", "Project", ...
XSHARDS_EXPORT const char* ToString(NodeKind kind);
/// One line about a node without its inputs, for explain() and error messages.
XSHARDS_EXPORT std::string Describe(const PlanNode& node);

/// The schema of a plan's output, or nullptr if unknown before running (below a Python or
/// native function that has not run, Tensors and Objects). Finds unknown columns and type
/// errors in the part of the plan whose schema is known.
inline SchemaResult OutputSchema(const PlanNode& plan) { return plan.output_schema; }

/// Whether a plan's output is Tables only, as far as known without running: Python
/// functions, and existing data without a schema, may give anything.
XSHARDS_EXPORT bool GivesTables(const PlanNode& plan);

/// Expand a Project with keep_input by its input's schema.
XSHARDS_EXPORT arrow::Result<ProjectNode> ExpandProject(const ProjectNode& node,
                                                        const arrow::Schema& input);
/// The field of an aggregate's result, as in pandas. Invalid lists the known functions;
/// TypeError names the column and its type.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Field>> AggregateField(
    const Aggregate& aggregate, const arrow::Schema& input);
/// The columns of a join, as pandas names and orders them: keys of equal name once, other
/// columns of equal name with the suffixes; of a semi and an anti join, the left's.
/// KeyError names a missing key.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Schema>> JoinSchema(
    const JoinNode& node, const arrow::Schema& left, const arrow::Schema& right);

/// The number of partitions of a plan's output, or -1 if unknown before running.
XSHARDS_EXPORT int NumPartitions(const PlanNode& plan);

}  // namespace xshards
