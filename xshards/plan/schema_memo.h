// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include <arrow/result.h>
#include <arrow/type.h>

#include "xshards/export.h"

namespace xshards {

/// Remembers OutputSchema() of a plan node, which never changes: it is asked for with
/// each node that is put on top, and would be found anew for all those below.
/// Thread-safe. A copy remembers nothing.
class XSHARDS_EXPORT SchemaMemo {
 public:
  using Schema = arrow::Result<std::shared_ptr<arrow::Schema>>;

  SchemaMemo() = default;
  SchemaMemo(const SchemaMemo& /*other*/) {}
  SchemaMemo& operator=(const SchemaMemo&) = delete;

  /// The schema that `find` returned the first time.
  Schema Get(const std::function<Schema()>& find) const;

 private:
  mutable std::mutex mutex_;  // guards found_
  mutable std::optional<Schema> found_;
};

}  // namespace xshards
