// SPDX-License-Identifier: Apache-2.0
#include "ops/key_table.h"

#include "ops/hash.h"

namespace xshards::ops {

namespace {

constexpr size_t kInitialSlots = 1024;
// Far enough ahead for a slot to arrive from memory, near enough to stay in cache.
constexpr int64_t kPrefetchDistance = 8;

std::vector<uint64_t> HashAll(const EncodedKeys& keys) {
  std::vector<uint64_t> hashes(static_cast<size_t>(keys.num_rows()));
  for (int64_t i = 0; i < keys.num_rows(); ++i) {
    const std::string_view key = keys[i];
    hashes[static_cast<size_t>(i)] = HashBytes(key.data(), key.size());
  }
  return hashes;
}

}  // namespace

KeyTable::KeyTable() : slots_(kInitialSlots, Slot{0, kNoKey}) {}

std::string_view KeyTable::KeyOf(uint32_t id) const {
  const size_t begin = id == 0 ? 0 : ends_[id - 1];
  return {bytes_.data() + begin, ends_[id] - begin};
}

size_t KeyTable::Probe(uint64_t hash, std::string_view key) const {
  const size_t mask = slots_.size() - 1;
  const auto tag = static_cast<uint32_t>(hash >> 32);
  size_t at = hash & mask;
  while (slots_[at].id != kNoKey &&
         (slots_[at].tag != tag || KeyOf(slots_[at].id) != key)) {
    at = (at + 1) & mask;
  }
  return at;
}

arrow::Status KeyTable::Insert(const EncodedKeys& keys, std::vector<uint32_t>* ids,
                               std::vector<int64_t>* new_rows) {
  const auto hashes = HashAll(keys);
  ids->resize(hashes.size());
  for (int64_t row = 0; row < keys.num_rows(); ++row) {
    const auto i = static_cast<size_t>(row);
    if (row + kPrefetchDistance < keys.num_rows()) {
      __builtin_prefetch(&slots_[hashes[i + kPrefetchDistance] & (slots_.size() - 1)]);
    }
    const size_t at = Probe(hashes[i], keys[row]);
    if (slots_[at].id != kNoKey) {
      (*ids)[i] = slots_[at].id;
      continue;
    }
    if (size() == kNoKey) {
      return arrow::Status::CapacityError("a partition holds at most ", kNoKey,
                                          " distinct keys");
    }
    (*ids)[i] = size();
    slots_[at] = {static_cast<uint32_t>(hashes[i] >> 32), size()};
    hashes_.push_back(hashes[i]);
    bytes_ += keys[row];
    ends_.push_back(bytes_.size());
    new_rows->push_back(row);
    if (hashes_.size() * 2 > slots_.size()) Grow();
  }
  return arrow::Status::OK();
}

void KeyTable::Find(const EncodedKeys& keys, std::vector<uint32_t>* ids) const {
  const auto hashes = HashAll(keys);
  ids->resize(hashes.size());
  for (int64_t row = 0; row < keys.num_rows(); ++row) {
    const auto i = static_cast<size_t>(row);
    if (row + kPrefetchDistance < keys.num_rows()) {
      __builtin_prefetch(&slots_[hashes[i + kPrefetchDistance] & (slots_.size() - 1)]);
    }
    (*ids)[i] = slots_[Probe(hashes[i], keys[row])].id;
  }
}

void KeyTable::Grow() {
  slots_.assign(slots_.size() * 2, Slot{0, kNoKey});
  const size_t mask = slots_.size() - 1;
  for (uint32_t id = 0; id < size(); ++id) {
    size_t at = hashes_[id] & mask;
    while (slots_[at].id != kNoKey) at = (at + 1) & mask;
    slots_[at] = {static_cast<uint32_t>(hashes_[id] >> 32), id};
  }
}

int64_t KeyTable::num_bytes() const {
  return static_cast<int64_t>(slots_.capacity() * sizeof(Slot) +
                              hashes_.capacity() * sizeof(uint64_t) +
                              ends_.capacity() * sizeof(size_t) + bytes_.capacity());
}

}  // namespace xshards::ops
