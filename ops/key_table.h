// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/status.h>

#include "ops/key_encoder.h"

namespace xshards::ops {

/// Numbers distinct keys 0, 1, 2, ... in order of first appearance.
class KeyTable {
 public:
  static constexpr uint32_t kNoKey = std::numeric_limits<uint32_t>::max();

  KeyTable();

  /// Give every row the number of its key, adding keys not seen before; the rows at
  /// which those appeared are appended to `new_rows`. CapacityError past 2^32 - 1 keys.
  arrow::Status Insert(const EncodedKeys& keys, std::vector<uint32_t>* ids,
                       std::vector<int64_t>* new_rows);
  /// Give every row the number of its key, or kNoKey.
  void Find(const EncodedKeys& keys, std::vector<uint32_t>* ids) const;

  uint32_t size() const { return static_cast<uint32_t>(hashes_.size()); }
  /// The memory it holds.
  int64_t num_bytes() const;

 private:
  // An open-addressing table of key numbers; `tag` is the upper half of the hash, so that
  // a key's bytes are compared only when they are almost surely equal.
  struct Slot {
    uint32_t tag;
    uint32_t id;
  };

  /// The slot where the key is, or the empty one where it would be.
  size_t Probe(uint64_t hash, std::string_view key) const;
  std::string_view KeyOf(uint32_t id) const;
  void Grow();

  std::vector<Slot> slots_;       // a power of two, at most half full
  std::vector<uint64_t> hashes_;  // of key i
  std::vector<size_t> ends_;      // of key i in bytes_
  std::string bytes_;             // the keys, one after the other
};

}  // namespace xshards::ops
