// SPDX-License-Identifier: Apache-2.0
#include "io/csv/plan/speculative_boundaries.h"

#include <utility>

namespace xshards::io {

SegmentBoundaries::SegmentBoundaries(char sep, char quotechar, int64_t begin,
                                     char previous, const std::vector<int64_t>& targets)
    : outside_(sep, quotechar, begin, targets,
               {.in_quotes = false, .previous = previous}),
      inside_(sep, quotechar, begin, targets, {.in_quotes = true, .previous = previous}) {
}

void SegmentBoundaries::Feed(std::string_view chunk) {
  constexpr size_t kPieceBytes = 1024;
  while (!agree_ && !chunk.empty()) {
    const auto piece = chunk.substr(0, kPieceBytes);
    outside_.Feed(piece);
    inside_.Feed(piece);
    chunk.remove_prefix(piece.size());
    agree_ = outside_.Agrees(inside_);
    agreed_from_ = outside_.starts().size();
  }
  outside_.Feed(chunk);
}

SegmentBoundaries::Outcome SegmentBoundaries::Found(bool begins_in_quotes) const {
  const RecordBoundaries& last = begins_in_quotes && !agree_ ? inside_ : outside_;
  Outcome outcome{.in_quotes = last.in_quotes()};
  if (!begins_in_quotes) {
    outcome.starts = outside_.starts();
    return outcome;
  }
  outcome.starts = inside_.starts();
  if (agree_) {
    const auto& common = outside_.starts();
    outcome.starts.insert(outcome.starts.end(),
                          common.begin() + static_cast<std::ptrdiff_t>(agreed_from_),
                          common.end());
  }
  return outcome;
}

}  // namespace xshards::io
