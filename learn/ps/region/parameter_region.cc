// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/region/parameter_region.h"

#include <new>
#include <unistd.h>
#include <utility>

#include <arrow/status.h>

#include "xshards/memory/huge_pages.h"

namespace xshards::learn {

namespace {

// Identifies the layout below: change it when that changes.
constexpr uint64_t kMagic = 0x3350'5353'4853'4458;

int64_t AlignToLine(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// The first offset from `bytes` on at which a vector of `vector_bytes` may begin: it has
/// its own pages, huge ones if it fills any. The gap before it is never touched.
int64_t AlignToVector(int64_t bytes, int64_t vector_bytes) {
  if (vector_bytes < kHugePage) return SharedRegion::AlignToPage(bytes);
  return (bytes + kHugePage - 1) / kHugePage * kHugePage;
}

template <typename T>
T* As(std::byte* bytes) {
  return reinterpret_cast<T*>(bytes);
}

}  // namespace

ParameterRegion::ParameterRegion(std::shared_ptr<SharedRegion> region)
    : region_(std::move(region)) {}

ParameterRegion::Sections ParameterRegion::Arrange(const ParameterLayout& layout,
                                                   RegionSizes sizes) {
  const int64_t parameters = layout.num_parameters();
  auto page = [](int64_t bytes) { return SharedRegion::AlignToPage(bytes); };
  Sections at;
  at.slots = AlignToLine(sizeof(Header));
  at.control_end =
      page(at.slots + sizes.num_replicas * static_cast<int64_t>(sizeof(ReplicaSlot)));
  at.records = at.control_end;
  at.step_counts = AlignToLine(
      at.records + parameters * static_cast<int64_t>(sizeof(ParameterRecord)));
  at.replicas = page(at.step_counts + parameters * static_cast<int64_t>(sizeof(int64_t)));
  at.replica_state = AlignToLine(parameters);
  at.replica_stride = page(at.replica_state + 2 * AlignToLine(sizes.replica_state_bytes));
  at.vector_stride = AlignToVector(layout.vector_bytes(), layout.vector_bytes());
  at.weights = AlignToVector(at.replicas + sizes.num_replicas * at.replica_stride,
                             layout.vector_bytes());
  at.states = at.weights + at.vector_stride;
  at.gradients = at.states + sizes.num_states * at.vector_stride;
  at.end = at.gradients + sizes.num_replicas * at.vector_stride;
  return at;
}

arrow::Result<std::shared_ptr<ParameterRegion>> ParameterRegion::Create(
    const ParameterLayout& layout, RegionSizes sizes,
    std::shared_ptr<MemoryBudget> budget) {
  const Sections sections = Arrange(layout, sizes);
  ARROW_ASSIGN_OR_RAISE(auto shared,
                        SharedRegion::Create(sections.end, std::move(budget)));
  std::shared_ptr<ParameterRegion> region(new ParameterRegion(std::move(shared)));
  auto* header = new (region->at(0)) Header{.magic = kMagic,
                                            .sizes = sizes,
                                            .num_parameters = layout.num_parameters(),
                                            .driver_pid = getpid(),
                                            .vector_bytes = layout.vector_bytes(),
                                            .sections = sections,
                                            .stopped = false,
                                            .step = 0,
                                            .calls = 0,
                                            .gradients_bell = {},
                                            .weights_bell = {}};
  for (int32_t replica = 0; replica < sizes.num_replicas; ++replica) {
    new (&region->slot(replica)) ReplicaSlot;
  }
  auto* record = As<ParameterRecord>(region->at(header->sections.records));
  for (const Parameter& parameter : layout.parameters()) {
    *record++ = {.offset = parameter.offset,
                 .count = parameter.count,
                 .type = parameter.type,
                 .group = parameter.group};
  }
  region->UseHugePages();
  return region;
}

arrow::Result<std::shared_ptr<ParameterRegion>> ParameterRegion::Open(int fd,
                                                                      int32_t replica) {
  ARROW_ASSIGN_OR_RAISE(auto shared, SharedRegion::Open(fd));
  std::shared_ptr<ParameterRegion> region(new ParameterRegion(shared));
  if (shared->size() < static_cast<int64_t>(sizeof(Header)) ||
      region->header().magic != kMagic ||
      region->header().sections.end != shared->size()) {
    return arrow::Status::Invalid("Descriptor ", fd,
                                  " is not a parameter region of this version");
  }
  if (replica < 0 || replica >= region->sizes().num_replicas) {
    return arrow::Status::IndexError("The server has replicas 0 to ",
                                     region->sizes().num_replicas - 1, ", got ", replica);
  }
  const Sections& sections = region->header().sections;
  ARROW_RETURN_NOT_OK(shared->AllowWrites(0, sections.control_end));
  ARROW_RETURN_NOT_OK(shared->AllowWrites(
      sections.replicas + replica * sections.replica_stride, sections.replica_stride));
  ARROW_RETURN_NOT_OK(shared->AllowWrites(
      sections.gradients + replica * sections.vector_stride, sections.vector_stride));
  return region;
}

void ParameterRegion::UseHugePages() const {
  xshards::UseHugePages(weights(), vector_bytes());
  for (int32_t index = 0; index < sizes().num_states; ++index) {
    xshards::UseHugePages(state(index), vector_bytes());
  }
  for (int32_t replica = 0; replica < sizes().num_replicas; ++replica) {
    xshards::UseHugePages(gradient(replica), vector_bytes());
  }
}

std::span<const ParameterRecord> ParameterRegion::parameters() const {
  return {As<ParameterRecord>(at(header().sections.records)),
          static_cast<size_t>(header().num_parameters)};
}

std::span<int64_t> ParameterRegion::step_counts() const {
  return {As<int64_t>(at(header().sections.step_counts)),
          static_cast<size_t>(header().num_parameters)};
}

ReplicaSlot& ParameterRegion::slot(int32_t replica) const {
  return As<ReplicaSlot>(at(header().sections.slots))[replica];
}

arrow::Status ParameterRegion::CheckParameter(int64_t index) const {
  const auto count = std::ssize(parameters());
  if (index >= 0 && index < count) return arrow::Status::OK();
  return arrow::Status::IndexError("The model has parameters 0 to ", count - 1, ", got ",
                                   index);
}

arrow::Status ParameterRegion::CheckReplica(int32_t replica) const {
  const int32_t count = sizes().num_replicas;
  if (replica >= 0 && replica < count) return arrow::Status::OK();
  return arrow::Status::IndexError("The server has replicas 0 to ", count - 1, ", got ",
                                   replica);
}

arrow::Status ParameterRegion::CheckState(int32_t index) const {
  const int32_t count = sizes().num_states;
  if (index >= 0 && index < count) return arrow::Status::OK();
  return arrow::Status::IndexError("The server keeps ", count, " optimizer states, got ",
                                   index);
}

std::byte* ParameterRegion::state(int32_t index) const {
  return at(header().sections.states + index * header().sections.vector_stride);
}

std::byte* ParameterRegion::replica_part(int32_t replica) const {
  return at(header().sections.replicas + replica * header().sections.replica_stride);
}

std::byte* ParameterRegion::gradient(int32_t replica) const {
  return at(header().sections.gradients + replica * header().sections.vector_stride);
}

std::span<uint8_t> ParameterRegion::presence(int32_t replica) const {
  return {As<uint8_t>(replica_part(replica)),
          static_cast<size_t>(header().num_parameters)};
}

std::span<std::byte> ParameterRegion::replica_state(int32_t replica,
                                                    uint64_t pushed) const {
  const int64_t capacity = header().sizes.replica_state_bytes;
  const int64_t which = pushed % 2 == 0 ? 0 : AlignToLine(capacity);
  return {replica_part(replica) + header().sections.replica_state + which,
          static_cast<size_t>(capacity)};
}

arrow::Result<std::span<const std::byte>> ParameterRegion::StateOf(
    int32_t replica, uint64_t pushed) const {
  const auto room = replica_state(replica, pushed);
  const int64_t size = slot(replica).state_size[pushed % 2];
  if (size >= 0 && size <= std::ssize(room)) {
    return room.first(static_cast<size_t>(size));
  }
  return arrow::Status::Invalid("Replica ", replica, " has room for ", room.size(),
                                " bytes of state, but its slot says ", size);
}

}  // namespace xshards::learn
