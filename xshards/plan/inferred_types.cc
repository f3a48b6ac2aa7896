// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/inferred_types.h"

#include <string_view>
#include <utility>

namespace xshards {

namespace {

constexpr char kTypeMismatchLocation[] = "xshards::TypeMismatchLocation";

}  // namespace

TypeMismatchLocation::TypeMismatchLocation(std::string value, std::string column,
                                           std::string path, int64_t begin,
                                           int64_t offset)
    : value_(std::move(value)),
      column_(std::move(column)),
      path_(std::move(path)),
      begin_(begin),
      offset_(offset) {}

const TypeMismatchLocation* TypeMismatchLocation::Of(const arrow::Status& status) {
  const auto& detail = status.detail();
  const bool is_place =
      detail != nullptr && std::string_view(detail->type_id()) == kTypeMismatchLocation;
  return is_place ? static_cast<const TypeMismatchLocation*>(detail.get()) : nullptr;
}

const char* TypeMismatchLocation::type_id() const { return kTypeMismatchLocation; }

std::string TypeMismatchLocation::Name() const {
  const std::string shown = value_.empty() ? "" : "'" + value_ + "' ";
  return shown + "of column '" + column_ + "' in '" + path_ + "'";
}

std::string TypeMismatchLocation::ToString() const {
  return Name() + ", byte " + std::to_string(begin_) + "+" + std::to_string(offset_);
}

arrow::Status TypeMismatchError(std::shared_ptr<TypeMismatchLocation> place) {
  const auto error = arrow::Status::Invalid(
      "The value ", place->ToString(),
      ", does not fit the type that samples of the file suggested");
  return error.WithDetail(std::move(place));
}

}  // namespace xshards
