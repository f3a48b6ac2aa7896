// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <arrow/status.h>

#include "xshards/export.h"

namespace xshards::io {

/// The cause of a parse error: the detail of an Invalid Status, for callers that
/// distinguish such errors.
class XSHARDS_EXPORT TextFault final : public arrow::StatusDetail {
 public:
  enum class Kind : uint8_t {
    kMalformed,    // lines are not records
    kNoColumns,    // no header and no data
    kUndecodable,  // bytes are not valid characters
  };

  /// The fault of a Status, or nullptr.
  static const TextFault* Of(const arrow::Status& status);

  explicit TextFault(Kind kind, std::string encoding = "", std::string bytes = "");

  const char* type_id() const override;
  std::string ToString() const override;

  Kind kind() const { return kind_; }
  /// For kUndecodable: the expected encoding, and the bytes, or the first of them.
  const std::string& encoding() const { return encoding_; }
  const std::string& bytes() const { return bytes_; }

 private:
  const Kind kind_;
  const std::string encoding_;
  const std::string bytes_;
};

arrow::Status Malformed(const std::string& message);
arrow::Status NoColumns(const std::string& message);
arrow::Status Undecodable(const std::string& message, const std::string& encoding,
                          std::string bytes);

}  // namespace xshards::io
