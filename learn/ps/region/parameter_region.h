// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <arrow/result.h>

#include "learn/ps/region/futex_counter.h"
#include "learn/ps/region/parameter_layout.h"
#include "learn/ps/region/shared_region.h"
#include "xshards/export.h"

namespace xshards::learn {

/// The state of one replica, shared with the driver. Written by the replica, except
/// `granted`.
struct alignas(64) ReplicaSlot {
  std::atomic<int32_t> pid{0};       // 0: no process is attached
  std::atomic<uint64_t> pushed{0};   // gradients this replica has completed
  std::atomic<uint64_t> granted{0};  // of these, consumed; set by the driver
  double rows = 0;                   // of the last gradient, or their weights
  // The state that a restarted replica needs to continue after `pushed` gradients is in
  // buffer `pushed % 2`, so that a death while writing leaves the previous one intact.
  std::array<int64_t, 2> state_size{0, 0};
};

/// One parameter, as a replica that has only the descriptor sees it.
struct ParameterRecord {
  int64_t offset = 0;
  int64_t count = 0;
  ParameterType type = ParameterType::kFloat32;
  int32_t group = 0;
};

/// The sizes that determine a region's layout.
struct RegionSizes {
  int32_t num_replicas = 1;
  int32_t num_states = 0;           // optimizer vectors
  int64_t replica_state_bytes = 0;  // at most, for one replica
};

/// The one shared region of a parameter server, and where everything in it is:
///
///     header, slots │ records, step counts │ replica 0 │ replica 1 .. │
///     weights │ states │ gradient of replica 0 │ gradient of replica 1 ..
///
/// A replica's part has its presence flags and its state, twice. Each part between bars
/// begins on a page, so that a replica gets write access only to the first part and its
/// own two: it cannot damage weights or another replica's gradient. Vectors at least as
/// large as a huge page begin on one.
class XSHARDS_EXPORT ParameterRegion {
 public:
  static arrow::Result<std::shared_ptr<ParameterRegion>> Create(
      const ParameterLayout& layout, RegionSizes sizes,
      std::shared_ptr<MemoryBudget> budget);
  /// Map a driver's region; `replica` is the one whose part becomes writable.
  static arrow::Result<std::shared_ptr<ParameterRegion>> Open(int fd, int32_t replica);

  int fd() const { return region_->fd(); }
  int64_t size() const { return region_->size(); }
  const RegionSizes& sizes() const { return header().sizes; }
  int64_t vector_bytes() const { return header().vector_bytes; }
  int32_t driver_pid() const { return header().driver_pid; }

  /// Woken by a replica when a gradient is complete, or when it calls; the driver sleeps
  /// on it.
  Bell& gradients_bell() const { return header().gradients_bell; }
  /// Woken by the driver when weights are updated or it stops; replicas sleep on it.
  Bell& weights_bell() const { return header().weights_bell; }
  std::atomic<bool>& stopped() const { return header().stopped; }
  /// How often replicas have called the driver.
  std::atomic<uint64_t>& calls() const { return header().calls; }
  /// Updates made to the weights.
  std::atomic<uint64_t>& step() const { return header().step; }

  std::span<const ParameterRecord> parameters() const;
  /// Steps in which each parameter had a gradient.
  std::span<int64_t> step_counts() const;
  ReplicaSlot& slot(int32_t replica) const;
  /// IndexError unless there is such a parameter, replica or optimizer state.
  arrow::Status CheckParameter(int64_t index) const;
  arrow::Status CheckReplica(int32_t replica) const;
  arrow::Status CheckState(int32_t index) const;

  std::byte* weights() const { return at(header().sections.weights); }
  /// Offset of the weights in the memfd; page-aligned.
  int64_t weights_offset() const { return header().sections.weights; }
  std::byte* state(int32_t index) const;
  std::byte* gradient(int32_t replica) const;
  /// One byte per parameter: whether the replica has a gradient for it.
  std::span<uint8_t> presence(int32_t replica) const;
  /// One of the two buffers of the replica's own state.
  std::span<std::byte> replica_state(int32_t replica, uint64_t pushed) const;
  /// What the replica wrote there; an error if it claims more than there is room for.
  arrow::Result<std::span<const std::byte>> StateOf(int32_t replica,
                                                    uint64_t pushed) const;

 private:
  /// Offsets from the start of the region, or of a replica's part.
  struct Sections {
    int64_t records = 0;
    int64_t step_counts = 0;
    int64_t slots = 0;
    int64_t control_end = 0;  // every replica may write up to here
    int64_t replicas = 0;
    int64_t replica_stride = 0;
    int64_t replica_state = 0;  // in a replica's part
    int64_t weights = 0;
    int64_t states = 0;
    int64_t gradients = 0;
    int64_t vector_stride = 0;  // from one state or gradient to the next
    int64_t end = 0;
  };
  struct Header {
    uint64_t magic;
    RegionSizes sizes;
    int32_t num_parameters;
    int32_t driver_pid;
    int64_t vector_bytes;
    Sections sections;
    std::atomic<bool> stopped;
    std::atomic<uint64_t> step;
    std::atomic<uint64_t> calls;
    alignas(64) Bell gradients_bell;
    alignas(64) Bell weights_bell;
  };
  explicit ParameterRegion(std::shared_ptr<SharedRegion> region);
  static Sections Arrange(const ParameterLayout& layout, RegionSizes sizes);

  void UseHugePages() const;
  std::byte* at(int64_t offset) const { return region_->data() + offset; }
  Header& header() const { return *reinterpret_cast<Header*>(region_->data()); }
  std::byte* replica_part(int32_t replica) const;

  const std::shared_ptr<SharedRegion> region_;
};

}  // namespace xshards::learn
