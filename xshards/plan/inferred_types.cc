// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/inferred_types.h"

#include <string_view>
#include <utility>

#include "xshards/plan/plan.h"

namespace xshards {

namespace {

constexpr char kTypeMismatchLocation[] = "xshards::TypeMismatchLocation";

void AddInferredScans(const PlanNode& plan, std::vector<ScanNode>* scans) {
  if (plan.kind() == NodeKind::kScan) {
    const auto& scan = plan.as<ScanNode>();
    if (scan.inferred && scan.found != nullptr) scans->push_back(scan);
  }
  if (plan.kind() == NodeKind::kCache && plan.as<CacheNode>().cell->Get().has_value()) {
    return;
  }
  for (const auto& input : plan.inputs) AddInferredScans(*input, scans);
}

}  // namespace

std::shared_ptr<arrow::Schema> SchemaCell::Get() const {
  std::lock_guard lock(mutex_);
  return schema_;
}

void SchemaCell::Set(std::shared_ptr<arrow::Schema> schema) {
  std::lock_guard lock(mutex_);
  schema_ = std::move(schema);
}

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

ScanNode WithFoundTypes(ScanNode scan) {
  if (scan.found == nullptr) return scan;
  if (auto schema = scan.found->Get(); schema != nullptr) {
    scan.schema = std::move(schema);
    scan.inferred = false;
  }
  return scan;
}

std::vector<ScanNode> InferredScans(const PlanNode& plan) {
  std::vector<ScanNode> scans;
  AddInferredScans(plan, &scans);
  return scans;
}

}  // namespace xshards
