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

/// The data pages of a column that is not part of a list or struct, one after the other:
/// which rows have a value, and where the values are. Used by one thread.
class FlatPages {
 public:
  /// `is_optional` says whether rows may be without value.
  FlatPages(std::unique_ptr<parquet::PageReader> pages, bool is_optional);

  /// Go to the next page that has rows. Invalid if there is none. A dictionary that
  /// comes before it is given to `set_dictionary`, which must not keep the page.
  template <typename SetDictionary>
  arrow::Status Next(SetDictionary set_dictionary);

  int64_t rows_left() const { return rows_left_; }
  /// Pass over rows behind those of the current page: pages that lie within them are not
  /// unpacked. What Next() could not pass over so is TakeRowsToSkip() of its page, fewer
  /// than it has, and for the caller to pass over.
  void SkipBehind(int64_t num_rows) { *rows_to_skip_ += num_rows; }
  int64_t TakeRowsToSkip() { return std::exchange(*rows_to_skip_, 0); }
  /// Pass over the rest of the current page.
  void SkipPage() { rows_left_ = 0; }
  bool is_optional() const { return is_optional_; }
  /// The values of the page are places in the dictionary, given by `indices`.
  bool has_indices() const { return has_indices_; }
  PackedRuns& indices() { return indices_; }
  /// Otherwise they are plain, from here on; what is taken is counted with Skip().
  const uint8_t* values() const { return values_; }
  int64_t num_value_bytes() const { return values_end_ - values_; }
  void Skip(int64_t num_bytes) { values_ += num_bytes; }

  /// Say for the next rows which have a value, from bit `offset` of a bitmap on (see
  /// PackedRuns::ReadBits); returns how many have one. To be called once for the rows
  /// before their values are read. Without rows that may have none there is no bitmap.
  arrow::Result<int64_t> ReadValidity(uint8_t* bitmap, int64_t offset, int64_t num_rows);

 private:
  arrow::Result<std::shared_ptr<parquet::Page>> ReadPage();
  arrow::Status Open(std::shared_ptr<parquet::Page> page);

  // Apart, for the page reader's filter refers to it and this can be moved.
  std::unique_ptr<int64_t> rows_to_skip_ = std::make_unique<int64_t>(0);
  std::unique_ptr<parquet::PageReader> pages_;
  const bool is_optional_;
  std::shared_ptr<parquet::Page> page_;
  int64_t rows_left_ = 0;
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
      ARROW_RETURN_NOT_OK(
          set_dictionary(static_cast<const parquet::DictionaryPage&>(*page)));
    } else {
      ARROW_RETURN_NOT_OK(Open(std::move(page)));
    }
  }
  return arrow::Status::OK();
}

}  // namespace xshards::io
