// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "io/csv/parse/tokenizer.h"

namespace xshards::io {

/// Finds where CSV records start. A record ends at a line feed that is not in quotes; a
/// quote opens a field only at its start, so that stray quotes (5" pipe) are harmless.
/// Tracks quotes 64 bytes at a time and looks for line feeds only after the targets, so
/// it runs at nearly memory speed.
class RecordBoundaries {
 public:
  /// The state before the first byte fed.
  struct Before {
    bool in_quotes = false;
    char previous = '\n';  // the byte before
  };
  /// `begin` is the position of the first byte fed; `targets`, ascending, are the
  /// positions at or after which record starts are searched.
  RecordBoundaries(char sep, char quotechar, int64_t begin, std::vector<int64_t> targets,
                   Before before);
  /// The same from the start of a record on.
  RecordBoundaries(char sep, char quotechar, int64_t begin, std::vector<int64_t> targets)
      : RecordBoundaries(sep, quotechar, begin, std::move(targets), Before{}) {}

  /// Take the next bytes.
  void Feed(std::string_view chunk);
  /// The same from quote to quote, for opened_at(). Only one of the two may be used.
  void Trace(std::string_view chunk);

  /// The record starts found so far, strictly ascending: a start shared by two targets
  /// occurs once, and a target has none if the text ends first.
  const std::vector<int64_t>& starts() const { return starts_; }
  /// Whether the text so far ends inside quotes, and where these were opened.
  bool in_quotes() const { return in_quotes_ && !after_quote_; }
  /// Whether another instance with the same targets, fed the same bytes, will find the
  /// same from here on.
  bool Agrees(const RecordBoundaries& other) const;
  int64_t opened_at() const { return opened_at_; }

 private:
  // The distance from the next bytes to the next target.
  int64_t DistanceToTarget();
  // The first target that has no record start yet.
  size_t NextTarget() const;
  // Take bytes before the next target, a multiple of 64.
  void Skip(std::string_view chunk);
  // Store the record starts in [from, to) of a chunk, which is outside quotes.
  void FindStarts(std::string_view chunk, size_t from, size_t to);

  const char sep_;
  const char quotechar_;
  const SkipCsvQuotes skip_quotes_;
  const std::vector<int64_t> targets_;
  size_t next_target_ = 0;
  std::vector<int64_t> starts_;
  int64_t position_;  // of the start of the chunk
  bool in_quotes_;
  bool after_quote_ = false;  // the previous chunk ended in a quote that may close
  char previous_;             // the last byte of the previous chunk
  int64_t opened_at_ = 0;
};

}  // namespace xshards::io
