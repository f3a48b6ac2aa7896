// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <arrow/type.h>

#include "io/option_map.h"

namespace xshards::io {

/// The writers' option that holds what pandas is to know of a table beyond its types:
/// the index, nullable dtypes, labels. Its name is that of the schema's metadata, too.
inline constexpr char kPandasKey[] = "pandas";

/// The schema with that note, where the options have one.
std::shared_ptr<arrow::Schema> WithPandasNote(
    const std::shared_ptr<arrow::Schema>& schema, const OptionMap& options);

}  // namespace xshards::io
