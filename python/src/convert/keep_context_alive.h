// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/table.h>

#include "xshards/context.h"
#include "xshards/storage/payload.h"

namespace xshards::python {

// Data that the engine made lives in its Context's pool and segments, so the Context must
// outlive it. These return the same data, zero copy, with a reference to the Context.

std::shared_ptr<arrow::Buffer> Anchor(const std::shared_ptr<Context>& context,
                                      const std::shared_ptr<arrow::Buffer>& buffer);
std::shared_ptr<arrow::Array> Anchor(const std::shared_ptr<Context>& context,
                                     const std::shared_ptr<arrow::Array>& array);
std::shared_ptr<arrow::Table> Anchor(const std::shared_ptr<Context>& context,
                                     const std::shared_ptr<arrow::Table>& table);
Payload Anchor(const std::shared_ptr<Context>& context, const Payload& payload);

}  // namespace xshards::python
