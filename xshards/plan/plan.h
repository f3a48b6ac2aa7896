// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <arrow/type.h>

#include "xshards/export.h"
#include "xshards/expression/expression.h"
#include "xshards/function/native_function.h"
#include "xshards/plan/cache_cell.h"
#include "xshards/plan/inferred_types.h"
#include "xshards/plan/sampling.h"
#include "xshards/storage/partition.h"
#include "xshards/type_fwd.h"

namespace xshards {

// Plan nodes are plain data. In a whole plan a node describes all partitions; in a
// fragment (see fragment.h) the same node describes its work on one partition.

/// A piece of a file that becomes one partition.
struct Split {
  std::string path;
  int64_t begin = 0;  // in bytes for text formats, in row groups for Parquet and IPC
  int64_t end = 0;
  int64_t num_bytes = 0;
  int64_t num_rows = -1;  // -1: not known without reading
  /// The file when it was listed: its size, and when it was modified, in nanoseconds
  /// since 1970 (-1: not noted); a hash of some of its bytes (0: not taken).
  int64_t file_bytes = -1;
  int64_t file_modified = -1;
  uint64_t file_fingerprint = 0;
};

/// Reads files. `format` names the executor ("csv", "json", "parquet", "ipc") and
/// `options` are that format's, as strings, so that core knows no format.
struct ScanNode {
  std::string format;
  std::map<std::string, std::string> options;
  std::shared_ptr<arrow::Schema> schema;  // of the files
  std::vector<Split> splits;
  /// Columns of text that all files hold as dictionaries: see KeepDictionaries.
  std::vector<std::string> encodable = {};
  /// Set by the optimizer: the columns to read (in the order given), rows that can be
  /// skipped (the filter stays in the plan: skipping is best effort), and how many rows
  /// of a partition are needed at most.
  std::optional<std::vector<std::string>> columns;
  std::optional<Expression> filter;
  std::optional<int64_t> limit;
  /// Whether the types are inferred from samples, and where those of all values go. The
  /// cell stays in this process.
  bool inferred = false;
  std::shared_ptr<SchemaCell> found = {};
};

/// Data that exists already.
struct LiteralNode {
  std::shared_ptr<arrow::Schema> schema;  // nullptr for Tensors and Objects
  std::vector<Partition> partitions;
};

/// Computes columns. The output has these and no others; or, with `keep_input`, the
/// input's columns less `drop`, where a computed column replaces the one of its name in
/// place or is added at the end (so it can be built before the schema is known).
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

/// Calls a C++ function on each whole partition. A registered function travels by name;
/// an unregistered one (`function` set, `name` empty) pins its fragments to this process.
struct MapNativeNode {
  std::string name;
  std::shared_ptr<const NativeFunction> function;
};

/// Calls a Python function on each whole partition, or on pieces of it. The engine knows
/// the function by its content hash; `pickle` is what the hash is of.
struct MapPythonNode {
  std::string function_hash;
  std::string label;   // the function's name, for people
  std::string format;  // "pandas", "arrow", "polars" or "numpy"
  std::shared_ptr<arrow::Buffer> pickle;
  int64_t batch_rows = 0;  // of a piece at most; 0: the whole partition at once
  /// Run on this process's threads instead of in a worker process. Such a function need
  /// not be picklable: it stays here.
  bool on_threads = false;
};

enum class ExchangeMode : uint8_t {
  kHash,        // rows of equal keys go to one partition
  kRange,       // rows go to partitions by key range, ranges being about equal in size
  kRoundRobin,  // partitions balanced to within one row, order kept
  kGather,      // everything to one partition, in order
};

struct SortKey {
  std::string column;
  bool ascending = true;
};

/// Moves rows between partitions. Row order is kept among the rows of a destination.
struct ExchangeNode {
  ExchangeMode mode = ExchangeMode::kHash;
  std::vector<std::string> keys;  // kHash, kRange
  int32_t num_partitions = 0;     // 0: as many as the input has
};

enum class AggregatePhase : uint8_t { kComplete, kPartial, kFinal };

/// In place of an aggregate's column: the rows themselves.
inline constexpr std::nullopt_t kAllRows = std::nullopt;

/// One aggregate: `function` of pandas' or Spark's name (sum, mean, avg, min, max, count,
/// quantile(0.25), ...) over `column`, named `output`. count of kAllRows counts rows;
/// approx_count_distinct is a HyperLogLog, within about 1.6 %. first_row and
/// last_row give what is there, first and last what is there and not missing;
/// first_position, last_position and single_position of kAllRows, alone, give where rows
/// are (see plan/distinct.h).
struct Aggregate {
  std::string function;
  std::optional<std::string> column;
  std::string output;
};

/// Groups by keys, missing keys being one group; with no aggregates it gives the distinct
/// keys. Groups come in order of first appearance within a partition.
struct AggregateNode {
  std::vector<std::string> keys;
  std::vector<Aggregate> aggregates;
  AggregatePhase phase = AggregatePhase::kComplete;
  std::shared_ptr<arrow::Schema> schema;  // kFinal: the output's; the input has states
  /// Gather to one partition, so that groups come in order of first appearance overall.
  bool ordered = false;
  /// Groups come in order of last appearance instead.
  bool by_last = false;
  /// All columns of the input are keys; written out to `keys` before a fragment is made.
  bool all_columns = false;
  /// Only groups of one row; for an ordered one that gives rows (see plan/distinct.h).
  bool single = false;
  /// kFinal, of positions: those of the rows that are not first, last or single.
  bool others = false;
};

enum class JoinType : uint8_t {
  kInner,
  kLeft,
  kRight,
  kOuter,
  kSemi,   // rows of the left that have a partner, each once
  kAnti,   // rows of the left that have none
  kCross,  // every row with every other; there are no keys
};

/// Joins two inputs on equal keys; missing keys equal each other, as in pandas.
struct JoinNode {
  JoinType type = JoinType::kInner;
  std::vector<std::string> left_keys;
  std::vector<std::string> right_keys;
  std::string left_suffix = "_x";
  std::string right_suffix = "_y";
  /// Set in fragments. Hold the left input in memory and stream the right by, not the
  /// other way round; not for kSemi and kAnti.
  bool build_left = false;
  /// Set in fragments that all hold the same rows, to a number over 0: those of one
  /// process make one table of them (see StageState). Rows that are held are not given
  /// where they have no match.
  int32_t shared_table = 0;
};

/// Sorts all rows, stable; partition i holds smaller keys than partition i + 1.
struct SortNode {
  std::vector<SortKey> keys;
  bool nulls_first = false;
  /// Keep only so many rows, the first, in one partition. Set by the optimizer.
  std::optional<int64_t> limit;
};

/// Keeps the first rows, in partition order.
struct LimitNode {
  int64_t count = 0;
};

/// The partitions of all inputs, one after the other. In a fragment: their rows.
struct UnionNode {};

/// Pairs partition i of two inputs. In a fragment: the columns of both, side by side.
struct ZipNode {};

/// Keeps its input's partitions once made, for as long as the cell lives.
struct CacheNode {
  std::shared_ptr<CacheCell> cell;
};

enum class SamplePhase : uint8_t {
  kWhole,       // of a whole plan
  kGiveKeys,    // in a fragment: the rows' places in the order of drawing, by weight
  kSumWeights,  // in a fragment: the sum of its rows' weights
  kDraw,        // in a fragment: the rows that are drawn
};

/// Draws rows at random; they stay in order. Which ones are drawn follows from the seed
/// and the rows' numbers in the whole, whatever the partitions and threads.
struct SampleNode {
  int64_t count = -1;  // how many; -1: as many as `share` says
  double share = 0;    // of all rows, rounded
  bool replace = false;
  bool complement = false;  // give the rows that are not drawn; not with `replace`
  std::string weights;      // a column of weights; empty: all rows weigh the same
  uint64_t seed = 0;

