// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/scatter_column.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include <arrow/array/concatenate.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>

#include "ops/kernels/gather.h"
#include "ops/kernels/vector_array.h"

namespace xshards::ops {

namespace {

using arrow::Type;

int64_t Padded(int64_t bytes) { return arrow::bit_util::RoundUpToMultipleOf64(bytes); }

const arrow::DataType& StorageType(const arrow::DataType& type) {
  return type.id() == Type::EXTENSION
             ? *static_cast<const arrow::ExtensionType&>(type).storage_type()
             : type;
}

/// Call visit(i) for the bits i of `bits` from `offset` on that are `wanted`; cheap if
/// they are few.
template <typename Visit>
void ForEachBit(const uint8_t* bits, int64_t offset, int64_t length, bool wanted,
                Visit&& visit) {
  int64_t i = 0;
  const auto visit_one = [&] {
    if (arrow::bit_util::GetBit(bits, static_cast<uint64_t>(offset + i)) == wanted) {
      visit(i);
    }
    ++i;
  };
  while (i < length && (offset + i) % 8 != 0) visit_one();
  for (; length - i >= 64; i += 64) {
    uint64_t word;
    std::memcpy(&word, bits + (offset + i) / 8, sizeof(word));
    if (!wanted) word = ~word;
    for (; word != 0; word &= word - 1) visit(i + std::countr_zero(word));
  }
  while (i < length) visit_one();
}

// Most strings are short: two loads that may overlap are faster than a call.
void CopyBytes(uint8_t* to, const uint8_t* from, size_t size) {
  const auto copy_ends = [&]<typename Word>(Word) {
    Word first;
    Word last;
    std::memcpy(&first, from, sizeof(Word));
    std::memcpy(&last, from + size - sizeof(Word), sizeof(Word));
    std::memcpy(to, &first, sizeof(Word));
    std::memcpy(to + size - sizeof(Word), &last, sizeof(Word));
  };
  if (size > 16) {
    std::memcpy(to, from, size);
  } else if (size >= 8) {
    copy_ends(uint64_t{});
  } else if (size >= 4) {
    copy_ends(uint32_t{});
  } else if (size >= 2) {
    copy_ends(uint16_t{});
  } else if (size == 1) {
    *to = *from;
  }
}

struct Wide {
  uint64_t words[2];
};

}  // namespace

ColumnScatter::ColumnScatter(arrow::ArrayDataVector pieces) : pieces_(std::move(pieces)) {
  for (const auto& piece : pieces_) {
    num_rows_ += piece->length;
    null_count_ += piece->GetNullCount();
  }
  shape_ = FindShape();
  if (shape_ == Shape::kNull || shape_ == Shape::kNested) return;
  const int64_t bitmap_bytes = Padded(arrow::bit_util::BytesForBits(num_rows_));
  if (null_count_ > 0) validity_bytes_ = bitmap_bytes;
  switch (shape_) {
    case Shape::kBits:
      values_bytes_ = bitmap_bytes;
      break;
    case Shape::kFixed:
      values_bytes_ = Padded(num_rows_ * byte_width_);
      break;
    case Shape::kBytes32:
      values_bytes_ = Padded((num_rows_ + 1) * static_cast<int64_t>(sizeof(int32_t)));
      data_bytes_ = Padded(CountBytes<int32_t>());
      break;
    default:
      values_bytes_ = Padded((num_rows_ + 1) * static_cast<int64_t>(sizeof(int64_t)));
      data_bytes_ = Padded(CountBytes<int64_t>());
  }
}

ColumnScatter::Shape ColumnScatter::FindShape() {
  const arrow::DataType* type = &StorageType(*pieces_[0]->type);
  if (type->id() == Type::DICTIONARY) {
    const auto& shared = pieces_[0]->dictionary;
    const auto has_it = [&](const auto& piece) { return piece->dictionary == shared; };
    if (!std::all_of(pieces_.begin(), pieces_.end(), has_it)) return Shape::kNested;
    type = static_cast<const arrow::DictionaryType&>(*type).index_type().get();
  }
  switch (type->id()) {
    case Type::NA:
      return Shape::kNull;
    case Type::BOOL:
      return Shape::kBits;
    case Type::STRING:
    case Type::BINARY:
      // 32-bit offsets may be too small for all pieces together.
      return CountBytes<int32_t>() <= std::numeric_limits<int32_t>::max()
                 ? Shape::kBytes32
                 : Shape::kNested;
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY:
      return Shape::kBytes64;
    default:
      break;
  }
  if (!arrow::is_primitive(type->id()) && !arrow::is_fixed_size_binary(type->id())) {
    return Shape::kNested;
  }
  byte_width_ = type->byte_width();
  return Shape::kFixed;
}

template <typename Offset>
int64_t ColumnScatter::CountBytes() const {
  int64_t bytes = 0;
  for (const auto& piece : pieces_) {
    if (piece->length == 0) continue;
    const auto* offsets = piece->GetValues<Offset>(1);
    bytes += offsets[piece->length] - offsets[0];
  }
  return bytes;
}

arrow::Result<std::shared_ptr<arrow::Array>> ColumnScatter::Run(
    std::span<const uint32_t> positions, const std::shared_ptr<arrow::Buffer>& memory,
    int64_t begin, arrow::MemoryPool* pool) const {
  if (shape_ == Shape::kNested) return TakeRows(positions, pool);
  auto result = arrow::ArrayData::Make(pieces_[0]->type, num_rows_, null_count_);
  result->dictionary = pieces_[0]->dictionary;
  result->buffers.push_back(nullptr);
  if (validity_bytes_ > 0) {
    result->buffers[0] = arrow::SliceBuffer(memory, begin, validity_bytes_);
    MoveValidity(positions, memory->mutable_data() + begin);
  }
  if (shape_ == Shape::kNull) return arrow::MakeArray(result);
  begin += validity_bytes_;
  uint8_t* values = memory->mutable_data() + begin;
  result->buffers.push_back(arrow::SliceBuffer(memory, begin, values_bytes_));
  switch (shape_) {
    case Shape::kBits:
      MoveBits(positions, values);
      break;
    case Shape::kFixed:
      MoveFixed(positions, values);
      break;
    default:
      result->buffers.push_back(
          arrow::SliceBuffer(memory, begin + values_bytes_, data_bytes_));
      if (shape_ == Shape::kBytes32) {
        MoveBytes<int32_t>(positions, values, values + values_bytes_);
      } else {
        MoveBytes<int64_t>(positions, values, values + values_bytes_);
      }
  }
  return arrow::MakeArray(result);
}

void ColumnScatter::MoveValidity(std::span<const uint32_t> positions, uint8_t* to) const {
  std::memset(to, 0xFF, static_cast<size_t>(validity_bytes_));
  const uint32_t* position = positions.data();
  for (const auto& piece : pieces_) {
    if (piece->GetNullCount() > 0) {
      ForEachBit(piece->buffers[0]->data(), piece->offset, piece->length, false,
                 [=](int64_t i) { arrow::bit_util::ClearBit(to, position[i]); });
    }
    position += piece->length;
  }
}

void ColumnScatter::MoveBits(std::span<const uint32_t> positions, uint8_t* to) const {
  std::memset(to, 0, static_cast<size_t>(values_bytes_));
  const uint32_t* position = positions.data();
  for (const auto& piece : pieces_) {
    if (piece->length == 0) continue;
    ForEachBit(piece->buffers[1]->data(), piece->offset, piece->length, true,
               [=](int64_t i) { arrow::bit_util::SetBit(to, position[i]); });
    position += piece->length;
  }
}

template <typename Word>
void ColumnScatter::MoveWords(std::span<const uint32_t> positions, uint8_t* to) const {
  const uint32_t* position = positions.data();
  auto* words = reinterpret_cast<Word*>(to);
  for (const auto& piece : pieces_) {
    if (piece->length == 0) continue;
    const auto* from = piece->GetValues<Word>(1);
    for (int64_t i = 0; i < piece->length; ++i) words[position[i]] = from[i];
    position += piece->length;
  }
}

void ColumnScatter::MoveFixed(std::span<const uint32_t> positions, uint8_t* to) const {
  switch (byte_width_) {
    case 1:
      return MoveWords<uint8_t>(positions, to);
    case 2:
      return MoveWords<uint16_t>(positions, to);
    case 4:
      return MoveWords<uint32_t>(positions, to);
    case 8:
      return MoveWords<uint64_t>(positions, to);
    case 16:
      return MoveWords<Wide>(positions, to);
    default:
      break;
  }
  const auto width = static_cast<size_t>(byte_width_);
  const uint32_t* position = positions.data();
  for (const auto& piece : pieces_) {
    if (piece->length == 0) continue;
    const uint8_t* from = piece->GetValues<uint8_t>(1, piece->offset * byte_width_);
    for (int64_t i = 0; i < piece->length; ++i, from += width) {
      std::memcpy(to + position[i] * width, from, width);
    }
    position += piece->length;
  }
}

template <typename Offset>
void ColumnScatter::MoveBytes(std::span<const uint32_t> positions, uint8_t* offsets,
                              uint8_t* data) const {
  auto* ends = reinterpret_cast<Offset*>(offsets) + 1;
  ends[-1] = 0;
  const uint32_t* position = positions.data();
  for (const auto& piece : pieces_) {
    if (piece->length == 0) continue;
    const auto* from = piece->GetValues<Offset>(1);
    for (int64_t i = 0; i < piece->length; ++i) ends[position[i]] = from[i + 1] - from[i];
    position += piece->length;
  }
  for (int64_t i = 0; i < num_rows_; ++i) ends[i] += ends[i - 1];

  position = positions.data();
  for (const auto& piece : pieces_) {
    if (piece->length == 0) continue;
    const auto* from = piece->GetValues<Offset>(1);
    const uint8_t* bytes = piece->buffers[2] ? piece->buffers[2]->data() : nullptr;
    const auto* begins = ends - 1;
    for (int64_t i = 0; i < piece->length; ++i) {
      CopyBytes(data + begins[position[i]], bytes + from[i],
                static_cast<size_t>(from[i + 1] - from[i]));
    }
    position += piece->length;
  }
}

arrow::Result<std::shared_ptr<arrow::Array>> ColumnScatter::TakeRows(
    std::span<const uint32_t> positions, arrow::MemoryPool* pool) const {
  arrow::ArrayVector arrays;
  for (const auto& piece : pieces_) arrays.push_back(arrow::MakeArray(piece));
  auto whole = arrays[0];
  if (arrays.size() > 1) {
    ARROW_ASSIGN_OR_RAISE(whole, arrow::Concatenate(arrays, pool));
  }
  std::vector<int64_t> rows(positions.size());
  for (size_t i = 0; i < positions.size(); ++i) {
    rows[positions[i]] = static_cast<int64_t>(i);
  }
  return Gather(whole, ToArray(std::move(rows)), pool);
}

}  // namespace xshards::ops
