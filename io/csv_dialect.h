// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/csv/options.h>

#include "io/csv_options.h"
#include "io/text_input.h"

namespace xshards::io {

/// CsvOptions in Arrow's terms. Values mean what they mean to pandas.read_csv: its list
/// of missing values, which are missing also in quotes and in text columns; its true and
/// false; empty lines skipped; short rows filled up with missing values.
arrow::csv::ParseOptions ToParseOptions(const CsvOptions& options);
arrow::csv::ConvertOptions ToConvertOptions(const CsvOptions& options);
TextFormat ToTextFormat(const CsvOptions& options);

}  // namespace xshards::io
