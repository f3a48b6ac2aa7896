// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include <arrow/compute/expression.h>

#include "xshards/expression/expression.h"

namespace xshards {

// Expressions share parts: after `x = x * (1 - x)` n times there are 2n calls in memory,
// but 2^n once they are written out. What walks an expression takes each part once.

using ArrowCall = arrow::compute::Expression::Call;

/// Visit each different call of an expression once, arguments before what uses them.
void ForEachCall(const arrow::compute::Expression& expression,
                 const std::function<void(const arrow::compute::Expression&)>& visit);

/// The calls that are an argument in more than one place.
std::unordered_set<const ArrowCall*> SharedCalls(
    const arrow::compute::Expression& expression);

/// How many calls an expression has when shared parts count once.
int64_t NumCalls(const arrow::compute::Expression& expression);

/// How many it has once it is written out.
double NumWrittenCalls(const arrow::compute::Expression& expression);

/// Rebuild an expression with `replace(name)` in the place of columns; nullptr keeps a
/// column. Shared parts stay shared.
arrow::compute::Expression ReplaceColumns(
    const arrow::compute::Expression& expression,
    const std::function<const arrow::compute::Expression*(const std::string&)>& replace);

/// An expression as trees without shared parts, for codecs and people. A tree reads the
/// result of tree `i` as column `prefix` + i; the last tree is the whole.
struct ExpressionTrees {
  std::string prefix;
  std::vector<arrow::compute::Expression> trees;
};
ExpressionTrees SplitSharedParts(const arrow::compute::Expression& expression);
/// The inverse of SplitSharedParts; `trees` is not empty.
arrow::compute::Expression JoinSharedParts(const ExpressionTrees& parts);

}  // namespace xshards
