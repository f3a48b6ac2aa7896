// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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

// Text files store no types. A scan infers them from samples; if a value does not fit,
// its reader fails with TypeMismatchError(), the types of all values are inferred, and
// the plan runs again (Context::Run).

/// The value that does not fit its inferred type: the detail of the reader's error.
/// Located by bytes: most are never shown, and counting lines takes time.
class XSHARDS_EXPORT TypeMismatchLocation final : public arrow::StatusDetail {
 public:
  /// The location that a Status carries, or nullptr.
  static const TypeMismatchLocation* Of(const arrow::Status& status);

  /// `value` is its text, or the beginning of it, or empty if it is not to be shown. It
  /// is `offset` bytes of text after a position of the file where text can begin.
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

/// The error of a reader that found such a value.
XSHARDS_EXPORT arrow::Status TypeMismatchError(
    std::shared_ptr<TypeMismatchLocation> place);

/// Describe the value for users, by its line number, which takes time to find, and with
/// the fix. nullopt if the scan has no such place.
using DescribePlace = std::function<std::optional<std::string>(
    const ScanNode& scan, const TypeMismatchLocation& place, arrow::MemoryPool* pool)>;

/// Run a plan and return its batches.
using RunPlan = std::function<arrow::Result<arrow::RecordBatchVector>(const Plan& plan)>;
/// Infer the types from all values of a scan.
using FindTypes = std::function<arrow::Result<std::shared_ptr<arrow::Schema>>(
    const ScanNode& scan, const RunPlan& run)>;

}  // namespace xshards
