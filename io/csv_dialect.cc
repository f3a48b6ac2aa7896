// SPDX-License-Identifier: Apache-2.0
#include "io/csv_dialect.h"

namespace xshards::io {

TextFormat ToTextFormat(const CsvOptions& options) {
  return {.comment = options.comment, .quotechar = options.quotechar, .sep = options.sep};
}

}  // namespace xshards::io
