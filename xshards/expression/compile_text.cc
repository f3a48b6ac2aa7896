// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <arrow/compute/api_scalar.h>

#include "xshards/expression/compiler.h"

namespace xshards {

namespace cp = arrow::compute;

OperandResult CompileTextMatch(const Compiler& compiler,
                               const ArrowExpression::Call& call,
                               std::vector<Operand> arguments) {
  const Operand& text = arguments[0];
  auto match = cp::call(call.function_name, {text.arrow}, call.options);
  if (!HasMissingLogic(text.family())) {
    match = cp::call("coalesce", {std::move(match), cp::literal(false)});
  }
  return compiler.Typed(std::move(match), text.family());
}

OperandResult CompileTextSlice(const Compiler& compiler, const ArrowExpression::Call&,
                               std::vector<Operand> arguments) {
  const Operand& text = arguments[0];
  cp::SliceOptions options;
  ARROW_ASSIGN_OR_RAISE(options.start, IntegerOption(arguments[1]));
  ARROW_ASSIGN_OR_RAISE(options.stop, IntegerOption(arguments[2]));
  ARROW_ASSIGN_OR_RAISE(options.step, IntegerOption(arguments[3]));
  return compiler.Typed(
      cp::call("utf8_slice_codeunits", {text.arrow}, std::move(options)), text.family());
}

OperandResult CompileTextStrip(const Compiler& compiler, const ArrowExpression::Call&,
                               std::vector<Operand> arguments) {
  const Operand& text = arguments[0];
  ARROW_ASSIGN_OR_RAISE(auto side, TextOption(arguments[1]));
  if (arguments.size() == 2) {
    return compiler.Typed(cp::call("utf8_" + side + "_whitespace", {text.arrow}),
                          text.family());
  }
  ARROW_ASSIGN_OR_RAISE(auto characters, TextOption(arguments[2]));
  return compiler.Typed(
      cp::call("utf8_" + side, {text.arrow}, cp::TrimOptions(std::move(characters))),
      text.family());
}

OperandResult CompileTextPad(const Compiler& compiler, const ArrowExpression::Call&,
                             std::vector<Operand> arguments) {
  const Operand& text = arguments[0];
  ARROW_ASSIGN_OR_RAISE(const auto side, TextOption(arguments[1]));
  ARROW_ASSIGN_OR_RAISE(const auto width, IntegerOption(arguments[2]));
  ARROW_ASSIGN_OR_RAISE(auto filler, TextOption(arguments[3]));
  // If the padding is odd, Python pads the left more for even widths.
  const cp::PadOptions options(width, std::move(filler), width % 2 == 0);
  return compiler.Typed(cp::call("utf8_" + side, {text.arrow}, options), text.family());
}

OperandResult CompileTextZeroFill(const Compiler& compiler, const ArrowExpression::Call&,
                                  std::vector<Operand> arguments) {
  const Operand& text = arguments[0];
  ARROW_ASSIGN_OR_RAISE(const auto width, IntegerOption(arguments[1]));
  return compiler.Typed(
      cp::call("utf8_zero_fill", {text.arrow}, cp::ZeroFillOptions(width)),
      text.family());
}

OperandResult CompileTextCount(const Compiler& compiler, const ArrowExpression::Call&,
                               std::vector<Operand> arguments) {
  const Operand& text = arguments[0];
  ARROW_ASSIGN_OR_RAISE(auto pattern, TextOption(arguments[1]));
  auto count = cp::call("count_substring_regex", {text.arrow},
                        cp::MatchSubstringOptions(std::move(pattern)));
  return compiler.Typed(CastTo(std::move(count), arrow::int64()), text.family());
}

OperandResult CompileTextReplaceSlice(const Compiler& compiler,
                                      const ArrowExpression::Call&,
                                      std::vector<Operand> arguments) {
  const Operand& text = arguments[0];
  ARROW_ASSIGN_OR_RAISE(const auto start, IntegerOption(arguments[1]));
  ARROW_ASSIGN_OR_RAISE(const auto stop, IntegerOption(arguments[2]));
  ARROW_ASSIGN_OR_RAISE(auto replacement, TextOption(arguments[3]));
  return compiler.Typed(
      cp::call("utf8_replace_slice", {text.arrow},
               cp::ReplaceSliceOptions(start, stop, std::move(replacement))),
      text.family());
}

}  // namespace xshards
