// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <pybind11/pybind11.h>

#include "xshards/execution/fragments/fragment.h"
#include "xshards/execution/fragments/operator_table.h"
#include "xshards/memory/mapping_cache.h"
#include "xshards/memory/memory_budget.h"
#include "xshards/memory/private_mapping.h"
#include "xshards/memory/segment_pool.h"

namespace xshards::python {

/// Runs fragments in a worker process, one at a time, on the calling thread.
class FragmentWorker {
 public:
  /// `call` runs Python functions, see MapPythonExecutor.
  static arrow::Result<std::unique_ptr<FragmentWorker>> Make(
      const std::string& spill_directory, int64_t memory_bytes, pybind11::object call);

  /// Decode a fragment, run it with its output in shared segments, encode the result. The
  /// result keeps its segments open.
  arrow::Result<Encoded> Run(const std::shared_ptr<arrow::Buffer>& bytes,
                             std::vector<std::shared_ptr<Segment>> segments);

  /// Lend a function writable memory of its input while it runs.
  std::optional<PrivateMemory::Loan> Lend(const arrow::Buffer& buffer);

 private:
  FragmentWorker(int64_t memory_bytes, pybind11::object call);
  arrow::Result<FragmentResult> RunInMemory(
      const std::shared_ptr<arrow::Buffer>& bytes,
      std::span<const std::shared_ptr<Segment>> segments);

  pybind11::object call_;
  MemoryBudget budget_;
  WarmMappings warm_;  // of segments it wrote and may be lent again
  std::unique_ptr<SegmentPool> segments_;
  std::unique_ptr<PrivateMemory> memory_;  // while a fragment runs
  OperatorTable operators_;
};

}  // namespace xshards::python
