// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <parquet/metadata.h>

namespace xshards::io {

/// True if all values of a Parquet column chunk are dictionary-encoded: writers fall back
/// to PLAIN if a dictionary gets too large.
bool IsAllDictionary(const parquet::ColumnChunkMetaData& chunk);

/// The bytes of a chunk's dictionary in the file, or -1 if unknown.
int64_t DictionaryBytes(const parquet::ColumnChunkMetaData& chunk);

}  // namespace xshards::io
