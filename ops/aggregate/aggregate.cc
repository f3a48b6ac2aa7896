// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "ops/aggregate/distinct_rows.h"
#include "ops/aggregate/group_table.h"
#include "ops/aggregate/spilled_rows.h"
#include "ops/executors.h"
#include "ops/kernels/decoded_values.h"
#include "ops/kernels/gather.h"
#include "ops/kernels/vector_array.h"
#include "ops/keys/key_columns.h"
#include "ops/stream/batch_slicing.h"
#include "ops/stream/unary_stream.h"
#include "xshards/plan/output_schema.h"
#include "xshards/types/pandas_dtype.h"

namespace xshards::ops {

namespace {

// A partial phase outputs its groups and starts again above this many batches of groups:
// the final phase merges them anyway.
constexpr int64_t kMaxPartialBatches = 16;

// A partial phase with about as many groups as rows in its first rows only costs time: it
// then forwards each row as a separate group. An ordered result is computed by one
// thread, so any work that the others can do helps.
constexpr int64_t kTrialRows = 1 << 15;
constexpr double kTooManyGroups = 0.6;
constexpr double kTooManyOrderedGroups = 0.9;

// The position of a row, for the order of groups that were spilled.
constexpr char kRow[] = "__row";
// Groups that do not fit are partitioned repeatedly, but equal keys always stay together.
constexpr int kMaxSpillLevel = 4;

// Names that no user's column has. The final phase finds states by them.
std::string StateName(size_t aggregate, size_t state) {
  return "__s" + std::to_string(aggregate) + "_" + std::to_string(state);
}

/// The spilled parts, one by one.
class PartsStream final : public BatchStream {
 public:
  using OpenPart = std::function<OpenedNode(const Partition&)>;

  PartsStream(std::shared_ptr<arrow::Schema> schema, std::vector<Partition> parts,
              OpenPart open)
      : schema_(std::move(schema)), parts_(std::move(parts)), open_(std::move(open)) {}

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (true) {
      if (stream_ == nullptr) {
        if (next_ == parts_.size()) return nullptr;
        // Moved out, so that its disk space is freed when it has been read.
        const Partition part = std::exchange(parts_[next_++], {});
        if (part.num_rows() == 0) continue;
        ARROW_ASSIGN_OR_RAISE(stream_, open_(part));
      }
      ARROW_ASSIGN_OR_RAISE(auto batch, stream_->Next());
      if (batch != nullptr) {
        return arrow::RecordBatch::Make(schema_, batch->num_rows(), batch->columns());
      }
      stream_.reset();
    }
  }

