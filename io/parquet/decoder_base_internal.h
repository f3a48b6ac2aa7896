// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/util/bit_util.h>
#include <parquet/types.h>

#include "io/parquet/bit_unpack.h"
#include "io/parquet/column_decoder.h"
#include "io/parquet/page_cursor.h"

namespace xshards::io {

// The base of the decoders of numbers, text and dictionaries.

// Rows decoded at a time: their dictionary indices stay in the first-level cache.
inline constexpr int64_t kChunkRows = 1024;

/// Some rows of a batch that are decoded together.
struct Rows {
  int64_t begin = 0;
  int64_t count = 0;
  int64_t num_valid = 0;
  const uint8_t* bitmap = nullptr;  // of the batch; nullptr if all have a value

  /// Whether a row has a value; where not all have one.
  bool is_valid(int64_t row) const {
    return arrow::bit_util::GetBit(bitmap, static_cast<uint64_t>(begin + row));
  }
};

/// The validity of up to 64 rows, from a bit of a bitmap on.
inline uint64_t ValidBits(const uint8_t* bitmap, int64_t offset, int64_t num_rows) {
  const int64_t first = offset / 8;
  const int64_t last = (offset + num_rows - 1) / 8;
  uint64_t bits = 0;
  if (last - first >= 7) {
    std::memcpy(&bits, bitmap + first, sizeof(bits));
  } else {
    std::memcpy(&bits, bitmap + first, static_cast<size_t>(last - first + 1));
  }
  bits >>= offset % 8;
  if (last - first == 8) bits |= uint64_t{bitmap[last]} << (64 - offset % 8);
  return num_rows == 64 ? bits : bits & ((uint64_t{1} << num_rows) - 1);
}

/// Shared by all decoders: pages, validity, and indices in chunks.
class DecoderBase : public FlatColumn {
 public:
  DecoderBase(FlatPages pages, std::shared_ptr<arrow::DataType> type,
              arrow::MemoryPool* pool)
      : pages_(std::move(pages)), type_(std::move(type)), pool_(pool) {}

  arrow::Result<std::shared_ptr<arrow::ArrayData>> Read(int64_t num_rows,
                                                        int64_t max_bytes) final {
    std::shared_ptr<arrow::Buffer> validity;
    uint8_t* bitmap = nullptr;
    if (pages_.is_optional()) {
      const int64_t num_bytes =
          arrow::bit_util::BytesForBits(num_rows) + PackedRuns::kBitmapPadding;
      ARROW_ASSIGN_OR_RAISE(validity, arrow::AllocateBuffer(num_bytes, pool_));
      bitmap = validity->mutable_data();
      std::memset(bitmap, 0, static_cast<size_t>(num_bytes));
    }
    ARROW_RETURN_NOT_OK(Begin(num_rows, max_bytes));
    int64_t num_valid = 0;
    int64_t row = 0;
    while (row < num_rows && (row == 0 || !IsFull())) {
      ARROW_RETURN_NOT_OK(
          pages_.Next([this](const auto& page) { return SetDictionary(page); }));
      if (const int64_t to_skip = pages_.TakeRowsToSkip(); to_skip > 0) {
        ARROW_RETURN_NOT_OK(Discard(to_skip));
      }
      const int64_t taken = std::min({num_rows - row, pages_.rows_left(), MostRows()});
      ARROW_ASSIGN_OR_RAISE(const int64_t valid, pages_.ReadValidity(bitmap, row, taken));
      const Rows rows{.begin = row,
                      .count = taken,
                      .num_valid = valid,
                      .bitmap = valid == taken ? nullptr : bitmap};
      ARROW_RETURN_NOT_OK(pages_.has_indices() ? ReadIndices(rows) : ReadPlain(rows));
      row += taken;
      num_valid += valid;
    }
    num_rows = row;
    if (num_valid == num_rows) validity = nullptr;
    ARROW_ASSIGN_OR_RAISE(auto buffers, Finish());
    buffers.insert(buffers.begin(), std::move(validity));
    auto data =
        arrow::ArrayData::Make(type_, num_rows, std::move(buffers), num_rows - num_valid);
    data->dictionary = kept_dictionary();
    return data;
  }

  arrow::Status Skip(int64_t num_rows) final {
    if (num_rows < pages_.rows_left()) return Discard(num_rows);
    pages_.SkipBehind(num_rows - pages_.rows_left());
    pages_.SkipPage();
    return arrow::Status::OK();
  }

