// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <arrow/buffer_builder.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "io/tfrecord/example.h"

namespace xshards::io {

/// How a feature becomes a column: one value per row, or a list.
struct FeatureForm {
  FeatureKind kind = FeatureKind::kNone;
  bool is_list = false;

  /// The column's type: int64, float32 or large_binary, or a list of these.
  std::shared_ptr<arrow::DataType> type() const;
};

/// The form of the features that a column of this type is read from; nullopt if no
/// feature can hold its values.
std::optional<FeatureForm> FormFor(const arrow::DataType& type);

/// A column that grows by one feature of one record at a time.
class FeatureColumn {
 public:
  /// `max_values` is what the offsets of a list can count; smaller for tests.
  FeatureColumn(FeatureForm form, arrow::MemoryPool* pool,
                int64_t max_values = std::numeric_limits<int32_t>::max());

  enum class Outcome : uint8_t {
    kOk,
    kDamaged,
    kOtherKind,
    kNotOneValue,
    kTooManyValues,
    kNoMemory,
  };
  /// Append the values of a feature as the next row.
  Outcome Append(const Feature& feature);
  /// Append missing values up to this number of rows.
  arrow::Status FillTo(int64_t num_rows);
  int64_t num_rows() const { return num_rows_; }

  /// The column so far; it is empty afterwards.
  arrow::Result<std::shared_ptr<arrow::Array>> Finish();

 private:
  arrow::Status AppendValues(const Feature& feature, int64_t* count, bool* is_valid);
  bool HasTooManyValues() const { return form_.is_list && num_values() > max_values_; }
  arrow::Status EndRow(bool is_present);
  int64_t num_values() const;

  const FeatureForm form_;
  const int64_t max_values_;
  int64_t num_rows_ = 0;
  arrow::TypedBufferBuilder<bool> validity_;
  arrow::TypedBufferBuilder<int32_t> list_offsets_;
  arrow::TypedBufferBuilder<int64_t> text_offsets_;  // of kBytes
  arrow::BufferBuilder values_;
};

/// The columns of Examples.
class FeatureColumns {
 public:
  /// `known` are the features that records may have, `wanted` those that become columns,
  /// in this order. With `is_strict`, a feature that is not known is an error.
  FeatureColumns(const arrow::Schema& known, const arrow::Schema& wanted, bool is_strict,
                 arrow::MemoryPool* pool);

  struct Fault {
    enum Kind : uint8_t {
      kDamaged,
      kSequence,
      kUnknown,
      kMismatch,
      kTooManyValues,
      kNoMemory,
    };
    Kind kind = kDamaged;
    std::string feature = {};
    std::string text = {};  // the fault
  };
  /// Append an Example as the next row; returns its fault, if any.
  std::optional<Fault> Append(std::string_view example);

  int64_t num_rows() const { return num_rows_; }
  /// The rows so far, in the forms of FormFor; empty afterwards.
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Finish();

 private:
  static constexpr int kNotWanted = -1;

  struct Known {
    std::string name;
    int column = kNotWanted;
  };
  const Known* Find(std::string_view name, size_t position) const;

  std::vector<Known> known_;
  std::unordered_map<std::string_view, size_t> places_;  // index in known_, by name
  mutable std::vector<size_t> order_;  // indices of the features of the last record
  std::vector<FeatureColumn> columns_;
  arrow::FieldVector fields_;
  const bool is_strict_;
  int64_t num_rows_ = 0;
};

}  // namespace xshards::io
