// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "xshards/plan/aggregate_functions.h"

namespace xshards::ops {

/// Holds the state of one aggregate for every group of a partition.
///
/// Resize, then Consume or Merge, batch by batch; at the end either States or Finish,
/// once. States are passed, as columns, to another accumulator's Merge: aggregating parts
/// and merging their states gives the same as aggregating all rows.
class Accumulator {
 public:
  virtual ~Accumulator() = default;

  /// Resize to groups 0 .. num_groups - 1; new ones are empty.
  virtual void Resize(size_t num_groups) = 0;
  /// Add values (from PlainValues) to the group of their row. `values` is nullptr if rows
  /// are counted, not values.
  virtual arrow::Status Consume(const std::shared_ptr<arrow::Array>& values,
                                const std::vector<uint32_t>& groups) = 0;
  /// Add states, one per row, to the group of their row.
  virtual arrow::Status Merge(const arrow::ArrayVector& states,
                              const std::vector<uint32_t>& groups) = 0;

  virtual std::vector<std::shared_ptr<arrow::DataType>> state_types() const = 0;
  virtual arrow::Result<arrow::ArrayVector> States() = 0;
  virtual arrow::Result<std::shared_ptr<arrow::Array>> Finish() = 0;

  /// Memory it uses outside the pool.
  virtual int64_t num_bytes() const = 0;
};

/// The aggregate that an accumulator computes.
struct AccumulatorOptions {
  std::string function;                         // see xshards::Aggregate
  AccumulatorKind kind = {};                    // the function's; MakeAccumulator sets it
  std::shared_ptr<arrow::DataType> input_type;  // of the values, decoded
  std::shared_ptr<arrow::DataType> output_type;
  /// The field of an ordered category, whose min and max depend on its order. Else
  /// nullptr.
  std::shared_ptr<arrow::Array> categories;
  bool gives_states = false;  // States() may be called, not only Finish()
  bool has_keys = true;       // false: all rows are one group, as in a reduction
  arrow::MemoryPool* pool = nullptr;
};

/// NotImplemented names the function and type if there is none.
arrow::Result<std::unique_ptr<Accumulator>> MakeAccumulator(AccumulatorOptions options);

/// True if a group's state holds its values, and so grows with its rows.
bool HoldsValues(const std::string& function);

/// The type of the values that states of these types came from, for the functions whose
/// states hold values (min, max, first, last, nunique).
std::shared_ptr<arrow::DataType> InputTypeOfStates(
    const std::string& function,
    const std::vector<std::shared_ptr<arrow::DataType>>& state_types);

// One factory per family of functions, each in the .cc of its name.
using MadeAccumulator = arrow::Result<std::unique_ptr<Accumulator>>;
MadeAccumulator MakeCountAccumulator(const AccumulatorOptions& options);
MadeAccumulator MakeSumAccumulator(const AccumulatorOptions& options);
MadeAccumulator MakeDecimalAccumulator(const AccumulatorOptions& options);
MadeAccumulator MakeVarianceAccumulator(const AccumulatorOptions& options);
MadeAccumulator MakeShapeAccumulator(const AccumulatorOptions& options);
MadeAccumulator MakeExtremeAccumulator(const AccumulatorOptions& options);
MadeAccumulator MakeCategoryAccumulator(const AccumulatorOptions& options);
MadeAccumulator MakePickAccumulator(const AccumulatorOptions& options);
MadeAccumulator MakeDistinctAccumulator(const AccumulatorOptions& options);
MadeAccumulator MakeSketchAccumulator(const AccumulatorOptions& options);
MadeAccumulator MakeQuantileAccumulator(const AccumulatorOptions& options);

}  // namespace xshards::ops
