// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/aggregate_functions.h"

#include <charconv>
#include <string_view>
#include <system_error>

namespace xshards {

namespace {

constexpr std::string_view kOpening = "quantile(";

}  // namespace

bool IsQuantile(const std::string& function) {
  return function == "median" || function == "quantile" ||
         (function.starts_with(kOpening) && function.ends_with(')'));
}

arrow::Result<double> QuantileShare(const std::string& function) {
  if (function == "median" || function == "quantile") return 0.5;
  const char* begin = function.data() + kOpening.size();
  const char* end = function.data() + function.size() - 1;
  double share = -1;
  const auto [rest, error] = std::from_chars(begin, end, share);
  if (error == std::errc() && rest == end && share >= 0 && share <= 1) return share;
  return arrow::Status::Invalid(
      "Expected a quantile between 0 and 1, as in 'quantile(0.25)', not '", function,
      "'");
}

}  // namespace xshards
