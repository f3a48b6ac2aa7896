// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/inferred_types.h"

#include <string_view>
#include <utility>

#include "xshards/plan/plan.h"

namespace xshards {

namespace {

constexpr char kMisfitPlace[] = "xshards::MisfitPlace";

void AddGuessedScans(const PlanNode& plan, std::vector<ScanNode>* scans) {
  if (plan.kind() == NodeKind::kScan) {
    const auto& scan = plan.as<ScanNode>();
    if (scan.guessed && scan.found != nullptr) scans->push_back(scan);
  }
  if (plan.kind() == NodeKind::kCache && plan.as<CacheNode>().cell->Get().has_value()) {
    return;
  }
  for (const auto& input : plan.inputs) AddGuessedScans(*input, scans);
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

MisfitPlace::MisfitPlace(std::string value, std::string column, std::string path,
                         int64_t begin, int64_t offset)
    : value_(std::move(value)),
      column_(std::move(column)),
      path_(std::move(path)),
      begin_(begin),
      offset_(offset) {}

const MisfitPlace* MisfitPlace::Of(const arrow::Status& status) {
  const auto& detail = status.detail();
  const bool is_place =
      detail != nullptr && std::string_view(detail->type_id()) == kMisfitPlace;
  return is_place ? static_cast<const MisfitPlace*>(detail.get()) : nullptr;
}

const char* MisfitPlace::type_id() const { return kMisfitPlace; }

std::string MisfitPlace::Name() const {
  const std::string shown = value_.empty() ? "" : "'" + value_ + "' ";
  return shown + "of column '" + column_ + "' in '" + path_ + "'";
}

std::string MisfitPlace::ToString() const {
  return Name() + ", byte " + std::to_string(begin_) + "+" + std::to_string(offset_);
}

arrow::Status Misfit(std::shared_ptr<MisfitPlace> place) {
  const auto error = arrow::Status::Invalid(
      "The value ", place->ToString(),
      ", does not fit the type that samples of the file suggested");
  return error.WithDetail(std::move(place));
}

ScanNode WithFoundTypes(ScanNode scan) {
  if (scan.found == nullptr) return scan;
  if (auto schema = scan.found->Get(); schema != nullptr) {
    scan.schema = std::move(schema);
    scan.guessed = false;
  }
  return scan;
}

std::vector<ScanNode> GuessedScans(const PlanNode& plan) {
  std::vector<ScanNode> scans;
  AddGuessedScans(plan, &scans);
  return scans;
}

}  // namespace xshards
