// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "xshards/export.h"
#include "xshards/memory/dirty_pages.h"
#include "xshards/memory/segment.h"

namespace xshards {

/// The memory that a worker may change while it runs one fragment: private mappings of
/// the segments it reads, and its own buffers.
///
/// A function is lent writable views of it; columns that it returns unchanged are then
/// published by reference to the segment, without a copy. Used by one thread.
class XSHARDS_EXPORT PrivateMemory {
 public:
  /// Map the memory segments among these, which were adopted with kPrivate. Disk segments
  /// and empty ones are skipped.
  static arrow::Result<std::unique_ptr<PrivateMemory>> Map(
      std::span<const std::shared_ptr<Segment>> segments);

  /// Bytes in a segment.
  struct Place {
    std::shared_ptr<Segment> segment;
    int64_t offset = 0;
  };
  /// Where these bytes of memory were mapped from, if all are from one segment.
  std::optional<Place> Find(const uint8_t* data, int64_t length) const;
  /// True if bytes that Find() found are still those of the segment. Compares only pages
  /// that were written to; false if the system does not report these.
  bool IsUnchanged(const uint8_t* data, int64_t length) const;

  /// Allow an exclusively owned buffer to be lent, as long as it lives.
  void Add(const std::shared_ptr<arrow::Buffer>& buffer);
  /// Memory that the borrower may change as long as it holds `owner`. Two loans from one
  /// block of memory have the same `block`.
  struct Loan {
    std::shared_ptr<arrow::Buffer> owner;
    uint8_t* data = nullptr;
    uintptr_t block = 0;
  };
  /// Lend bytes; each only once, since two columns of a table may share them.
  std::optional<Loan> Lend(const uint8_t* data, int64_t length);
  /// Reset the loans: the next function may borrow the same bytes.
  void EndLoans() { lent_.clear(); }

  /// Release the mappings; returns those of the segments, in order, so that the caller
  /// can check whether something else holds them.
  std::vector<std::weak_ptr<arrow::Buffer>> Release() &&;

 private:
  struct Block {
    int64_t size = 0;
    std::weak_ptr<arrow::Buffer> buffer;
    std::shared_ptr<Segment> segment;  // nullptr for a buffer of its own
  };
  PrivateMemory() = default;
  /// The address and the block that hold all of these bytes, or nullptr.
  const std::pair<const uintptr_t, Block>* FindBlock(const uint8_t* data,
                                                     int64_t length) const;

  TouchedPages touched_;
  std::map<uintptr_t, Block> blocks_;                     // by address
  std::vector<std::shared_ptr<arrow::Buffer>> mappings_;  // nullptr if skipped
  std::map<uintptr_t, uintptr_t> lent_;                   // begin → end, disjoint
};

}  // namespace xshards
