// SPDX-License-Identifier: Apache-2.0
#include "io/csv_dialect.h"

namespace xshards::io {

arrow::csv::ParseOptions ToParseOptions(const CsvOptions& options) {
  auto parse = arrow::csv::ParseOptions::Defaults();
  parse.delimiter = options.sep;
  parse.quoting = options.quotechar.has_value();
  if (parse.quoting) parse.quote_char = *options.quotechar;
  parse.escaping = options.escapechar.has_value();
  if (parse.escaping) parse.escape_char = *options.escapechar;
  parse.newlines_in_values = true;
  parse.pad_short_rows = true;
  return parse;
}

arrow::csv::ConvertOptions ToConvertOptions(const CsvOptions& options) {
  auto convert = arrow::csv::ConvertOptions::Defaults();
  convert.null_values = {"",         "#N/A", "#N/A N/A", "#NA",    "-1.#IND",
                         "-1.#QNAN", "-NaN", "-nan",     "1.#IND", "1.#QNAN",
                         "<NA>",     "N/A",  "NA",       "NULL",   "NaN",
                         "None",     "n/a",  "nan",      "null"};
  convert.null_values.insert(convert.null_values.end(), options.na_values.begin(),
                             options.na_values.end());
  convert.true_values = {"True", "TRUE", "true"};
  convert.false_values = {"False", "FALSE", "false"};
  convert.strings_can_be_null = true;
  convert.quoted_strings_can_be_null = true;
  return convert;
}

TextFormat ToTextFormat(const CsvOptions& options) {
  return {.comment = options.comment, .quotechar = options.quotechar, .sep = options.sep};
}

}  // namespace xshards::io