 private:
  const std::shared_ptr<arrow::Schema> schema_;
  std::vector<Partition> parts_;
  const OpenPart open_;
  size_t next_ = 0;
  std::unique_ptr<BatchStream> stream_;
};

class AggregateStream final : public UnaryStream {
 public:
  AggregateStream(AggregateNode node, std::unique_ptr<BatchStream> input,
                  OperatorContext& context, int spill_level = 0, bool by_last = false)
      : UnaryStream(std::move(input), context),
        node_(std::move(node)),
        by_last_(by_last),
        holds_values_(
            std::any_of(node_.aggregates.begin(), node_.aggregates.end(),
                        [](const auto& one) { return HoldsValues(one.function); })),
        spill_level_(spill_level),
        reservation_(context.storage.budget) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (true) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      if (auto piece = output_.Next()) return piece;
      if (at_end_) return NextSpilled();
      ARROW_RETURN_NOT_OK(passes_rows_ ? PassRows() : Group());
    }
  }

 protected:
  arrow::Result<std::shared_ptr<arrow::Schema>> Prepare(
      const std::shared_ptr<arrow::Schema>& input) override {
    ARROW_ASSIGN_OR_RAISE(keys_, FindColumns(*input, node_.keys));
    arrow::FieldVector fields;
    for (int key : keys_) fields.push_back(input->field(key));
    for (size_t i = 0; i < node_.aggregates.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(auto column, Find(i, *input));
      if (node_.phase == AggregatePhase::kPartial) {
        ARROW_ASSIGN_OR_RAISE(auto accumulator, MakeAccumulator(column.accumulator));
        const auto types = accumulator->state_types();
        for (size_t j = 0; j < types.size(); ++j) {
          fields.push_back(arrow::field(StateName(i, j), types[j]));
        }
      } else {
        fields.push_back(column.field);
      }
      columns_.push_back(std::move(column));
    }
    ARROW_ASSIGN_OR_RAISE(groups_, MakeGroups());
    return arrow::schema(std::move(fields));
  }

 private:
  arrow::Result<std::unique_ptr<GroupTable>> MakeGroups() const {
    return GroupTable::Make(keys_, columns_, by_last_, context_.pool);
  }

  /// Find what the i-th aggregate reads: values or, in the final phase, states.
  arrow::Result<GroupedColumn> Find(size_t i, const arrow::Schema& input) const {
    const Aggregate& aggregate = node_.aggregates[i];
    GroupedColumn column;
    AccumulatorOptions& options = column.accumulator;
    options.function = aggregate.function;
    options.gives_states = node_.phase == AggregatePhase::kPartial || holds_values_;
    options.has_keys = !node_.keys.empty();
    options.pool = context_.pool;
    if (node_.phase == AggregatePhase::kFinal) {
      ARROW_RETURN_NOT_OK(FindStates(i, input, column));
      return column;
    }
    ARROW_ASSIGN_OR_RAISE(auto field, AggregateField(aggregate, input));
    ARROW_RETURN_NOT_OK(SetOutput(std::move(field), column));
    if (!aggregate.column) return column;
    ARROW_ASSIGN_OR_RAISE(auto found, FindColumns(input, {*aggregate.column}));
    column.value = found[0];
    options.input_type = DecodedType(input.field(column.value)->type());
    return column;
  }

  arrow::Status FindStates(size_t i, const arrow::Schema& input,
                           GroupedColumn& column) const {
    const auto output = static_cast<int>(keys_.size() + i);
    std::vector<std::shared_ptr<arrow::DataType>> types;
    for (size_t j = 0;; ++j) {
      const int state = input.GetFieldIndex(StateName(i, j));
      if (state < 0) break;
      column.states.push_back(state);
      types.push_back(input.field(state)->type());
    }
    if (types.empty() || node_.schema == nullptr ||
        node_.schema->num_fields() <= output) {
      return arrow::Status::Invalid(
          "Expected the partial states of ", column.accumulator.function, " of column '",
          node_.aggregates[i].column.value_or("(all rows)"),
          "' and the schema of the result, got ",
          types.empty() ? "no column " + StateName(i, 0) : "no schema");
    }
    column.accumulator.input_type = InputTypeOfStates(column.accumulator.function, types);
    return SetOutput(node_.schema->field(output), column);
  }

  static arrow::Status SetOutput(std::shared_ptr<arrow::Field> field,
                                 GroupedColumn& column) {
    column.accumulator.output_type = field->type();
    if (FamilyOf(*field) == DtypeFamily::kCategory) {
      ARROW_ASSIGN_OR_RAISE(column.accumulator.categories, CategoriesOf(*field));
    }
    column.field = std::move(field);
    return arrow::Status::OK();
  }

  /// Read input until its end, or until the partial phase holds enough, and set output_.
  arrow::Status Group() {
    const int64_t max_bytes = kMaxPartialBatches * context_.batch_bytes;
    do {
      ARROW_ASSIGN_OR_RAISE(auto batch, NextInput());
      if (batch == nullptr) {
        at_end_ = true;
        break;
      }
      if (spilled_ != nullptr) {
        ARROW_RETURN_NOT_OK(ConsumeOrSpill(batch));
        continue;
      }
      ARROW_RETURN_NOT_OK(groups_->Consume(*batch));
      num_rows_ += batch->num_rows();
      passes_rows_ = TooManyGroups();
      reservation_.Resize(groups_->num_bytes());
      ARROW_RETURN_NOT_OK(MakeRoom(context_));
      if (node_.phase != AggregatePhase::kPartial) {
        if (MustSpill()) ARROW_RETURN_NOT_OK(StartSpilling());
      } else if (holds_values_ && IsShortOfMemory()) {
        break;
      }
    } while (!passes_rows_ && (node_.phase != AggregatePhase::kPartial ||
                               groups_->num_bytes() < max_bytes));
    if (!prepared() || groups_->num_groups() == 0) return arrow::Status::OK();
    if (states_ != nullptr) return SpillStates();

    const int64_t num_groups = groups_->num_groups();
    ARROW_ASSIGN_OR_RAISE(auto columns, node_.phase == AggregatePhase::kPartial
                                            ? groups_->States()
                                            : groups_->Finish());
    output_ =
        BatchSlicer(arrow::RecordBatch::Make(schema_, num_groups, std::move(columns)),
                    context_.batch_bytes);
    groups_.reset();
    if (!at_end_) {
      ARROW_ASSIGN_OR_RAISE(groups_, MakeGroups());
    }
    num_rows_ = 0;
    reservation_.Resize(0);
    return arrow::Status::OK();
  }

  bool TooManyGroups() const {
    if (node_.phase != AggregatePhase::kPartial || num_rows_ < kTrialRows) return false;
    const double share = node_.ordered ? kTooManyOrderedGroups : kTooManyGroups;
    return static_cast<double>(groups_->num_groups()) >
           share * static_cast<double>(num_rows_);
  }

  bool IsShortOfMemory() const {
    const MemoryBudget* budget = context_.storage.budget;
    if (budget == nullptr || !budget->over_high_mark()) return false;
    // Spilling fewer would not help. Most memory of values is counted elsewhere.
    return groups_->num_bytes() >
           (holds_values_ ? context_.batch_bytes / 4 : 2 * context_.batch_bytes);
  }

  bool MustSpill() const {
    return !by_last_ && !keys_.empty() && spill_level_ < kMaxSpillLevel &&
           IsShortOfMemory();
  }

  /// No memory is left for more groups. Existing groups stay and consume their further
  /// rows; rows of other groups are spilled. If further rows make groups larger, all
  /// groups are spilled as states, and again whenever memory is short.
  arrow::Status StartSpilling() {
    auto& rows = holds_values_ && !node_.ordered ? states_ : spilled_;
    if (rows == nullptr) {
      rows = std::make_unique<SpilledRows>(node_.keys, spill_level_, context_);
    }
    return states_ != nullptr ? SpillStates() : arrow::Status::OK();
  }

  arrow::Status SpillStates() {
    const int64_t num_groups = groups_->num_groups();
    ARROW_ASSIGN_OR_RAISE(auto columns, groups_->States());
    arrow::FieldVector fields;
    for (size_t i = 0; i < keys_.size(); ++i) {
      fields.push_back(schema_->field(static_cast<int>(i)));
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(auto accumulator, MakeAccumulator(columns_[i].accumulator));
      const size_t num_states = accumulator->state_types().size();
      for (size_t j = 0; j < num_states; ++j) {
        fields.push_back(arrow::field(StateName(i, j), columns[fields.size()]->type()));
      }
    }
    BatchSlicer slices(arrow::RecordBatch::Make(arrow::schema(std::move(fields)),
                                                num_groups, std::move(columns)),
                       context_.batch_bytes);
    while (auto slice = slices.Next()) {
      ARROW_RETURN_NOT_OK(states_->Append(std::move(slice)));
    }
    ARROW_ASSIGN_OR_RAISE(groups_, MakeGroups());
    num_rows_ = 0;
    reservation_.Resize(0);
    return arrow::Status::OK();
  }

  arrow::Status ConsumeOrSpill(const std::shared_ptr<arrow::RecordBatch>& batch) {
    ARROW_ASSIGN_OR_RAISE(auto unknown, groups_->ConsumeKnown(batch));
    if (!unknown.empty()) {
      auto rows = batch;
      if (node_.ordered) {
        ARROW_ASSIGN_OR_RAISE(rows, WithRowNumbers(*batch));
      }
      ARROW_ASSIGN_OR_RAISE(rows,
                            Gather(rows, ToArray(std::move(unknown)), context_.pool));
      ARROW_RETURN_NOT_OK(spilled_->Append(std::move(rows)));
    }
    num_rows_ += batch->num_rows();
    return MakeRoom(context_);
  }

  /// The name of the row numbers, an additional aggregate of spilled rows: their minimum
  /// determines the position of a group.
  std::string RowColumn() const {
    return node_.phase == AggregatePhase::kFinal ? StateName(node_.aggregates.size(), 0)
                                                 : kRow;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> WithRowNumbers(
      const arrow::RecordBatch& batch) const {
    if (IsNumbered()) return batch.Slice(0);
    std::vector<int64_t> numbers(static_cast<size_t>(batch.num_rows()));
    std::iota(numbers.begin(), numbers.end(), num_rows_);
    return batch.AddColumn(batch.num_columns(), RowColumn(), ToArray(std::move(numbers)));
  }

  /// True if the input was spilled before, so that its rows have numbers if groups are
  /// ordered.
  bool IsNumbered() const { return spill_level_ > 0; }

  /// The spilled groups, part by part.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> NextSpilled() {
    if (spilled_ != nullptr || states_ != nullptr) {
      groups_.reset();
      ARROW_RETURN_NOT_OK(OpenSpilled());
    }
    if (rest_ == nullptr) return nullptr;
    ARROW_ASSIGN_OR_RAISE(auto batch, rest_->Next());
    if (batch == nullptr) {
      rest_.reset();
      return nullptr;
    }
    // Without the row numbers, if they are not requested.
    arrow::ArrayVector columns = batch->columns();
    columns.resize(static_cast<size_t>(schema_->num_fields()));
    return arrow::RecordBatch::Make(schema_, batch->num_rows(), std::move(columns));
  }

  arrow::Status OpenSpilled() {
    AggregateNode node = node_;
    if (states_ != nullptr) node.phase = AggregatePhase::kFinal;
    ARROW_ASSIGN_OR_RAISE(
        auto parts,
        std::exchange(states_ != nullptr ? states_ : spilled_, nullptr)->Finish());
    auto schema = schema_;
    if (node_.ordered && !IsNumbered()) {
      node.aggregates.push_back({"min", kRow, kRow});
      ARROW_ASSIGN_OR_RAISE(
          schema,
          schema_->AddField(schema_->num_fields(), arrow::field(kRow, arrow::int64())));
    }
    node.schema = schema;
    rest_ = std::make_unique<PartsStream>(
        schema, std::move(parts),
        [this, node = std::move(node)](const Partition& part) -> OpenedNode {
          ARROW_ASSIGN_OR_RAISE(auto rows, part.Open(nullptr, context_.pool));
          auto stream = std::make_unique<AggregateStream>(node, std::move(rows), context_,
                                                          spill_level_ + 1);
          ARROW_RETURN_NOT_OK(stream->PrepareIfKnown());
          return stream;
        });
    if (!node_.ordered) return arrow::Status::OK();
    BatchStreams parts_in_turn;
    parts_in_turn.push_back(std::move(rest_));
    const auto sort = MakeNode(SortNode{.keys = {{.column = kRow}}});
    ARROW_ASSIGN_OR_RAISE(rest_, OpenSort(*sort, std::move(parts_in_turn), context_));
    return arrow::Status::OK();
  }

  arrow::Status PassRows() {
    ARROW_ASSIGN_OR_RAISE(auto batch, NextInput());
    if (batch == nullptr) {
      at_end_ = true;
      return arrow::Status::OK();
    }
    if (batch->num_rows() == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto columns, groups_->EachRow(*batch));
    output_ = BatchSlicer(
        arrow::RecordBatch::Make(schema_, batch->num_rows(), std::move(columns)),
        context_.batch_bytes);
    return MakeRoom(context_);
  }

  const AggregateNode node_;
  const bool by_last_;  // groups come in order of last appearance
  std::vector<int> keys_;
  std::vector<GroupedColumn> columns_;
  std::unique_ptr<GroupTable> groups_;
  const bool holds_values_;  // some aggregate keeps values: groups grow with their rows
  const int spill_level_;    // how often this input was spilled before
  Reservation reservation_;
  std::unique_ptr<SpilledRows> spilled_;  // rows of groups that are not in groups_
  std::unique_ptr<SpilledRows> states_;   // or states of all groups
  std::unique_ptr<BatchStream> rest_;     // of the output, after output_
  BatchSlicer output_;
  bool at_end_ = false;
  int64_t num_rows_ = 0;      // consumed since groups_ was made
  bool passes_rows_ = false;  // from now on
};

}  // namespace

OpenedNode OpenAggregate(const PlanNode& node, BatchStreams inputs,
                         OperatorContext& context) {
  return OpenUnary<AggregateStream, AggregateNode>(node, std::move(inputs), context);
}

OpenedNode OpenDistinctRows(const DistinctNode& distinct, BatchStreams inputs,
                            OperatorContext& context) {
  AggregateNode groups{.keys = distinct.keys, .ordered = true};
  groups.phase = distinct.phase == DistinctPhase::kPartialRows ? AggregatePhase::kPartial
                                                               : AggregatePhase::kFinal;
  auto stream = std::make_unique<AggregateStream>(
      std::move(groups), std::move(inputs.at(0)), context, /*spill_level=*/0,
      /*by_last=*/distinct.keep == Keep::kLast);
  ARROW_RETURN_NOT_OK(stream->PrepareIfKnown());
  return stream;
}

}  // namespace xshards::ops
