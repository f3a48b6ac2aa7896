// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "ops/batches.h"
#include "ops/executors.h"
#include "ops/group_table.h"
#include "ops/key_columns.h"
#include "ops/plain_values.h"
#include "ops/unary_stream.h"
#include "xshards/pandas_dtype.h"

namespace xshards::ops {

namespace {

// A partial phase gives out its groups and starts again beyond this many batches' worth:
// the final phase merges them anyway.
constexpr int64_t kMaxPartialBatches = 16;

// A partial phase that finds about as many groups as rows in its first rows only costs
// time: it then passes rows on as groups of their own. An ordered result is made by one
// thread, so anything that the others can take from it helps.
constexpr int64_t kTrialRows = 1 << 15;
constexpr double kTooManyGroups = 0.6;
constexpr double kTooManyOrderedGroups = 0.9;

// Names that no user's column has. The final phase finds states by them.
std::string StateName(size_t aggregate, size_t state) {
  return "__s" + std::to_string(aggregate) + "_" + std::to_string(state);
}

class AggregateStream final : public UnaryStream {
 public:
  AggregateStream(AggregateNode node, std::unique_ptr<BatchStream> input,
                  OperatorContext& context)
      : UnaryStream(std::move(input), context),
        node_(std::move(node)),
        reservation_(context.storage.budget) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (true) {
      ARROW_RETURN_NOT_OK(context_.stop.Poll());
      if (auto piece = output_.Next()) return piece;
      if (at_end_) return nullptr;
      ARROW_RETURN_NOT_OK(passes_rows_ ? PassRows() : Group());
    }
  }

 protected:
  arrow::Result<std::shared_ptr<arrow::Schema>> Prepare(
      const std::shared_ptr<arrow::Schema>& input) override {
    if (node_.all_columns) node_.keys = input->field_names();
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
    return arrow::schema(std::move(fields),
                         node_.all_columns ? input->metadata() : nullptr);
  }

 private:
  arrow::Result<std::unique_ptr<GroupTable>> MakeGroups() const {
    return GroupTable::Make(keys_, columns_, node_.by_last, context_.pool);
  }

  /// Find what the i-th aggregate reads: values or, in the final phase, states.
  arrow::Result<GroupedColumn> Find(size_t i, const arrow::Schema& input) const {
    const Aggregate& aggregate = node_.aggregates[i];
    GroupedColumn column;
    AccumulatorOptions& options = column.accumulator;
    options.function = aggregate.function;
    options.gives_states = node_.phase == AggregatePhase::kPartial;
    options.pool = context_.pool;
    if (node_.phase == AggregatePhase::kFinal) {
      ARROW_RETURN_NOT_OK(FindStates(i, input, column));
      return column;
    }
    ARROW_ASSIGN_OR_RAISE(auto field, AggregateField(aggregate, input));
    ARROW_RETURN_NOT_OK(SetOutput(std::move(field), column));
    if (aggregate.column == "*") return column;
    ARROW_ASSIGN_OR_RAISE(auto found, FindColumns(input, {aggregate.column}));
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
          node_.aggregates[i].column, "' and the schema of the result, but there is ",
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
      ARROW_RETURN_NOT_OK(groups_->Consume(*batch));
      num_rows_ += batch->num_rows();
      passes_rows_ = TooManyGroups();
      reservation_.Resize(groups_->num_bytes());
      ARROW_RETURN_NOT_OK(MakeRoom(context_));
    } while (!passes_rows_ && (node_.phase != AggregatePhase::kPartial ||
                               groups_->num_bytes() < max_bytes));
    if (!prepared() || groups_->num_groups() == 0) return arrow::Status::OK();

    const int64_t num_groups = groups_->num_groups();
    ARROW_ASSIGN_OR_RAISE(auto columns, groups_->Finish());
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

  AggregateNode node_;
  std::vector<int> keys_;
  std::vector<GroupedColumn> columns_;
  std::unique_ptr<GroupTable> groups_;
  Reservation reservation_;
  BatchSlicer output_;
  bool at_end_ = false;
  int64_t num_rows_ = 0;      // in groups_
  bool passes_rows_ = false;  // from now on
};

}  // namespace

OpenedNode OpenAggregate(const PlanNode& node, BatchStreams inputs,
                         OperatorContext& context) {
  return OpenUnary<AggregateStream, AggregateNode>(node, std::move(inputs), context);
}

}  // namespace xshards::ops
