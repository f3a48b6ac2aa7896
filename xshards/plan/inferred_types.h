// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include "xshards/export.h"
#include "xshards/type_fwd.h"

namespace xshards {

struct ScanNode;

// Text files do not say what types their columns have. A scan infers them from samples;
// where a value does not fit, its reader fails with TypeMismatchError(), the types of all
// values are found, and the plan runs again (Context::Run).

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

/// Which value the inferred types did not allow: the detail of the error of the reader
/// that met it. Named by bytes: most are never shown, and to count lines costs time.
class XSHARDS_EXPORT TypeMismatchLocation final : public arrow::StatusDetail {
 public:
  /// The location that a Status carries, or nullptr.
  static const TypeMismatchLocation* Of(const arrow::Status& status);

  /// `value` is its text, or the beginning of it, or empty where it is not to be shown.
  /// It is `offset` bytes of text after a position of the file where text can begin.
  TypeMismatchLocation(std::string value, std::string column, std::string path,
                       int64_t begin, int64_t offset);

  const char* type_id() const override;
  /// "'x' of column 'a' in 'a.csv', byte 0+7".
  std::string ToString() const override;
  /// The same without the bytes.
  std::string Name() const;

  const std::string& value() const { return value_; }
  const std::string& column() const { return column_; }
  const std::string& path() const { return path_; }
  int64_t begin() const { return begin_; }
  int64_t offset() const { return offset_; }

 private:
  const std::string value_;
  const std::string column_;
  const std::string path_;
  const int64_t begin_;
  const int64_t offset_;
};

/// The error of a reader that met such a value.
XSHARDS_EXPORT arrow::Status TypeMismatchError(
    std::shared_ptr<TypeMismatchLocation> place);

/// Say which value it is as people want to know it, by the number of the line, which
/// takes time to find, and with what to do. Nothing where the scan has no such place.
using DescribePlace = std::function<std::optional<std::string>(
    const ScanNode& scan, const TypeMismatchLocation& place, arrow::MemoryPool* pool)>;

/// Run a plan and return its batches.
using RunPlan = std::function<arrow::Result<arrow::RecordBatchVector>(const Plan& plan)>;
/// Find the types of all values of a scan whose types are inferred.
using FindTypes = std::function<arrow::Result<std::shared_ptr<arrow::Schema>>(
    const ScanNode& scan, const RunPlan& run)>;

/// A scan with the types that were found, where some were.
XSHARDS_EXPORT ScanNode WithFoundTypes(ScanNode scan);
/// The scans below a plan whose types were inferred, less what is cached already.
XSHARDS_EXPORT std::vector<ScanNode> InferredScans(const PlanNode& plan);

}  // namespace xshards
