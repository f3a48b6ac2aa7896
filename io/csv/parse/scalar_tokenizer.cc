// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/scalar_tokenizer.h"

#include <algorithm>

namespace xshards::io {
namespace {

constexpr std::string_view kLineEnds = "\r\n";
// The ASCII characters that Python's strip() removes.
constexpr std::string_view kBlanks = " \t\v\f\x1c\x1d\x1e\x1f";

bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }

bool Is(const std::array<bool, 256>& those, char c) {
  return those[static_cast<uint8_t>(c)];
}

/// Stores the fields found.
class Pairs {
 public:
  explicit Pairs(CsvFieldPairs* out) : out_(out) {
    out->num_fields = 0;
    out->num_lines = 0;
    out->in_quotes = false;
  }
  void AddField(size_t begin, size_t end) {
    uint32_t* const pair = out_->pairs + 2 * out_->num_fields++;
    pair[0] = static_cast<uint32_t>(begin) - 1;
    pair[1] = static_cast<uint32_t>(end);
  }
  void AddLine(size_t end) {
    out_->last_fields[out_->num_lines] = static_cast<uint32_t>(out_->num_fields - 1);
    out_->line_ends[out_->num_lines++] = static_cast<uint32_t>(end);
  }

 private:
  CsvFieldPairs* const out_;
};

/// Goes from field to field.
class FieldScan {
 public:
  FieldScan(std::string_view text, const OddCsvMarks& marks)
      : text_(text), marks_(marks) {}

  void Run(CsvFieldPairs* out) {
    Pairs pairs(out);
    while (at_ < text_.size()) {
      SkipBefore();
      const size_t begin = at_;
      SkipField();
      const size_t end = at_;
      if (marks_.by_runs) SkipSeparators();
      if (at_ >= text_.size()) break;
      pairs.AddField(begin, end);
      if (IsLineEnd(text_[at_])) {
        pairs.AddLine(at_++);
      } else if (!marks_.by_runs) {
        ++at_;
      }
    }
    out->in_quotes = in_quotes_;
  }

 private:
  void SkipSeparators() {
    while (at_ < text_.size() && Is(marks_.is_end, text_[at_]) &&
           !IsLineEnd(text_[at_])) {
      ++at_;
    }
  }
  void SkipBefore() {
    if (marks_.by_runs) return SkipSeparators();
    if (!marks_.skips_blanks) return;
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  // Go to the separator or line end after a field.
  void SkipField() {
    if (at_ < text_.size() && text_[at_] == marks_.quote) {
      ++at_;
      SkipQuoted();
    }
    while (true) {
      while (at_ < text_.size() && !Is(marks_.is_special, text_[at_])) ++at_;
      if (at_ >= text_.size() || Is(marks_.is_end, text_[at_])) return;
      at_ += 2;  // an escape
    }
  }
  // Go past the closing quote.
  void SkipQuoted() {
    in_quotes_ = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == marks_.escape) {
        at_ += 2;
        continue;
      }
      ++at_;
      if (c != marks_.quote) continue;
      if (marks_.doublequote && at_ < text_.size() && text_[at_] == marks_.quote) {
        ++at_;
        continue;
      }
      in_quotes_ = false;
      // Directly after a quote that might have been doubled, an escape has no effect.
      if (marks_.doublequote && at_ < text_.size() && text_[at_] == marks_.escape) ++at_;
      return;
    }
  }

  const std::string_view text_;
  const OddCsvMarks& marks_;
  size_t at_ = 0;
  bool in_quotes_ = false;
};

// Stripped lines, split at each `sep`.
void SplitLines(std::string_view text, std::string_view sep, CsvFieldPairs* out) {
  Pairs pairs(out);
  size_t next = 0;
  for (size_t line = 0; line < text.size(); line = next) {
    const size_t line_end = text.find_first_of(kLineEnds, line);
    if (line_end == std::string_view::npos) return;
    next = line_end + 1;
    size_t end = line_end;
    while (end > line && kBlanks.find(text[end - 1]) != std::string_view::npos) --end;
    size_t begin = std::min(text.find_first_not_of(kBlanks, line), end);
    const std::string_view stripped = text.substr(0, end);
    for (size_t at = stripped.find(sep, begin); at != std::string_view::npos;
         at = stripped.find(sep, begin)) {
      pairs.AddField(begin, at);
      begin = at + sep.size();
    }
    pairs.AddField(begin, end);
    pairs.AddLine(line_end);
  }
}

}  // namespace

OddCsvMarks::OddCsvMarks(const CsvOptions& options)
    : quote(options.quotechar),
      escape(options.escapechar),
      doublequote(options.doublequote),
      skips_blanks(options.skipinitialspace),
      separators(options.delim_whitespace ? " \t" : std::string(1, options.sep)),
      by_runs(options.delim_whitespace),
      long_sep(options.long_sep) {
  const std::string ends = long_sep.empty() ? separators : long_sep.substr(0, 1);
  for (const std::string_view bytes : {std::string_view(ends), kLineEnds}) {
    for (const char c : bytes) is_end[static_cast<uint8_t>(c)] = true;
  }
  is_special = is_end;
  if (escape.has_value()) is_special[static_cast<uint8_t>(*escape)] = true;
}

bool IsOdd(const CsvOptions& options) {
  return options.escapechar.has_value() || !options.doublequote ||
         options.skipinitialspace || options.delim_whitespace ||
         !options.long_sep.empty();
}

int64_t MaxFields(std::string_view text, const OddCsvMarks& marks) {
  return std::count_if(text.begin(), text.end(),
                       [&](char c) { return Is(marks.is_end, c); });
}

void FindOddCsvFields(std::string_view text, const OddCsvMarks& marks,
                      CsvFieldPairs* out) {
  if (marks.long_sep.empty()) {
    FieldScan(text, marks).Run(out);
  } else {
    SplitLines(text, marks.long_sep, out);
  }
  uint8_t all = 0;
  for (const char c : text) all |= static_cast<uint8_t>(c);
  out->is_ascii = all < 0x80;
}

}  // namespace xshards::io
