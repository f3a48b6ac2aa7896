// SPDX-License-Identifier: Apache-2.0
#include "io/csv/plan/record_boundaries.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <arrow/buffer.h>

#include "io/options/split_size.h"

namespace xshards::io {
namespace {

// The position of a byte in [from, to), or `to`.
size_t FindByte(std::string_view text, char byte, size_t from, size_t to) {
  if (from >= to) return to;
  const void* found = std::memchr(text.data() + from, byte, to - from);
  if (found == nullptr) return to;
  return static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace

RecordBoundaries::RecordBoundaries(char sep, char quotechar, int64_t begin,
                                   std::vector<int64_t> targets, Before before)
    : sep_(sep),
      quotechar_(quotechar),
      skip_quotes_(CsvQuoteSkipper(BestCsvTarget())),
      targets_(std::move(targets)),
      position_(begin),
      in_quotes_(before.in_quotes),
      previous_(before.previous) {}

size_t RecordBoundaries::NextTarget() const {
  size_t next = next_target_;
  while (next < targets_.size() && !starts_.empty() && targets_[next] <= starts_.back()) {
    ++next;
  }
  return next;
}

bool RecordBoundaries::Agrees(const RecordBoundaries& other) const {
  return in_quotes_ == other.in_quotes_ && after_quote_ == other.after_quote_ &&
         NextTarget() == other.NextTarget();
}

int64_t RecordBoundaries::DistanceToTarget() {
  next_target_ = NextTarget();
  if (next_target_ == targets_.size()) return std::numeric_limits<int64_t>::max();
  // A record that starts at the target has its line feed just before it.
  return std::max<int64_t>(targets_[next_target_] - 1 - position_, 0);
}

void RecordBoundaries::Feed(std::string_view chunk) {
  constexpr size_t kBlockBytes = 64;
  constexpr size_t kTracedBytes =
      4096;  // bytes at a target that are searched for its record
  while (!chunk.empty()) {
    const auto distance = static_cast<uint64_t>(DistanceToTarget());
    const size_t skipped =
        std::min<uint64_t>(chunk.size(), distance) / kBlockBytes * kBlockBytes;
    const size_t taken = skipped > 0 ? skipped : std::min(chunk.size(), kTracedBytes);
    const auto piece = chunk.substr(0, taken);
    if (skipped > 0) {
      Skip(piece);
    } else {
      Trace(piece);
    }
    chunk.remove_prefix(taken);
  }
}

void RecordBoundaries::Skip(std::string_view chunk) {
  const bool after_break = previous_ == sep_ || previous_ == '\n' || previous_ == '\r';
  CsvQuoteState state{.in_quotes = in_quotes_ && !after_quote_,
                      .after_break = after_break,
                      .after_closing = after_quote_};
  skip_quotes_(
      reinterpret_cast<const uint8_t*>(chunk.data()), static_cast<int64_t>(chunk.size()),
      {.sep = static_cast<uint8_t>(sep_), .quote = static_cast<uint8_t>(quotechar_)},
      &state);
  in_quotes_ = state.in_quotes || state.after_closing;
  after_quote_ = state.after_closing;
  previous_ = chunk.back();
  position_ += static_cast<int64_t>(chunk.size());
}

void RecordBoundaries::FindStarts(std::string_view chunk, size_t from, size_t to) {
  while (next_target_ < targets_.size()) {
    const int64_t target = targets_[next_target_];
    if (!starts_.empty() && target <= starts_.back()) {
      ++next_target_;
      continue;
    }
    // A record that starts at the target has its line feed just before it.
    const int64_t earliest = target - 1 - position_;
    if (earliest >= static_cast<int64_t>(to)) return;
    const size_t first =
        std::max(from, static_cast<size_t>(std::max<int64_t>(earliest, 0)));
    const size_t line_feed = FindByte(chunk, '\n', first, to);
    if (line_feed == to) return;
    starts_.push_back(position_ + static_cast<int64_t>(line_feed) + 1);
    ++next_target_;
  }
}

void RecordBoundaries::Trace(std::string_view chunk) {
  if (chunk.empty()) return;
  size_t at = 0;
  if (after_quote_) {
    after_quote_ = false;
    if (chunk[0] == quotechar_) {
      at = 1;
    } else {
      in_quotes_ = false;
    }
  }
  while (at < chunk.size()) {
    const size_t quote = FindByte(chunk, quotechar_, at, chunk.size());
    if (in_quotes_) {
      if (quote == chunk.size()) break;
      if (quote + 1 == chunk.size()) {
        after_quote_ = true;
        break;
      }
      // Two consecutive quotes are an escaped quote, and the field continues.
      const bool doubled = chunk[quote + 1] == quotechar_;
      in_quotes_ = doubled;
      at = quote + (doubled ? 2 : 1);
      continue;
    }
    FindStarts(chunk, at, quote);
    if (quote == chunk.size()) break;
    const char before = quote > 0 ? chunk[quote - 1] : previous_;
    if (before == sep_ || before == '\n' || before == '\r') {
      in_quotes_ = true;
      opened_at_ = position_ + static_cast<int64_t>(quote);
    }
    at = quote + 1;
  }
  previous_ = chunk.back();
  position_ += static_cast<int64_t>(chunk.size());
}

}  // namespace xshards::io
