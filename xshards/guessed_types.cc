// SPDX-License-Identifier: Apache-2.0
#include "xshards/guessed_types.h"

#include <utility>

#include "xshards/plan.h"

namespace xshards {

namespace {

constexpr char kValue[] = "The value ";
constexpr char kMisfit[] = ", does not fit the type that samples of the file suggested";

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

arrow::Status Misfit(const std::string& place) {
  return arrow::Status::Invalid(kValue, place, kMisfit);
}

bool IsMisfit(const arrow::Status& status) {
  return status.message().find(kMisfit) != std::string::npos;
}

arrow::Status BecauseOf(const arrow::Status& misfit, const arrow::Status& error,
                        const std::function<std::string(std::string place)>& describe) {
  const std::string& message = misfit.message();
  const size_t begin = message.find(kValue);
  const size_t end = message.find(kMisfit);
  if (begin == std::string::npos || begin > end) return error;
  const size_t place = begin + sizeof(kValue) - 1;
  return error.WithMessage(error.message(), ". The type was changed by the value ",
                           describe(message.substr(place, end - place)));
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
