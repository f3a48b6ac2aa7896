// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type.h>

#include "xshards/plan/plan.h"

namespace xshards {

/// The schema of a node's output, from those of its inputs.
SchemaResult FindSchema(const NodeVariant& node, const std::vector<Plan>& inputs);

/// A column's field. KeyError lists the columns if there is none of that name.
arrow::Result<std::shared_ptr<arrow::Field>> FieldOf(const std::string& name,
                                                     const arrow::Schema& schema);

/// True for values that only Python compares. Categories are compared by their places.
bool HoldsObjects(const arrow::Field& field);

/// The field of a column whose values are compared: a key of groups, joins and exchanges.
/// TypeError if they are Python objects: equal ones may be pickled to different bytes.
arrow::Result<std::shared_ptr<arrow::Field>> KeyField(const std::string& name,
                                                      const arrow::Schema& schema);

}  // namespace xshards
