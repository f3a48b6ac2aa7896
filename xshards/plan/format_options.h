// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "xshards/export.h"

namespace xshards {

/// The options of a scan or a writer. Core knows no format, so to it they are bytes; the
/// executor of the format knows their members. Immutable: shared by the copies of a node.
class XSHARDS_EXPORT FormatOptions {
 public:
  virtual ~FormatOptions() = default;
  /// The bytes from which the format makes them again.
  virtual arrow::Result<std::shared_ptr<arrow::Buffer>> Encode() const = 0;
};

/// nullptr: the defaults of the format.
using FormatOptionsPointer = std::shared_ptr<const FormatOptions>;

/// Options as they come with a decoded plan.
class XSHARDS_EXPORT EncodedOptions final : public FormatOptions {
 public:
  explicit EncodedOptions(std::shared_ptr<arrow::Buffer> bytes)
      : bytes_(std::move(bytes)) {}

  arrow::Result<std::shared_ptr<arrow::Buffer>> Encode() const override { return bytes_; }

 private:
  const std::shared_ptr<arrow::Buffer> bytes_;
};

}  // namespace xshards
