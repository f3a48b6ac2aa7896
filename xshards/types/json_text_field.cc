// SPDX-License-Identifier: Apache-2.0
#include "xshards/types/json_text_field.h"

#include <arrow/util/key_value_metadata.h>

#include "xshards/types/pandas_dtype.h"

namespace xshards {
namespace {

constexpr char kJsonMark[] = "json";

}  // namespace

bool IsJsonText(const arrow::Field& field) {
  if (field.metadata() == nullptr) return false;
  const auto mark = field.metadata()->Get(kOpaqueKey);
  return mark.ok() && *mark == kJsonMark;
}

std::shared_ptr<arrow::Field> JsonTextField(const std::string& name) {
  return arrow::field(name, arrow::large_utf8(), /*nullable=*/true,
                      arrow::key_value_metadata({kOpaqueKey}, {kJsonMark}));
}

}  // namespace xshards
