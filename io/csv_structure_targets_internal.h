// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/csv_structure.h"

namespace xshards::io {

// One for each file csv_structure_<target>.cc.
void FindCsvFieldsBaseline(const uint8_t* text, int64_t size, CsvMarks marks,
                           CsvFieldEnds* out);
#ifdef __x86_64__
void FindCsvFieldsAvx2(const uint8_t* text, int64_t size, CsvMarks marks,
                       CsvFieldEnds* out);
void FindCsvFieldsAvx512(const uint8_t* text, int64_t size, CsvMarks marks,
                         CsvFieldEnds* out);
#endif

}  // namespace xshards::io
