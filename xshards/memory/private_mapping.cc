// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/private_mapping.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace xshards {

namespace {

uintptr_t AddressOf(const uint8_t* data) { return reinterpret_cast<uintptr_t>(data); }

/// True if a segment has these bytes at this offset.
bool Holds(const Segment& segment, int64_t offset, std::span<const uint8_t> bytes) {
  std::array<uint8_t, 64 << 10> original;
  while (!bytes.empty()) {
    const size_t wanted = std::min(bytes.size(), original.size());
    const ssize_t count = pread(segment.fd(), original.data(), wanted, offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    const auto length = static_cast<size_t>(count);
    if (std::memcmp(original.data(), bytes.data(), length) != 0) return false;
    bytes = bytes.subspan(length);
    offset += count;
  }
  return true;
}

}  // namespace

arrow::Result<std::unique_ptr<PrivateMemory>> PrivateMemory::Map(
    std::span<const std::shared_ptr<Segment>> segments) {
  std::unique_ptr<PrivateMemory> memory(new PrivateMemory());
  for (const auto& segment : segments) {
    auto& mapping = memory->mappings_.emplace_back();
    if (segment->kind() != SegmentKind::kMemory || segment->size() == 0) continue;
    ARROW_ASSIGN_OR_RAISE(mapping, Segment::Map(segment));
    memory->blocks_[mapping->address()] = {
        .size = mapping->size(), .buffer = mapping, .segment = segment};
  }
  return memory;
}

const std::pair<const uintptr_t, PrivateMemory::Block>* PrivateMemory::FindBlock(
    const uint8_t* data, int64_t length) const {
  auto after = blocks_.upper_bound(AddressOf(data));
  if (length <= 0 || after == blocks_.begin()) return nullptr;
  const auto& found = *std::prev(after);
  const auto offset = static_cast<int64_t>(AddressOf(data) - found.first);
  return offset <= found.second.size - length ? &found : nullptr;
}

std::optional<PrivateMemory::Place> PrivateMemory::Find(const uint8_t* data,
                                                        int64_t length) const {
  const auto* found = FindBlock(data, length);
  if (found == nullptr || found->second.segment == nullptr) return std::nullopt;
  return Place{.segment = found->second.segment,
               .offset = static_cast<int64_t>(AddressOf(data) - found->first)};
}

bool PrivateMemory::IsUnchanged(const uint8_t* data, int64_t length) const {
  const auto place = Find(data, length);
  if (!place.has_value()) return false;
  auto touched = touched_.Find(data, length);
  if (!touched.ok()) return false;
  // A dirty page may belong partly to a neighbour, or equal bytes may have been written.
  const uintptr_t first = AddressOf(data);
  return std::all_of(touched->begin(), touched->end(), [&](TouchedPages::Run run) {
    const uintptr_t begin = std::max(run.begin, first);
    const uintptr_t end = std::min(run.end, first + static_cast<size_t>(length));
    return Holds(*place->segment, place->offset + static_cast<int64_t>(begin - first),
                 {data + (begin - first), end - begin});
  });
}

void PrivateMemory::Add(const std::shared_ptr<arrow::Buffer>& buffer) {
  if (buffer == nullptr || buffer->size() == 0) return;
  // Memory freed since may have had the same address.
  std::erase_if(blocks_, [](const auto& block) { return block.second.buffer.expired(); });
  blocks_[buffer->address()] = {
      .size = buffer->size(), .buffer = buffer, .segment = nullptr};
}

std::optional<PrivateMemory::Loan> PrivateMemory::Lend(const uint8_t* data,
                                                       int64_t length) {
  const auto* found = FindBlock(data, length);
  auto owner = found == nullptr ? nullptr : found->second.buffer.lock();
  if (owner == nullptr) return std::nullopt;
  const uintptr_t begin = AddressOf(data);
  const uintptr_t end = begin + static_cast<size_t>(length);
  auto next = lent_.lower_bound(begin);
  if (next != lent_.end() && next->first < end) return std::nullopt;
  if (next != lent_.begin() && std::prev(next)->second > begin) return std::nullopt;
  lent_[begin] = end;
  // Private mappings are writable, and so is memory from a pool.
  return Loan{.owner = std::move(owner),
              .data = const_cast<uint8_t*>(data),
              .block = found->first};
}

std::vector<std::weak_ptr<arrow::Buffer>> PrivateMemory::Release() && {
  std::vector<std::weak_ptr<arrow::Buffer>> watched(mappings_.begin(), mappings_.end());
  mappings_.clear();
  return watched;
}

}  // namespace xshards
