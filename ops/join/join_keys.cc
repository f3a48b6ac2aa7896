// SPDX-License-Identifier: Apache-2.0
#include "ops/join/join_keys.h"

#include <utility>

#include <arrow/compute/cast.h>
#include <arrow/type.h>

#include "ops/kernels/decoded_values.h"
#include "ops/keys/hash.h"
#include "ops/keys/key_columns.h"
#include "ops/keys/row_encoder.h"

namespace xshards::ops {

namespace {

using arrow::Type;

bool IsSmallInteger(const arrow::DataType& type) {
  return arrow::is_integer(type.id()) && type.id() != Type::UINT64;
}

/// True if equal values of both types are stored as equal numbers.
bool AreEqualNumbers(const arrow::DataType& left, const arrow::DataType& right) {
  if (IsSmallInteger(left) && IsSmallInteger(right)) return true;
  if (left.id() == Type::TIMESTAMP && right.id() == Type::TIMESTAMP) {
    return static_cast<const arrow::TimestampType&>(left).unit() ==
           static_cast<const arrow::TimestampType&>(right).unit();
  }
  const bool is_number =
      left.id() == Type::UINT64 || left.id() == Type::DURATION ||
      (arrow::is_temporal(left.id()) && !arrow::is_interval(left.id()));
  return is_number && left.Equals(right);
}

template <typename T>
const uint64_t* Widen(const arrow::Array& column, ScratchVector<uint64_t>& words) {
  const T* values = column.data()->GetValues<T>(1);
  words.resize(static_cast<size_t>(column.length()));
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] = static_cast<uint64_t>(static_cast<int64_t>(values[i]));
  }
  return words.data();
}

/// The integers of a column as words: in place, or converted into `words`.
const uint64_t* NumbersOf(const arrow::Array& column, ScratchVector<uint64_t>& words) {
  switch (column.type_id()) {
    case Type::INT8:
      return Widen<int8_t>(column, words);
    case Type::UINT8:
      return Widen<uint8_t>(column, words);
    case Type::INT16:
      return Widen<int16_t>(column, words);
    case Type::UINT16:
      return Widen<uint16_t>(column, words);
    case Type::UINT32:
      return Widen<uint32_t>(column, words);
    case Type::INT32:
    case Type::DATE32:
    case Type::TIME32:
      return Widen<int32_t>(column, words);
    default:
      return column.data()->GetValues<uint64_t>(1);
  }
}

arrow::Result<std::shared_ptr<arrow::LargeBinaryArray>> AsLargeBinary(
    const std::shared_ptr<arrow::Array>& column, arrow::MemoryPool* pool) {
  auto large = column;
  if (!arrow::is_large_binary_like(column->type_id())) {
    arrow::compute::ExecContext exec(pool);
    exec.set_use_threads(false);
    ARROW_ASSIGN_OR_RAISE(
        large, arrow::compute::Cast(*column, arrow::large_binary(),
                                    arrow::compute::CastOptions::Unsafe(), &exec));
  }
  auto data = large->data()->Copy();
  data->type = arrow::large_binary();
  return std::make_shared<arrow::LargeBinaryArray>(std::move(data));
}

/// The key columns of a batch, decoded: words and bytes are made from plain values.
arrow::Result<arrow::ArrayVector> PlainKeys(const arrow::RecordBatch& batch,
                                            const std::vector<int>& keys,
                                            arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto columns, KeyColumns(batch, keys, pool));
  for (auto& column : columns) {
    ARROW_ASSIGN_OR_RAISE(column, KeyColumn(column, pool));
  }
  return columns;
}

}  // namespace

JoinKeyKind ChooseJoinKeyKind(const arrow::Schema& left,
                              const std::vector<int>& left_keys,
                              const arrow::Schema& right,
                              const std::vector<int>& right_keys) {
  if (left_keys.empty()) return JoinKeyKind::kNone;
  if (left_keys.size() > 1) return JoinKeyKind::kEncoded;
  const auto left_type = DecodedType(left.field(left_keys[0])->type());
  const auto right_type = DecodedType(right.field(right_keys[0])->type());
  if (AreEqualNumbers(*left_type, *right_type)) return JoinKeyKind::kWord;
  const auto is_text = [](const arrow::DataType& type) {
    return arrow::is_base_binary_like(type.id());
  };
  if (is_text(*left_type) && is_text(*right_type)) return JoinKeyKind::kText;
  return JoinKeyKind::kEncoded;
}

arrow::Result<JoinKeys> JoinKeys::Make(const arrow::RecordBatch& batch,
                                       const std::vector<int>& keys, JoinKeyKind kind,
                                       arrow::MemoryPool* pool) {
  JoinKeys made;
  made.num_rows_ = static_cast<size_t>(batch.num_rows());
  if (kind == JoinKeyKind::kNone) return made;
  ARROW_ASSIGN_OR_RAISE(auto columns, PlainKeys(batch, keys, pool));
  if (kind == JoinKeyKind::kEncoded) {
    ARROW_ASSIGN_OR_RAISE(auto rows, EncodeKeys(columns, batch.num_rows(), pool));
    made.bytes_ = std::make_shared<arrow::LargeBinaryArray>(
        batch.num_rows(), rows.offsets_buffer(), rows.bytes_buffer());
  } else if (columns[0]->null_count() > 0) {
    made.column_ = columns[0];
  }
  made.own_words_ = ScratchVector<uint64_t>(ScratchAllocator<uint64_t>(pool));
  if (kind == JoinKeyKind::kWord) {
    made.values_ = columns[0];
    made.words_ = NumbersOf(*columns[0], made.own_words_);
    return made;
  }
  if (kind == JoinKeyKind::kText) {
    ARROW_ASSIGN_OR_RAISE(made.bytes_, AsLargeBinary(columns[0], pool));
  }
  made.own_words_.resize(made.num_rows_);
  for (size_t row = 0; row < made.num_rows_; ++row) {
    const std::string_view key = made.bytes(row);
    made.own_words_[row] = HashBytes(key.data(), key.size());
  }
  made.words_ = made.own_words_.data();
  return made;
}

}  // namespace xshards::ops
