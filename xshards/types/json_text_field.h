// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <arrow/type.h>

#include "xshards/export.h"

namespace xshards {

// Text columns whose values are JSON: values that do not share one Arrow type.
// `to_pandas` returns them as Python objects.

XSHARDS_EXPORT bool IsJsonText(const arrow::Field& field);
/// A field for such a column.
XSHARDS_EXPORT std::shared_ptr<arrow::Field> JsonTextField(const std::string& name);

}  // namespace xshards
