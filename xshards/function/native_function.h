// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/table.h>

#include "xshards/export.h"
#include "xshards/function/shard_view.h"

namespace xshards {

/// A C++ function over one complete partition, in the form that the engine calls.
using NativeFunction =
    std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>(const ShardView&)>;

/// Flatten a table to one batch.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<arrow::RecordBatch>> ToBatch(
    const std::shared_ptr<arrow::Table>& table);

namespace internal {

inline arrow::Result<std::shared_ptr<arrow::RecordBatch>> ToBatchResult(
    std::shared_ptr<arrow::RecordBatch> batch) {
  return batch;
}
inline arrow::Result<std::shared_ptr<arrow::RecordBatch>> ToBatchResult(
    const std::shared_ptr<arrow::Table>& table) {
  return ToBatch(table);
}
inline arrow::Result<std::shared_ptr<arrow::RecordBatch>> ToBatchResult(
    const ShardView& view) {
  return view.batch();
}
template <typename T>
arrow::Result<std::shared_ptr<arrow::RecordBatch>> ToBatchResult(
    arrow::Result<T> result) {
  if (!result.ok()) return result.status();
  return ToBatchResult(result.MoveValueUnsafe());
}

}  // namespace internal

/// Accept any callable that takes a ShardView, a RecordBatch or a Table (by pointer) and
/// returns one of these, or a Result of one.
template <typename F>
NativeFunction MakeNativeFunction(F function) {
  return
      [function = std::move(function)](
          const ShardView& shard) -> arrow::Result<std::shared_ptr<arrow::RecordBatch>> {
        if constexpr (std::invocable<const F&, const ShardView&>) {
          return internal::ToBatchResult(function(shard));
        } else if constexpr (std::invocable<const F&,
                                            const std::shared_ptr<arrow::RecordBatch>&>) {
          return internal::ToBatchResult(function(shard.batch()));
        } else {
          static_assert(std::invocable<const F&, const std::shared_ptr<arrow::Table>&>,
                        "TransformShard takes a callable over const ShardView&, "
                        "shared_ptr<RecordBatch> or shared_ptr<Table>");
          ARROW_ASSIGN_OR_RAISE(auto table, shard.ToTable());
          return internal::ToBatchResult(function(table));
        }
      };
}

/// Make a function known by name in every process that loads this code. Called before
/// main() by XSHARDS_FUNCTION; a second function of the same name is ignored and
/// reported by FindFunction as an error.
XSHARDS_EXPORT bool RegisterFunction(const std::string& name, NativeFunction function);
/// KeyError lists the registered names.
XSHARDS_EXPORT arrow::Result<std::shared_ptr<const NativeFunction>> FindFunction(
    const std::string& name);

}  // namespace xshards

/// Register a callable under its name, so that fragments that use it can run in other
/// processes: XSHARDS_FUNCTION(scale, [](const xshards::ShardView& shard) {...});
#define XSHARDS_FUNCTION(name, ...)                              \
  [[maybe_unused]] static const bool xshards_registered_##name = \
      ::xshards::RegisterFunction(#name, ::xshards::MakeNativeFunction(__VA_ARGS__))
