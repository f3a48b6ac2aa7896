// SPDX-License-Identifier: Apache-2.0
#include "xshards/guessed_types.h"

#include <utility>

#include "xshards/plan.h"

namespace xshards {

namespace {

constexpr char kMisfit[] = "does not fit the type that samples of the file suggested";

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

arrow::Status Misfit(const std::string& path, const std::string& column) {
  return arrow::Status::Invalid("A value in '", path, "', column '", column, "', ",
                                kMisfit, ". Did the file change?");
}

bool IsMisfit(const arrow::Status& status) {
  return status.message().find(kMisfit) != std::string::npos;
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
