// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/page_cursor.h"

#include <cstring>
#include <utility>

#include <arrow/util/bit_util.h>
#include <parquet/types.h>

#include "io/parquet/catch_parquet.h"

namespace xshards::io {

FlatPages::FlatPages(std::unique_ptr<parquet::PageReader> pages, bool is_optional)
    : pages_(std::move(pages)), is_optional_(is_optional) {
  pages_->set_data_page_filter(
      [to_skip = rows_to_skip_.get()](const parquet::DataPageStats& page) {
        if (page.num_values < 0 || page.num_values > *to_skip) return false;
        *to_skip -= page.num_values;
        return true;
      });
}

arrow::Result<std::shared_ptr<parquet::Page>> FlatPages::ReadPage() {
  return CatchParquet([&]() -> arrow::Result<std::shared_ptr<parquet::Page>> {
    auto page = pages_->NextPage();
    if (page == nullptr) {
      return arrow::Status::Invalid("A column has fewer rows than its row group");
    }
    return page;
  });
}

// Indices are places in the one dictionary: what was checked against another, or written
// as indices of it, would be wrong.
arrow::Status FlatPages::CheckDictionary(const parquet::DictionaryPage& page) {
  if (!std::exchange(may_have_dictionary_, false)) {
    return arrow::Status::Invalid(
        "Expected one dictionary page, before all data pages, got another");
  }
  if (page.encoding() != parquet::Encoding::PLAIN &&
      page.encoding() != parquet::Encoding::PLAIN_DICTIONARY) {
    return arrow::Status::Invalid("Expected a PLAIN dictionary page, got ",
                                  parquet::EncodingToString(page.encoding()));
  }
  return arrow::Status::OK();
}

arrow::Status FlatPages::Open(std::shared_ptr<parquet::Page> page) {
  const uint8_t* data = page->data();
  const uint8_t* const end = data + page->size();
  parquet::Encoding::type encoding;
  if (page->type() == parquet::PageType::DATA_PAGE) {
    const auto& v1 = static_cast<const parquet::DataPageV1&>(*page);
    encoding = v1.encoding();
    rows_left_ = v1.num_values();
    if (is_optional_) {
      uint32_t num_bytes = 0;
      if (v1.definition_level_encoding() != parquet::Encoding::RLE || end - data < 4) {
        return arrow::Status::Invalid(
            "Data page without definition levels in an optional column");
      }
      std::memcpy(&num_bytes, data, sizeof(num_bytes));
      data += sizeof(num_bytes);
      if (num_bytes > end - data) {
        return arrow::Status::Invalid("Data page is truncated");
      }
      validity_ = PackedRuns(data, num_bytes, /*width=*/1);
      data += num_bytes;
    }
  } else if (page->type() == parquet::PageType::DATA_PAGE_V2) {
    const auto& v2 = static_cast<const parquet::DataPageV2&>(*page);
    encoding = v2.encoding();
    rows_left_ = v2.num_values();
    const int64_t before = v2.repetition_levels_byte_length();
    const int64_t num_bytes = v2.definition_levels_byte_length();
    if (before < 0 || num_bytes < 0 || before + num_bytes > end - data) {
      return arrow::Status::Invalid("Data page is truncated");
    }
    data += before;
    validity_ = PackedRuns(data, num_bytes, /*width=*/1);
    data += num_bytes;
  } else {
    return arrow::Status::OK();  // an index page, which readers skip
  }
  may_have_dictionary_ = false;
  if (rows_left_ < 0) return arrow::Status::Invalid("Data page without a number of rows");
  has_indices_ = encoding == parquet::Encoding::RLE_DICTIONARY ||
                 encoding == parquet::Encoding::PLAIN_DICTIONARY;
  if (!has_indices_ && encoding != parquet::Encoding::PLAIN) {
    return arrow::Status::Invalid(
        "Data page has an encoding that its column chunk does not declare: ",
        parquet::EncodingToString(encoding));
  }
  if (has_indices_) {
    // A page of nulls only may have no indices.
    const int width = data == end ? 0 : *data++;
    if (width > 32) {
      return arrow::Status::Invalid("Data page has dictionary indices of ", width,
                                    " bits");
    }
    indices_ = PackedRuns(data, end - data, width);
  }
  values_ = data;
  values_end_ = end;
  page_ = std::move(page);
  return arrow::Status::OK();
}

arrow::Result<int64_t> FlatPages::ReadValidity(uint8_t* bitmap, int64_t offset,
                                               int64_t num_rows) {
  rows_left_ -= num_rows;
  if (is_optional_) return validity_.ReadBits(bitmap, offset, num_rows);
  return num_rows;
}

}  // namespace xshards::io
