// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <arrow/result.h>
#include <arrow/type.h>

#include "xshards/plan/plan.h"

namespace xshards {

/// A column's field. KeyError names those there are if it is none of them.
arrow::Result<std::shared_ptr<arrow::Field>> FieldOf(const std::string& name,
                                                     const arrow::Schema& schema);

/// The field of a column whose values are told apart: a key of groups, joins and
/// exchanges. TypeError if they are Python objects: two that are equal may be pickled to
/// different bytes.
arrow::Result<std::shared_ptr<arrow::Field>> KeyField(const std::string& name,
                                                      const arrow::Schema& schema);

}  // namespace xshards
