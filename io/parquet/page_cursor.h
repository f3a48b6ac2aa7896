// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <parquet/column_page.h>
#include <parquet/column_reader.h>

#include "io/parquet/rle_bit_packed_decoder.h"

namespace xshards::io {

/// The data pages of a column that is not nested, in order: their validity and values.
/// Used by one thread.
class FlatPages {
 public:
  /// `is_optional` says whether rows may be null.
  FlatPages(std::unique_ptr<parquet::PageReader> pages, bool is_optional);

  /// Go to the next page that has rows. Invalid if there is none. A dictionary before it
  /// is passed to `set_dictionary`, which must not keep the page.
  template <typename SetDictionary>
  arrow::Status Next(SetDictionary set_dictionary);

  int64_t rows_left() const { return rows_left_; }
  /// Skip rows after those of the current page: pages completely within them are not
  /// decompressed. The rest, TakeRowsToSkip() rows of the next page, fewer than it has,
  /// must be skipped by the caller.
  void SkipBehind(int64_t num_rows) { *rows_to_skip_ += num_rows; }
  int64_t TakeRowsToSkip() { return std::exchange(*rows_to_skip_, 0); }
  /// Skip the rest of the current page.
  void SkipPage() { rows_left_ = 0; }
  bool is_optional() const { return is_optional_; }
  /// The values of the page are dictionary indices, in `indices`.
  bool has_indices() const { return has_indices_; }
  PackedRuns& indices() { return indices_; }
  /// Otherwise they are PLAIN, from here on; consumed bytes are counted with Skip().
  const uint8_t* values() const { return values_; }
  int64_t num_value_bytes() const { return values_end_ - values_; }
  void Skip(int64_t num_bytes) { values_ += num_bytes; }

  /// Read the validity of the next rows to a bitmap from bit `offset` on (see
  /// PackedRuns::ReadBits); returns the number of non-null rows. Called once for rows,
  /// before their values are read. Columns that are not optional have no bitmap.
  arrow::Result<int64_t> ReadValidity(uint8_t* bitmap, int64_t offset, int64_t num_rows);

 private:
  arrow::Result<std::shared_ptr<parquet::Page>> ReadPage();
  arrow::Status Open(std::shared_ptr<parquet::Page> page);
  arrow::Status CheckDictionary(const parquet::DictionaryPage& page);

  // On the heap: the page reader's filter refers to it, and this object can be moved.
  std::unique_ptr<int64_t> rows_to_skip_ = std::make_unique<int64_t>(0);
  std::unique_ptr<parquet::PageReader> pages_;
  const bool is_optional_;
  std::shared_ptr<parquet::Page> page_;
  int64_t rows_left_ = 0;
  bool may_have_dictionary_ = true;  // none has come, nor a page with rows
  bool has_indices_ = false;
  PackedRuns validity_;
  PackedRuns indices_;
  const uint8_t* values_ = nullptr;
  const uint8_t* values_end_ = nullptr;
};

template <typename SetDictionary>
arrow::Status FlatPages::Next(SetDictionary set_dictionary) {
  while (rows_left_ == 0) {
    ARROW_ASSIGN_OR_RAISE(auto page, ReadPage());
    if (page->type() == parquet::PageType::DICTIONARY_PAGE) {
      const auto& dictionary = static_cast<const parquet::DictionaryPage&>(*page);
      ARROW_RETURN_NOT_OK(CheckDictionary(dictionary));
      ARROW_RETURN_NOT_OK(set_dictionary(dictionary));
    } else {
      ARROW_RETURN_NOT_OK(Open(std::move(page)));
    }
  }
  return arrow::Status::OK();
}

}  // namespace xshards::io
