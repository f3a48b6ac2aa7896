// SPDX-License-Identifier: Apache-2.0
#include "io/csv_structure.h"

#include "io/csv_structure_targets_internal.h"

namespace xshards::io {

#ifdef __x86_64__

bool IsSupported(CsvTarget target) {
  const bool has_bits = __builtin_cpu_supports("bmi") != 0 &&
                        __builtin_cpu_supports("popcnt") != 0 &&
                        __builtin_cpu_supports("pclmul") != 0;
  switch (target) {
    case CsvTarget::kAvx2:
      return has_bits && __builtin_cpu_supports("avx2") != 0;
    case CsvTarget::kAvx512:
      return has_bits && __builtin_cpu_supports("avx512f") != 0 &&
             __builtin_cpu_supports("avx512bw") != 0;
    default:
      return true;
  }
}

FindCsvFields CsvFieldFinder(CsvTarget target) {
  switch (target) {
    case CsvTarget::kAvx512:
      return FindCsvFieldsAvx512;
    case CsvTarget::kAvx2:
      return FindCsvFieldsAvx2;
    default:
      return FindCsvFieldsBaseline;
  }
}

SkipCsvQuotes CsvQuoteSkipper(CsvTarget target) {
  switch (target) {
    case CsvTarget::kAvx512:
      return SkipCsvQuotesAvx512;
    case CsvTarget::kAvx2:
      return SkipCsvQuotesAvx2;
    default:
      return SkipCsvQuotesBaseline;
  }
}

#else

bool IsSupported(CsvTarget target) { return target == CsvTarget::kBaseline; }

FindCsvFields CsvFieldFinder(CsvTarget) { return FindCsvFieldsBaseline; }

SkipCsvQuotes CsvQuoteSkipper(CsvTarget) { return SkipCsvQuotesBaseline; }

#endif

CsvTarget BestCsvTarget() {
  if (IsSupported(CsvTarget::kAvx512)) return CsvTarget::kAvx512;
  return IsSupported(CsvTarget::kAvx2) ? CsvTarget::kAvx2 : CsvTarget::kBaseline;
}

void FindEscapedCsvFields(const uint8_t* text, int64_t size, CsvMarks marks,
                          uint8_t escape, CsvFieldEnds* out) {
  bool in_quotes = false;
  bool at_start = true;        // of a field
  bool after_closing = false;  // directly behind the quote that may have closed a field
  uint8_t all = 0;
  out->num_ends = 0;
  out->num_lines = 0;
  for (int64_t i = 0; i < size; ++i) {
    const uint8_t byte = text[i];
    all |= byte;
    const bool was_start = at_start;
    const bool was_closing = after_closing;
    at_start = false;
    after_closing = false;
    if (byte == escape) {
      if (++i < size) all |= text[i];
    } else if (marks.has_quote && byte == marks.quote) {
      after_closing = in_quotes;
      in_quotes = !in_quotes && (was_start || was_closing);
    } else if (!in_quotes && (byte == marks.sep || byte == '\n' || byte == '\r')) {
      if (byte != marks.sep) {
        out->last_fields[out->num_lines++] = static_cast<uint32_t>(out->num_ends);
      }
      out->ends[out->num_ends++] = static_cast<uint32_t>(i);
      at_start = true;
    }
  }
  out->in_quotes = in_quotes;
  out->is_ascii = all < 0x80;
}

}  // namespace xshards::io
