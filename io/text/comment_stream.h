// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include "io/text/text_stream.h"

namespace xshards::io {

/// A stream of CSV text without its comments: from the comment character, where it is not
/// in quotes, to the end of the line. Line ends stay, so that lines keep their numbers.
class CommentStream final : public TextStream {
 public:
  CommentStream(std::shared_ptr<arrow::io::InputStream> input, char comment, char sep,
                std::optional<char> quotechar);

 private:
  enum class State : uint8_t {
    kFieldStart,
    kInField,
    kInQuotes,
    kQuoteInQuotes,
    kInComment
  };

  arrow::Result<int64_t> Fill(int64_t num_bytes, char* out) override;
  // Copies text that is not a comment; returns its length.
  int64_t Strip(const char* begin, const char* end, char* out);

  const char comment_;
  const char sep_;
  const std::optional<char> quotechar_;
  State state_ = State::kFieldStart;
};

}  // namespace xshards::io
