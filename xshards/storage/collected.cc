// SPDX-License-Identifier: Apache-2.0
#include "xshards/storage/collected.h"

#include <utility>

#include "xshards/types/dictionary_encoding.h"

namespace xshards {

arrow::Result<std::vector<std::vector<Payload>>> LoadAll(
    const std::vector<Partition>& partitions, const arrow::StopToken& stop) {
  // Partitions without a common type are returned unchanged.
  const auto schema = DecodedSchema(UnifySchemas(partitions).ValueOr(nullptr));
  std::vector<std::vector<Payload>> loaded;
  loaded.reserve(partitions.size());
  for (const Partition& partition : partitions) {
    ARROW_RETURN_NOT_OK(stop.Poll());
    ARROW_ASSIGN_OR_RAISE(auto payloads, partition.Load());
    if (payloads.empty() && schema != nullptr) {
      payloads.push_back(Payload::Table(schema, {}));
    }
    loaded.push_back(std::move(payloads));
  }
  return loaded;
}

int64_t NumRows(const std::vector<Partition>& partitions) {
  int64_t num_rows = 0;
  for (const Partition& partition : partitions) num_rows += partition.num_rows();
  return num_rows;
}

}  // namespace xshards
