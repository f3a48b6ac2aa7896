// SPDX-License-Identifier: Apache-2.0
#include "io/text/parse_error.h"

#include <memory>
#include <string_view>
#include <utility>

namespace xshards::io {
namespace {

constexpr char kTypeId[] = "xshards::io::TextFault";

arrow::Status Faulty(const std::string& message, std::shared_ptr<TextFault> fault) {
  return arrow::Status::Invalid(message).WithDetail(std::move(fault));
}

}  // namespace

TextFault::TextFault(Kind kind, std::string encoding, std::string bytes)
    : kind_(kind), encoding_(std::move(encoding)), bytes_(std::move(bytes)) {}

const TextFault* TextFault::Of(const arrow::Status& status) {
  const auto& detail = status.detail();
  const bool is_fault =
      detail != nullptr && std::string_view(detail->type_id()) == kTypeId;
  return is_fault ? static_cast<const TextFault*>(detail.get()) : nullptr;
}

const char* TextFault::type_id() const { return kTypeId; }

std::string TextFault::ToString() const {
  switch (kind_) {
    case Kind::kMalformed:
      return "malformed text";
    case Kind::kNoColumns:
      return "no columns";
    case Kind::kUndecodable:
      return "text that is not in " + encoding_;
  }
  return "";
}

arrow::Status Malformed(const std::string& message) {
  return Faulty(message, std::make_shared<TextFault>(TextFault::Kind::kMalformed));
}

arrow::Status NoColumns(const std::string& message) {
  return Faulty(message, std::make_shared<TextFault>(TextFault::Kind::kNoColumns));
}

arrow::Status Undecodable(const std::string& message, const std::string& encoding,
                          std::string bytes) {
  return Faulty(message, std::make_shared<TextFault>(TextFault::Kind::kUndecodable,
                                                     encoding, std::move(bytes)));
}

}  // namespace xshards::io
