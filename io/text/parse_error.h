// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <arrow/status.h>

#include "xshards/export.h"

namespace xshards::io {

/// What is wrong with a text that cannot be read: the detail of an Invalid Status, for
/// those who tell such errors from others.
class XSHARDS_EXPORT TextFault final : public arrow::StatusDetail {
 public:
  enum class Kind : uint8_t {
    kMalformed,    // lines are no records
    kNoColumns,    // there is nothing that names, or has, columns
    kUndecodable,  // bytes are no characters
  };

  /// The fault of a Status, or nullptr.
  static const TextFault* Of(const arrow::Status& status);

  explicit TextFault(Kind kind, std::string encoding = "", std::string bytes = "");

  const char* type_id() const override;
  std::string ToString() const override;

  Kind kind() const { return kind_; }
  /// Of kUndecodable: the encoding that was expected, and the bytes, or the first of
  /// them.
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
