// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <arrow/result.h>
#include <arrow/type.h>

#include "xshards/export.h"
#include "xshards/plan.h"

namespace xshards {

/// A column's field. KeyError names those there are if it is none of them.
arrow::Result<std::shared_ptr<arrow::Field>> FieldOf(const std::string& name,
                                                     const arrow::Schema& schema);

/// True if an aggregate is of rows ("*"), not of the values of a column.
XSHARDS_EXPORT bool CountsRows(const Aggregate& aggregate);

}  // namespace xshards
