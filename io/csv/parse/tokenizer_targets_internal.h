// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/csv/parse/tokenizer.h"

namespace xshards::io {

// One for each file tokenizer_<target>.cc.
void FindCsvFieldsBaseline(const uint8_t* text, int64_t size, CsvMarks marks,
                           CsvFieldEnds* out);
void SkipCsvQuotesBaseline(const uint8_t* text, int64_t size, CsvMarks marks,
                           CsvQuoteState* state);
#ifdef __x86_64__
void FindCsvFieldsAvx2(const uint8_t* text, int64_t size, CsvMarks marks,
                       CsvFieldEnds* out);
void SkipCsvQuotesAvx2(const uint8_t* text, int64_t size, CsvMarks marks,
                       CsvQuoteState* state);
void FindCsvFieldsAvx512(const uint8_t* text, int64_t size, CsvMarks marks,
                         CsvFieldEnds* out);
void SkipCsvQuotesAvx512(const uint8_t* text, int64_t size, CsvMarks marks,
                         CsvQuoteState* state);
#endif

}  // namespace xshards::io
