// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/column_decoder.h"

#include <algorithm>
#include <utility>

#include "io/parquet/decoder_base_internal.h"
#include "io/parquet/dictionary_encoding.h"

namespace xshards::io {
namespace {

bool IsPlainOrDictionary(const parquet::ColumnChunkMetaData& chunk) {
  const auto& encodings = chunk.encodings();
  return std::all_of(encodings.begin(), encodings.end(), [](auto encoding) {
    return encoding == parquet::Encoding::PLAIN || encoding == parquet::Encoding::RLE ||
           encoding == parquet::Encoding::RLE_DICTIONARY ||
           encoding == parquet::Encoding::PLAIN_DICTIONARY;
  });
}

bool IsLargeText(const arrow::DataType& type) {
  return type.id() == arrow::Type::LARGE_STRING || type.id() == arrow::Type::LARGE_BINARY;
}

}  // namespace

bool FlatColumn::CanDecode(const parquet::ColumnDescriptor& column,
                           const parquet::ColumnChunkMetaData& chunk,
                           const arrow::DataType& type) {
  if (column.max_repetition_level() != 0 || column.max_definition_level() > 1 ||
      !IsPlainOrDictionary(chunk)) {
    return false;
  }
  using arrow::Type;
  switch (column.physical_type()) {
    case parquet::Type::INT32:
      return type.id() == Type::INT32 || type.id() == Type::UINT32 ||
             type.id() == Type::DATE32 || type.id() == Type::TIME32;
    case parquet::Type::INT64:
      return type.id() == Type::INT64 || type.id() == Type::UINT64 ||
             type.id() == Type::TIMESTAMP || type.id() == Type::TIME64;
    case parquet::Type::FLOAT:
      return type.id() == Type::FLOAT;
    case parquet::Type::DOUBLE:
      return type.id() == Type::DOUBLE;
    case parquet::Type::BYTE_ARRAY:
      if (type.id() == Type::DICTIONARY) {
        const auto& encoded = static_cast<const arrow::DictionaryType&>(type);
        return encoded.index_type()->id() == Type::INT32 &&
               IsLargeText(*encoded.value_type()) && IsAllDictionary(chunk);
      }
      return IsLargeText(type);
    default:
      return false;
  }
}

std::unique_ptr<FlatColumn> FlatColumn::Make(std::unique_ptr<parquet::PageReader> pages,
                                             const parquet::ColumnDescriptor& column,
                                             std::shared_ptr<arrow::DataType> type,
                                             arrow::MemoryPool* pool) {
  FlatPages flat(std::move(pages), column.max_definition_level() > 0);
  switch (column.physical_type()) {
    case parquet::Type::INT32:
    case parquet::Type::FLOAT:
      return MakeNumberDecoder(std::move(flat), std::move(type), 32, pool);
    case parquet::Type::INT64:
    case parquet::Type::DOUBLE:
      return MakeNumberDecoder(std::move(flat), std::move(type), 64, pool);
    default:
      if (type->id() == arrow::Type::DICTIONARY) {
        return MakeDictionaryDecoder(std::move(flat), std::move(type), pool);
      }
      return MakeTextDecoder(std::move(flat), std::move(type), pool);
  }
}

}  // namespace xshards::io