// SPDX-License-Identifier: Apache-2.0
#include "xshards/plan/schema_memo.h"

#include <utility>

namespace xshards {

SchemaMemo::Schema SchemaMemo::Get(const std::function<Schema()>& find) const {
  {
    std::lock_guard lock(mutex_);
    if (found_.has_value()) return *found_;
  }
  // Two threads may both look; they find the same.
  Schema schema = find();
  std::lock_guard lock(mutex_);
  if (!found_.has_value()) found_ = schema;
  return schema;
}

}  // namespace xshards
