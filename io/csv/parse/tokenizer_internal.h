// SPDX-License-Identifier: Apache-2.0
// The scan of csv_structure.h over 64 bytes at a time. Compiled once for each processor
// family, so everything here has internal linkage and nothing of the standard library is
// used. A target gives `Bytes`: 64 bytes that can be compared with one, as a bit mask.
// WritePlaces() writes where the bits of a mask are, counted from `base`, may write up to
// 64 entries in all, and gives the end of those that count.
#pragma once

#ifdef __PCLMUL__
#include <immintrin.h>
#endif

#include "io/csv/parse/tokenizer.h"

namespace xshards::io {
namespace {

/// Bit i is the parity of bits 0 to i.
#ifdef __PCLMUL__
inline uint64_t PrefixParity(uint64_t bits) {
  // A carry-less product with all ones.
  const __m128i product = _mm_clmulepi64_si128(
      _mm_cvtsi64_si128(static_cast<int64_t>(bits)), _mm_set1_epi8(-1), 0);
  return static_cast<uint64_t>(_mm_cvtsi128_si64(product));
}
#else
inline uint64_t PrefixParity(uint64_t bits) {
  bits ^= bits << 1;
  bits ^= bits << 2;
  bits ^= bits << 4;
  bits ^= bits << 8;
  bits ^= bits << 16;
  bits ^= bits << 32;
  return bits;
}
#endif

/// The quotes that open or close a field, if some are ordinary characters. `openable`
/// marks the bytes after a separator or line end.
inline uint64_t EffectiveQuotes(uint64_t quotes, uint64_t openable, bool in_quotes,
                                bool after_closing) {
  uint64_t effective = 0;
  int closing = after_closing ? -1 : -2;  // position of the last closing quote
  while (quotes != 0) {
    const int at = __builtin_ctzll(quotes);
    const uint64_t bit = quotes & (~quotes + 1);
    quotes ^= bit;
    if (in_quotes) {
      in_quotes = false;
      closing = at;
      effective |= bit;
    } else if ((openable & bit) != 0 || closing == at - 1) {
      in_quotes = true;
      effective |= bit;
    }
  }
  return effective;
}

/// Tracks quotes from 64 bytes to the next 64.
struct QuoteState : CsvQuoteState {
  /// Which of 64 bytes are inside quotes.
  uint64_t Advance(uint64_t quotes, uint64_t breaks) {
    const uint64_t carried = in_quotes ? ~uint64_t{0} : 0;
    const uint64_t openable = breaks << 1 | (after_break ? 1 : 0);
    uint64_t inside = PrefixParity(quotes) ^ carried;
    // If every quote toggles, quotes open only at the start of a field or after the quote
    // that seemed to close it. Otherwise some are ordinary characters, as in 5" pipe.
    const uint64_t behind_quote = quotes << 1 | (after_closing ? 1 : 0);
    if ((quotes & inside & ~(openable | behind_quote)) != 0) {
      quotes = EffectiveQuotes(quotes, openable, in_quotes, after_closing);
      inside = PrefixParity(quotes) ^ carried;
    }
    in_quotes = (inside >> 63) != 0;
    after_break = (breaks >> 63) != 0;
    after_closing = (quotes & ~inside) >> 63 != 0;
    return inside;
  }
};

template <typename Bytes>
void FindFields(const uint8_t* text, int64_t size, CsvMarks marks, CsvFieldEnds* out) {
  uint32_t* ends = out->ends;
  uint32_t* last_fields = out->last_fields;
  QuoteState state;
  uint64_t high = 0;
  for (int64_t at = 0; at < size; at += 64) {
    const Bytes bytes(text + at);
    const uint64_t valid =
        size - at >= 64 ? ~uint64_t{0} : ~(~uint64_t{0} << (size - at));
    high |= bytes.HighBits() & valid;
    uint64_t lines = (bytes.Equal('\n') | bytes.Equal('\r')) & valid;
    uint64_t structure = lines | (bytes.Equal(marks.sep) & valid);
    const uint64_t quotes = marks.has_quote ? bytes.Equal(marks.quote) & valid : 0;
    if (quotes != 0 || state.in_quotes) {
      const uint64_t inside = state.Advance(quotes, structure);
      lines &= ~inside;
      structure &= ~inside;
    } else {
      state.after_break = (structure >> 63) != 0;
      state.after_closing = false;
    }
    const auto before = static_cast<uint32_t>(ends - out->ends);
    // Whether 64 bytes contain a line end is hard to predict, a second one is rare: the
    // first is always written, and not counted if there is none.
    do {
      const uint64_t below = (lines & (~lines + 1)) - 1;
      *last_fields =
          before + static_cast<uint32_t>(__builtin_popcountll(structure & below));
      last_fields += lines != 0 ? 1 : 0;
      lines &= lines - 1;
    } while (lines != 0);
    ends = Bytes::WritePlaces(structure, static_cast<uint32_t>(at), ends);
  }
  // The last 64 bytes may extend past the text, but their state was computed with no
  // quote and no break there.
  out->in_quotes = state.in_quotes;
  out->num_ends = ends - out->ends;
  out->num_lines = last_fields - out->last_fields;
  out->is_ascii = high == 0;
}

inline bool IsBreak(uint8_t byte, CsvMarks marks) {
  return byte == marks.sep || byte == '\n' || byte == '\r';
}

template <typename Bytes>
void SkipQuotes(const uint8_t* text, int64_t size, CsvMarks marks, CsvQuoteState* out) {
  if (size == 0) return;
  QuoteState state;
  static_cast<CsvQuoteState&>(state) = *out;
  for (int64_t at = 0; at < size; at += 64) {
    const Bytes bytes(text + at);
    const uint64_t quotes = bytes.Equal(marks.quote);
    if (quotes == 0) {
      state.after_closing = false;
      continue;
    }
    // Only quotes depend on the byte before them, so breaks are needed only here.
    if (at > 0) state.after_break = IsBreak(text[at - 1], marks);
    const uint64_t breaks =
        bytes.Equal('\n') | bytes.Equal('\r') | bytes.Equal(marks.sep);
    state.Advance(quotes, breaks);
  }
  state.after_break = IsBreak(text[size - 1], marks);
  *out = state;
}

}  // namespace
}  // namespace xshards::io
