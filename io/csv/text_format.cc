// SPDX-License-Identifier: Apache-2.0
#include "io/csv/text_format.h"

namespace xshards::io {

TextFormat ToTextFormat(const CsvOptions& options) {
  return {.comment = options.comment,
          .quotechar = options.quotechar,
          .sep = options.sep,
          .encoding = options.encoding,
          .compression = options.compression};
}

int64_t FileBytes(std::string_view text, const std::string& path,
                  const CsvOptions& options) {
  const bool is_decoded = HasOneByteCharacters(options.encoding) &&
                          !IsSequential(path, ToTextFormat(options));
  return is_decoded ? CountCharacters(text) : static_cast<int64_t>(text.size());
}

}  // namespace xshards::io
