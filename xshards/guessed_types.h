// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type.h>

#include "xshards/export.h"
#include "xshards/type_fwd.h"

namespace xshards {

struct ScanNode;

// Text files do not say what types their columns have. A scan guesses them from samples;
// where a value does not fit, its reader fails with Misfit(), the types of all values are
// found, and the plan runs again (Context::Run).

/// Where a scan keeps the types of all its values, once they are found. Shared by the
/// copies of a scan; thread-safe.
class XSHARDS_EXPORT SchemaCell {
 public:
  /// nullptr until they are found.
  std::shared_ptr<arrow::Schema> Get() const;
  void Set(std::shared_ptr<arrow::Schema> schema);

 private:
  mutable std::mutex mutex_;  // guards schema_
  std::shared_ptr<arrow::Schema> schema_;
};

/// The error of a reader that met a value which the guessed types do not allow. `place`
/// is which value it is: "'x' of column 'a' in 'a.csv', byte 0+7".
XSHARDS_EXPORT arrow::Status Misfit(const std::string& place);
/// Whether a run failed with it. Goes by the message, which is all that is left of an
/// error that comes from a worker process.
XSHARDS_EXPORT bool IsMisfit(const arrow::Status& status);

/// Say what Misfit() was told as people want to know it, by the number of the line, which
/// takes time to find, and with what to do. As it was where the scan has no such place.
using DescribePlace = std::function<std::string(
    const ScanNode& scan, const std::string& place, arrow::MemoryPool* pool)>;

/// The error of a run with the types of all values: what was right for those of samples
/// may be no longer. Names the value that made the difference, as `describe` says it.
XSHARDS_EXPORT arrow::Status BecauseOf(
    const arrow::Status& misfit, const arrow::Status& error,
    const std::function<std::string(std::string place)>& describe);

/// Run a plan and return its batches.
using RunPlan = std::function<arrow::Result<arrow::RecordBatchVector>(const Plan& plan)>;
/// Find the types of all values of a scan whose types are guessed.
using FindTypes = std::function<arrow::Result<std::shared_ptr<arrow::Schema>>(
    const ScanNode& scan, const RunPlan& run)>;

/// A scan with the types that were found, where some were.
XSHARDS_EXPORT ScanNode WithFoundTypes(ScanNode scan);
/// The scans below a plan whose types were guessed, less what is cached already.
XSHARDS_EXPORT std::vector<ScanNode> GuessedScans(const PlanNode& plan);

}  // namespace xshards
