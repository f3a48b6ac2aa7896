// SPDX-License-Identifier: Apache-2.0
#include "io/csv/parse/tokenizer.h"

#include "io/csv/parse/tokenizer_targets_internal.h"

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
             __builtin_cpu_supports("avx512bw") != 0 &&
             __builtin_cpu_supports("avx512vbmi2") != 0;
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

}  // namespace xshards::io
