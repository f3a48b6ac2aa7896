// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "io/csv/plan/record_boundaries.h"

namespace xshards::io {

/// Finds where CSV records start in a part of a text without knowing whether it begins
/// inside quotes, so that parts can be scanned in parallel. Follows both cases until they
/// agree, which happens at the first quote that cannot open a field, usually within a
/// record, so this costs hardly more than one case.
class SegmentBoundaries {
 public:
  /// `begin` and `targets` are as for RecordBoundaries; `previous` is the byte before
  /// `begin`, which must not be a quote.
  SegmentBoundaries(char sep, char quotechar, int64_t begin, char previous,
                    const std::vector<int64_t>& targets);

  /// Take the next bytes.
  void Feed(std::string_view chunk);

  /// Whether both cases agree: from here on it does not matter how the part began.
  bool agree() const { return agree_; }

  struct Outcome {
    std::vector<int64_t> starts;  // as RecordBoundaries::starts
    bool in_quotes = false;       // at the end
  };
  /// The result if the part begins inside quotes, or outside.
  Outcome Found(bool begins_in_quotes) const;

 private:
  RecordBoundaries outside_;
  RecordBoundaries inside_;
  bool agree_ = false;      // only outside_ is followed from here on
  size_t agreed_from_ = 0;  // which of its starts is the first for both
};

}  // namespace xshards::io
