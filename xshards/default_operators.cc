// SPDX-License-Identifier: Apache-2.0
// Where the layers meet: the one source of core that knows io/ and ops/.
#include "io/operators.h"
#include "ops/operators.h"
#include "xshards/execution/fragments/operator_table.h"

namespace xshards {

std::shared_ptr<const OperatorTable> DefaultOperators() {
  auto table = std::make_shared<OperatorTable>();
  AddCoreOperators(*table);
  io::AddOperators(*table);
  ops::AddOperators(*table);
  return table;
}

}  // namespace xshards
