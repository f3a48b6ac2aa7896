// SPDX-License-Identifier: Apache-2.0
// Any text: where its records start is the same found byte by byte, 64 bytes at a time
// and part by part, and the rows between these places are the rows of the whole.
#include <algorithm>
#include <vector>

#include "io/csv/parse/rows.h"
#include "io/csv/parse/value_kinds.h"
#include "io/csv/plan/speculative_boundaries.h"
#include "io/text/text_input.h"
#include "tests/fuzz/fuzz_input.h"

namespace xshards::io::fuzz {
namespace {

using Starts = std::vector<int64_t>;

Starts ByParts(const CsvInput& input, const Starts& targets, bool* in_quotes) {
  const std::string& text = input.text;
  const char quote = *input.options.quotechar;
  const auto size = static_cast<int64_t>(text.size());
  Starts starts;
  *in_quotes = false;
  size_t next = 0;
  for (int64_t begin = 0; begin < size;) {
    size_t last = next;
    const auto can_begin = [&](int64_t at) {
      return at > begin && text[static_cast<size_t>(at - 1)] != quote;
    };
    while (last < targets.size() && !can_begin(targets[last] - 1)) ++last;
    const int64_t end = last < targets.size() ? targets[last] - 1 : size;
    SegmentBoundaries part(input.options.sep, quote, begin,
                           begin == 0 ? '\n' : text[static_cast<size_t>(begin - 1)],
                           {targets.begin() + static_cast<std::ptrdiff_t>(next),
                            targets.begin() + static_cast<std::ptrdiff_t>(last)});
    for (auto at = static_cast<size_t>(begin); at < static_cast<size_t>(end);
         at += input.chunk_bytes) {
      part.Feed(std::string_view(text).substr(
          at, std::min(input.chunk_bytes, static_cast<size_t>(end) - at)));
    }
    const auto found = part.Found(*in_quotes);
    for (const int64_t start : found.starts) {
      if (starts.empty() || start > starts.back()) starts.push_back(start);
    }
    *in_quotes = found.in_quotes;
    begin = end;
    next = last;
  }
  return starts;
}

// The fields of all records, concatenated.
std::string RowsOf(const CsvInput& input, std::string_view part) {
  std::string padded(static_cast<size_t>(kTextPadding), '\0');
  padded += part;
  padded.append(static_cast<size_t>(kTextPadding), '\0');
  CsvRows rows(input.options);
  rows.Find(padded.data() + kTextPadding, static_cast<int64_t>(part.size()),
            /*is_last=*/true, 0);
  std::string all;
  for (int64_t row = 0; row < rows.num_rows(); ++row) {
    for (int64_t column = 0; column < rows.NumFields(row); ++column) {
      all.append(rows.Field(row, column)).push_back('\x1F');
    }
    all.push_back('\x1E');
  }
  return all;
}

}  // namespace
}  // namespace xshards::io::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace xshards::io;        // NOLINT(google-build-using-namespace)
  using namespace xshards::io::fuzz;  // NOLINT(google-build-using-namespace)
  CsvInput input = ToCsvInput(data, size);
  input.options.escapechar.reset();
  if (!input.options.quotechar.has_value()) input.options.quotechar = '"';
  const std::string& text = input.text;
  const auto targets =
      EvenTargets(0, static_cast<int64_t>(text.size()), input.block_bytes);
  RecordBoundaries traced(input.options.sep, *input.options.quotechar, 0, targets);
  traced.Trace(text);
  RecordBoundaries fed(input.options.sep, *input.options.quotechar, 0, targets);
  for (size_t at = 0; at < text.size(); at += input.chunk_bytes) {
    fed.Feed(std::string_view(text).substr(at, input.chunk_bytes));
  }
  Require(fed.starts() == traced.starts(), "the same starts 64 bytes at a time");
  Require(fed.in_quotes() == traced.in_quotes(), "the same end 64 bytes at a time");
  bool in_quotes = false;
  Require(ByParts(input, targets, &in_quotes) == traced.starts(),
          "the same starts part by part");
  Require(in_quotes == traced.in_quotes(), "the same end part by part");
  std::string rows;
  size_t begin = 0;
  for (const int64_t start : traced.starts()) {
    const auto end = std::min(static_cast<size_t>(start), text.size());
    rows += RowsOf(input, std::string_view(text).substr(begin, end - begin));
    begin = end;
  }
  rows += RowsOf(input, std::string_view(text).substr(begin));
  Require(rows == RowsOf(input, text), "the rows of the whole between the cuts");
  return 0;
}
