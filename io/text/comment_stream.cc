// SPDX-License-Identifier: Apache-2.0
#include "io/text/comment_stream.h"

#include <utility>

namespace xshards::io {

CommentStream::CommentStream(std::shared_ptr<arrow::io::InputStream> input, char comment,
                             char sep, std::optional<char> quotechar)
    : TextStream(std::move(input)), comment_(comment), sep_(sep), quotechar_(quotechar) {}

int64_t CommentStream::Strip(const char* begin, const char* end, char* out) {
  char* const start = out;
  for (const char* at = begin; at != end; ++at) {
    const char c = *at;
    switch (state_) {
      case State::kInComment:
        if (c != '\n' && c != '\r') continue;
        state_ = State::kFieldStart;
        break;
      case State::kInQuotes:
        if (c == quotechar_) state_ = State::kQuoteInQuotes;
        break;
      case State::kQuoteInQuotes:
      case State::kFieldStart:
        // Two consecutive quotes are an escaped quote, and the field continues.
        if (c == quotechar_) {
          state_ = State::kInQuotes;
          break;
        }
        [[fallthrough]];
      case State::kInField:
        if (c == comment_) {
          state_ = State::kInComment;
          continue;
        }
        state_ =
            c == sep_ || c == '\n' || c == '\r' ? State::kFieldStart : State::kInField;
        break;
    }
    *out++ = c;
  }
  return out - start;
}

arrow::Result<int64_t> CommentStream::Fill(int64_t num_bytes, char* out) {
  int64_t filled = 0;
  while (filled < num_bytes) {
    ARROW_ASSIGN_OR_RAISE(const int64_t got,
                          input().Read(num_bytes - filled, out + filled));
    if (got == 0) break;
    // In place: the output never overtakes the input.
    filled += Strip(out + filled, out + filled + got, out + filled);
  }
  return filled;
}

}  // namespace xshards::io
