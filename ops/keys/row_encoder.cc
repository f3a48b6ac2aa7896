// SPDX-License-Identifier: Apache-2.0
#include "ops/keys/row_encoder.h"

#include <cstring>
#include <vector>

#include "ops/keys/key_equality.h"

namespace xshards::ops {

namespace {

// A value is its tag and eight bytes: the word, or the number of bytes that follow.
constexpr int64_t kHeaderBytes = 9;

void WriteHeader(uint8_t* to, KeyTag tag, uint64_t word) {
  *to = static_cast<uint8_t>(tag);
  std::memcpy(to + 1, &word, sizeof(word));
}

}  // namespace

arrow::Result<EncodedKeys> EncodeKeys(const arrow::ArrayVector& key_columns,
                                      int64_t num_rows, arrow::MemoryPool* pool) {
  const auto nothing = [](auto&&...) {};
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> offsets_buffer,
      arrow::AllocateBuffer((num_rows + 1) * static_cast<int64_t>(sizeof(int64_t)),
                            pool));
  auto* offsets = offsets_buffer->mutable_data_as<int64_t>();

  // First the length of each row, then the columns one by one, each at its row's cursor.
  const auto fixed_bytes = static_cast<int64_t>(key_columns.size()) * kHeaderBytes;
  std::vector<int64_t> cursors(static_cast<size_t>(num_rows), fixed_bytes);
  int64_t* cursor = cursors.data();
  for (const auto& column : key_columns) {
    if (!IsBytesKey(*column->type())) continue;
    VisitKeyValues(*column, nothing, nothing,
                   [cursor](int64_t i, std::string_view bytes) {
                     cursor[i] += static_cast<int64_t>(bytes.size());
                   });
  }
  int64_t total = 0;
  for (int64_t i = 0; i < num_rows; ++i) {
    offsets[i] = total;
    total += cursor[i];
    cursor[i] = offsets[i];
  }
  offsets[num_rows] = total;

  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bytes_buffer,
                        arrow::AllocateBuffer(total, pool));
  uint8_t* out = bytes_buffer->mutable_data();
  for (const auto& column : key_columns) {
    VisitKeyValues(
        *column,
        [=](int64_t i) {
          WriteHeader(out + cursor[i], KeyTag::kMissing, 0);
          cursor[i] += kHeaderBytes;
        },
        [=](int64_t i, KeyWord key) {
          WriteHeader(out + cursor[i], key.tag, key.word);
          cursor[i] += kHeaderBytes;
        },
        [=](int64_t i, std::string_view bytes) {
          WriteHeader(out + cursor[i], KeyTag::kBytes, bytes.size());
          std::memcpy(out + cursor[i] + kHeaderBytes, bytes.data(), bytes.size());
          cursor[i] += kHeaderBytes + static_cast<int64_t>(bytes.size());
        });
  }
  return EncodedKeys(num_rows, std::move(offsets_buffer), std::move(bytes_buffer));
}

}  // namespace xshards::ops