 protected:
  /// Make room for rows; `max_bytes` as in Read().
  virtual arrow::Status Begin(int64_t num_rows, int64_t max_bytes) = 0;
  /// True if the rows so far take all the bytes they may.
  virtual bool IsFull() const { return false; }
  /// How many rows to decode at a time, 1 to kChunkRows.
  virtual int64_t MostRows() const { return kChunkRows; }
  virtual arrow::Status SetDictionary(const parquet::DictionaryPage& page) = 0;
  virtual int64_t dictionary_size() const = 0;
  /// Write rows by their indices, one for each non-null row.
  virtual arrow::Status WriteIndices(const uint32_t* indices, const Rows& rows) = 0;
  /// Write rows from the next values of the page.
  virtual arrow::Status ReadPlain(const Rows& rows) = 0;
  /// Skip the next `count` values of the page.
  virtual arrow::Status SkipPlain(int64_t num_values) = 0;
  /// The buffers after the validity.
  virtual arrow::Result<arrow::BufferVector> Finish() = 0;
  /// The dictionary that the values are indices of, if any.
  virtual std::shared_ptr<arrow::ArrayData> kept_dictionary() const { return nullptr; }

  FlatPages pages_;
  const std::shared_ptr<arrow::DataType> type_;
  arrow::MemoryPool* const pool_;

 private:
  /// Skip rows of the current page, fewer than it has.
  arrow::Status Discard(int64_t num_rows) {
    while (num_rows > 0) {
      const int64_t taken = std::min(num_rows, kChunkRows);
      std::array<uint8_t, kChunkRows / 8 + PackedRuns::kBitmapPadding> bitmap{};
      ARROW_ASSIGN_OR_RAISE(const int64_t valid,
                            pages_.ReadValidity(bitmap.data(), 0, taken));
      ARROW_RETURN_NOT_OK(pages_.has_indices()
                              ? pages_.indices().Read(indices_.data(), valid)
                              : SkipPlain(valid));
      num_rows -= taken;
    }
    return arrow::Status::OK();
  }

  arrow::Status ReadIndices(const Rows& rows) {
    ARROW_RETURN_NOT_OK(pages_.indices().Read(indices_.data(), rows.num_valid));
    // Read but not used if the last rows are null.
    indices_[static_cast<size_t>(rows.num_valid)] = 0;
    if (rows.num_valid > 0 &&
        LargestOf(indices_.data(), rows.num_valid) >= dictionary_size()) {
      return arrow::Status::Invalid("Dictionary index out of range in a page");
    }
    return WriteIndices(indices_.data(), rows);
  }

  std::array<uint32_t, kChunkRows + 1> indices_{};
};

/// Write values where rows have one and zero elsewhere; `get(i)` is the i-th value.
template <typename T, typename Get>
void Spread(const Rows& rows, T* out, Get get) {
  int64_t next = 0;
  for (int64_t i = 0; i < rows.count;) {
    const int64_t taken = std::min<int64_t>(64, rows.count - i);
    const uint64_t bits = ValidBits(rows.bitmap, rows.begin + i, taken);
    if (bits == ~uint64_t{0} >> (64 - taken)) {
      for (int64_t j = 0; j < taken; ++j) out[i + j] = get(next + j);
      next += taken;
    } else {
      for (int64_t j = 0; j < taken; ++j) {
        const T bit = static_cast<T>(bits >> j & 1);
        out[i + j] = get(next) & (T{0} - bit);
        next += static_cast<int64_t>(bit);
      }
    }
    i += taken;
  }
}

/// Call visit(text, length) for every text of a dictionary, after checking its length.
template <typename Visit>
arrow::Status ForEachText(const parquet::DictionaryPage& page, Visit visit) {
  const uint8_t* in = page.data();
  const uint8_t* const end = in + page.size();
  for (int64_t i = 0; i < page.num_values(); ++i) {
    uint32_t length = 0;
    if (end - in >= 4) std::memcpy(&length, in, sizeof(length));
    if (end - in < 4 || length > end - in - 4) {
      return arrow::Status::Invalid("Dictionary page is truncated");
    }
    visit(in + 4, length);
    in += 4 + length;
  }
  return arrow::Status::OK();
}

/// The number of texts in a dictionary, checked against its size: each has at least a
/// length field. So no more memory is allocated than the page can fill.
inline arrow::Result<int64_t> NumTexts(const parquet::DictionaryPage& page) {
  const int64_t size = page.num_values();
  if (size < 0 || size > page.size() / int64_t{sizeof(uint32_t)}) {
    return arrow::Status::Invalid("Dictionary page is truncated");
  }
  return size;
}

/// Numbers of 32 or 64 bits (number_decoder.cc).
std::unique_ptr<FlatColumn> MakeNumberDecoder(FlatPages pages,
                                              std::shared_ptr<arrow::DataType> type,
                                              int num_bits, arrow::MemoryPool* pool);
/// Text and bytes (text_decoder.cc).
std::unique_ptr<FlatColumn> MakeTextDecoder(FlatPages pages,
                                            std::shared_ptr<arrow::DataType> type,
                                            arrow::MemoryPool* pool);
/// Text as a dictionary array (dictionary_decoder.cc).
std::unique_ptr<FlatColumn> MakeDictionaryDecoder(FlatPages pages,
                                                  std::shared_ptr<arrow::DataType> type,
                                                  arrow::MemoryPool* pool);

}  // namespace xshards::io
