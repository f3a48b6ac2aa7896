// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/type.h>

#include "io/write/file_writer.h"

namespace xshards::io {

/// True if a column has a dtype that files store in pandas metadata: the nullable ones
/// ("Int64", "boolean", "string").
bool IsNotedForPandas(const arrow::Field& field);

/// Open writers whose files list columns of such dtypes in the schema's pandas metadata;
/// the fields have no metadata there.
OpenWriter WithPandasNote(OpenWriter open);

}  // namespace xshards::io
