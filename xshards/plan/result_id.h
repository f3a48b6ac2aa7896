// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

namespace xshards {

/// Identifies a result of a plan that later plans use: the partitions of a Cache node, or
/// the types that a scan inferred. Plain data: the ResultStore of a Context keeps the
/// result.
struct ResultId {
  uint64_t store = 0;  // a random number of the store that made it
  uint64_t number = 0;

  bool operator==(const ResultId&) const = default;
};

/// Shared by the copies of a node. The result is dropped with the last of them; a decoded
/// handle does not keep it alive.
using ResultHandle = std::shared_ptr<const ResultId>;

}  // namespace xshards