  // In a fragment; see plan/sampling.h.
  SamplePhase phase = SamplePhase::kWhole;
  int64_t num_rows = 0;   // of the whole
  int64_t first_row = 0;  // the number of this partition's first
  DrawOrder bound;        // without `replace`: the first that is not drawn
  /// With `replace` and weights: the range of this partition's rows in the sum of all.
  double weight_begin = 0;
  double weight_end = 0;
  double weight_total = 0;
};

/// Names a stage of a StageGraph. Its output is kept while somebody holds the reference.
struct StageReference {
  int32_t number = 0;
};

/// Reads partitions that an earlier stage of the same StageGraph makes, one after the
/// other. Never in a fragment: once the stage has run, a Literal takes its place.
struct StageInputNode {
  std::shared_ptr<const StageReference> stage;
  std::vector<int32_t> partitions;
  std::shared_ptr<arrow::Schema> schema;  // nullptr where only running tells
  /// Of these partitions; -1 until the stage has run.
  int64_t num_rows = -1;
  int64_t num_bytes = -1;
  /// Give what a function returned for a partition with the columns that it has, even
  /// where other partitions have more.
  bool as_stored = false;
};

using NodeVariant =
    std::variant<ScanNode, LiteralNode, ProjectNode, FilterNode, MapNativeNode,
                 MapPythonNode, ExchangeNode, AggregateNode, JoinNode, SortNode,
                 LimitNode, UnionNode, ZipNode, CacheNode, SampleNode, StageInputNode>;

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
};
inline constexpr int kNumNodeKinds = 16;

/// One node of a plan. Build with MakeNode; never changed afterwards.
struct XSHARDS_EXPORT PlanNode {
  NodeVariant node;
  std::vector<Plan> inputs;

  NodeKind kind() const { return static_cast<NodeKind>(node.index()); }
  template <typename T>
  const T& as() const {
    return std::get<T>(node);
  }
};

XSHARDS_EXPORT Plan MakeNode(NodeVariant node, std::vector<Plan> inputs = {});

/// "Scan", "Project", ...
XSHARDS_EXPORT const char* ToString(NodeKind kind);
/// One line about a node without its inputs, for explain() and error messages.
XSHARDS_EXPORT std::string Describe(const PlanNode& node);

/// The schema of a plan's output, or nullptr where only running tells (below a Python or
/// native function that has not run, Tensors and Objects). Finds unknown columns and type
/// errors in the part of the plan whose schema is known.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Schema>> OutputSchema(
    const PlanNode& plan);

/// Whether a plan can give nothing but Tables, as far as that is known without running:
/// Python functions, and existing data of no schema, may give anything.
XSHARDS_EXPORT bool GivesTables(const PlanNode& plan);

/// Write out a Project with keep_input against its input's schema.
XSHARDS_EXPORT arrow::Result<ProjectNode> ExpandProject(const ProjectNode& node,
                                                        const arrow::Schema& input);
/// The field of an aggregate's result, as pandas gives it. Invalid lists the functions
/// there are; TypeError names the column and its type.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Field>> AggregateField(
    const Aggregate& aggregate, const arrow::Schema& input);
/// The columns of a join, as pandas names and orders them: keys of equal name once, other
/// columns of equal name with the suffixes; of a semi and an anti join, the left's.
/// KeyError names a missing key.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::Schema>> JoinSchema(
    const JoinNode& node, const arrow::Schema& left, const arrow::Schema& right);

/// The number of partitions a plan will give, or -1 where only running tells.
XSHARDS_EXPORT int NumPartitions(const PlanNode& plan);

}  // namespace xshards
