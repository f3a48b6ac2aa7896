// SPDX-License-Identifier: Apache-2.0
// Text in parts: lists of what is between separators, and what a pattern finds.
#include <utility>

#include <arrow/compute/api_scalar.h>

#include "xshards/expression/compiler.h"

namespace xshards {

namespace cp = arrow::compute;

namespace {

arrow::Status CheckText(const std::string& function, const Operand& operand) {
  if (IsText(*operand.type())) return arrow::Status::OK();
  return arrow::Status::TypeError(function, " needs text, got ", DescribeType(operand));
}

}  // namespace

// (text, separator, maximal number of splits or -1, from the end)
OperandResult CompileTextSplit(const Compiler& compiler,
                               const ArrowExpression::Call& call,
                               std::vector<Operand> arguments) {
  const Operand& text = arguments[0];
  ARROW_RETURN_NOT_OK(CheckText(call.function_name, text));
  ARROW_ASSIGN_OR_RAISE(auto separator, TextOption(arguments[1]));
  ARROW_ASSIGN_OR_RAISE(const auto most, IntegerOption(arguments[2]));
  ARROW_ASSIGN_OR_RAISE(const auto from_end, IntegerOption(arguments[3]));
  const cp::SplitPatternOptions options(std::move(separator), most, from_end != 0);
  return compiler.Typed(cp::call("split_pattern", {text.arrow}, options),
                        DtypeFamily::kPlain);
}

// (list, index): missing if the list is too short. Arrow's own list_element fails there,
// so a slice of one value is taken first, filled with null if it is empty.
OperandResult CompileListGet(const Compiler& compiler, const ArrowExpression::Call& call,
                             std::vector<Operand> arguments) {
  const Operand& list = arguments[0];
  if (!arrow::is_list_like(list.id())) {
    return arrow::Status::TypeError(call.function_name, " needs lists, got ",
                                    DescribeType(list));
  }
  ARROW_ASSIGN_OR_RAISE(const auto place, IntegerOption(arguments[1]));
  auto one = cp::call(
      "list_slice", {list.arrow},
      cp::ListSliceOptions(place, place + 1, 1, /*return_fixed_size_list=*/true));
  return compiler.Typed(
      cp::call("list_element", {std::move(one), cp::literal(int64_t{0})}),
      DtypeFamily::kPlain);
}

// (text, pattern with one named group): the group's first match.
OperandResult CompileTextExtract(const Compiler& compiler,
                                 const ArrowExpression::Call& call,
                                 std::vector<Operand> arguments) {
  const Operand& text = arguments[0];
  ARROW_RETURN_NOT_OK(CheckText(call.function_name, text));
  ARROW_ASSIGN_OR_RAISE(auto pattern, TextOption(arguments[1]));
  auto groups = cp::call("extract_regex", {text.arrow},
                         cp::ExtractRegexOptions(std::move(pattern)));
  return compiler.Typed(
      cp::call("struct_field", {std::move(groups)}, cp::StructFieldOptions({0})),
      text.family());
}

}  // namespace xshards
