// SPDX-License-Identifier: Apache-2.0
#pragma once

// Included by files compiled for newer processors than the rest. It must declare no
// inline function: the linker could keep the newer processor's copy of it for all
// callers.
#include <cstdint>

namespace xshards::io {

/// The bytes that give CSV text its structure.
struct CsvMarks {
  uint8_t sep = ',';
  uint8_t quote = '"';
  bool has_quote = true;  // false: quotes are ordinary characters
};

/// The number of bytes after the text (of any value) that the scan may read.
inline constexpr int64_t kCsvPadding = 64;

/// Where the fields of a text end. Both arrays have room for as many entries as the text
/// has separators and line ends, and kCsvPadding more.
struct CsvFieldEnds {
  uint32_t* ends = nullptr;         // separators and line ends outside quotes, ascending
  uint32_t* last_fields = nullptr;  // of each line, the index of its line end in `ends`
  int64_t num_ends = 0;
  int64_t num_lines = 0;
  bool in_quotes = false;  // the text ends inside quotes
  bool is_ascii = true;
};

/// Find the fields of a text that begins at the start of a record. A line feed or a
/// carriage return ends a line, so that in CRLF the second ends an empty line. A quote
/// opens a field only at its start; inside, two quotes are an escaped quote, and text
/// after the closing quote belongs to the field up to the next separator.
using FindCsvFields = void (*)(const uint8_t* text, int64_t size, CsvMarks marks,
                               CsvFieldEnds* out);

/// The quoting state at a position of the text.
struct CsvQuoteState {
  bool in_quotes = false;
  bool after_break = true;     // the byte before is a separator or a line end
  bool after_closing = false;  // the byte before is a quote that may have closed a field
};

/// Track quotes through a text of a multiple of 64 bytes, without reading past it.
using SkipCsvQuotes = void (*)(const uint8_t* text, int64_t size, CsvMarks marks,
                               CsvQuoteState* state);

/// kAvx512 requires byte compression (VBMI2), as in Intel processors since 2019 and AMD's
/// since 2022.
enum class CsvTarget : int32_t { kBaseline, kAvx2, kAvx512 };

/// Whether this machine can run a target's scan.
bool IsSupported(CsvTarget target);
/// The scans of a supported target.
FindCsvFields CsvFieldFinder(CsvTarget target);
SkipCsvQuotes CsvQuoteSkipper(CsvTarget target);
/// The newest target that this machine supports.
CsvTarget BestCsvTarget();

}  // namespace xshards::io
