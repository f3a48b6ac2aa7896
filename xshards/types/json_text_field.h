// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <arrow/type.h>

namespace xshards::io {

// Text columns whose values are JSON: values that no one Arrow type holds. Their
// `to_pandas` gives Python objects.

bool IsJsonText(const arrow::Field& field);
/// A field for such a column.
std::shared_ptr<arrow::Field> JsonTextField(const std::string& name);

}  // namespace xshards::io
