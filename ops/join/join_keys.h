// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>

#include "xshards/memory/scratch_vector.h"

namespace xshards::ops {

/// The representation of the keys of both sides of a join. Chosen by their types, such
/// that equal keys (see key_equality.h) have equal representations.
enum class JoinKeyKind : uint8_t {
  kNone,     // a cross join
  kWord,     // one integer or time: the number itself
  kText,     // one text or binary column: its bytes
  kEncoded,  // anything else: the bytes of EncodeKeys
};

JoinKeyKind ChooseJoinKeyKind(const arrow::Schema& left,
                              const std::vector<int>& left_keys,
                              const arrow::Schema& right,
                              const std::vector<int>& right_keys);

/// The keys of a batch of one side.
class JoinKeys {
 public:
  static arrow::Result<JoinKeys> Make(const arrow::RecordBatch& batch,
                                      const std::vector<int>& keys, JoinKeyKind kind,
                                      arrow::MemoryPool* pool);
  JoinKeys(JoinKeys&&) = default;  // move-only: it points into itself
  JoinKeys& operator=(JoinKeys&&) = default;

  size_t num_rows() const { return num_rows_; }
  /// Equal for equal keys; for bytes, their hash. Undefined for missing keys.
  uint64_t word(size_t row) const { return words_[row]; }
  /// Bytes whose hash is the word; none if words identify keys.
  bool has_bytes() const { return bytes_ != nullptr; }
  std::string_view bytes(size_t row) const {
    return bytes_->GetView(static_cast<int64_t>(row));
  }
  bool any_missing() const { return column_ != nullptr; }
  bool is_missing(size_t row) const {
    return column_ != nullptr && column_->IsNull(static_cast<int64_t>(row));
  }

 private:
  JoinKeys() = default;

  size_t num_rows_ = 0;
  const uint64_t* words_ = nullptr;       // points into one of the next two
  ScratchVector<uint64_t> own_words_;     // allocated from the pool
  std::shared_ptr<arrow::Array> values_;  // an array of 64-bit numbers
  std::shared_ptr<arrow::LargeBinaryArray> bytes_;
  std::shared_ptr<arrow::Array>
      column_;  // the column with missing values; nullptr if there are none
};

}  // namespace xshards::ops
