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
  // Without a word on each page: plain may be the dictionary alone, or pages too.
  const auto& encodings = chunk.encodings();
  return std::any_of(encodings.begin(), encodings.end(), IsDictionary) &&
         std::find(encodings.begin(), encodings.end(), parquet::Encoding::PLAIN) ==
             encodings.end();
}

int64_t DictionaryBytes(const parquet::ColumnChunkMetaData& chunk) {
  if (!chunk.has_dictionary_page()) return -1;
  return std::max<int64_t>(-1, chunk.data_page_offset() - chunk.dictionary_page_offset());
}

}  // namespace xshards::io
