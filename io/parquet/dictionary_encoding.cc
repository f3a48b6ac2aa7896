// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/dictionary_encoding.h"

#include <algorithm>

namespace xshards::io {
namespace {

bool IsDictionary(parquet::Encoding::type encoding) {
  return encoding == parquet::Encoding::RLE_DICTIONARY ||
         encoding == parquet::Encoding::PLAIN_DICTIONARY;
}

}  // namespace

bool IsAllDictionary(const parquet::ColumnChunkMetaData& chunk) {
  const auto& pages = chunk.encoding_stats();
  if (!pages.empty()) {
    return std::all_of(pages.begin(), pages.end(), [](const auto& page) {
      const bool has_rows = page.page_type == parquet::PageType::DATA_PAGE ||
                            page.page_type == parquet::PageType::DATA_PAGE_V2;
      return !has_rows || IsDictionary(page.encoding);
    });
  }
  // Without statistics of page encodings, PLAIN may mean only the dictionary, or pages
  // too.
  const auto& encodings = chunk.encodings();
  return std::any_of(encodings.begin(), encodings.end(), IsDictionary) &&
         std::find(encodings.begin(), encodings.end(), parquet::Encoding::PLAIN) ==
             encodings.end();
}

int64_t DictionaryBytes(const parquet::ColumnChunkMetaData& chunk) {
  if (!chunk.has_dictionary_page()) return -1;
  const int64_t begin = chunk.dictionary_page_offset();
  const int64_t end = chunk.data_page_offset();
  return begin < 0 || end < begin ? -1 : end - begin;
}

}  // namespace xshards::io
