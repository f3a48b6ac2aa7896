// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array.h>
#include <arrow/result.h>

#include "xshards/plan/plan.h"

namespace xshards::ops {

/// Compares rows of two sets of key columns (from SortColumns) in sort order. The two may
/// be the same.
class SortComparator {
 public:
  /// Both must have the same types. NotImplemented names a column whose type has no
  /// order.
  static arrow::Result<SortComparator> Make(const arrow::ArrayVector& left,
                                            const arrow::ArrayVector& right,
                                            const std::vector<SortKey>& keys,
                                            bool nulls_first);

  /// Negative, zero or positive if row `left` comes before, with or after row `right`;
  /// compares the keys from `first_key` on.
  int Compare(int64_t left, int64_t right, size_t first_key = 0) const {
    for (size_t i = first_key; i < keys_.size(); ++i) {
      const int order = keys_[i]->Compare(left, right);
      if (order != 0) return order;
    }
    return 0;
  }

  /// One key.
  class Key {
   public:
    virtual ~Key() = default;
    virtual int Compare(int64_t left, int64_t right) const = 0;
  };

 private:
  std::vector<std::unique_ptr<Key>> keys_;
};

}  // namespace xshards::ops
