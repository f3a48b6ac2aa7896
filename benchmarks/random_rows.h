// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/util/byte_size.h>

namespace xshards::bench {

/// Unwrap a Result, or end the program with its message.
template <typename T>
T Get(arrow::Result<T> result) {
  return std::move(result).ValueOrDie();
}
inline void Check(const arrow::Status& status) {
  if (!status.ok()) status.Abort();
}

/// Rows with columns key (int64) and name (large_utf8), both of `num_keys` values in
/// random order and name's made from key's; x (double, a twentieth missing) and y
/// (double). The same for the same arguments.
inline std::shared_ptr<arrow::RecordBatch> RandomRows(int64_t num_rows,
                                                      int64_t num_keys) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int64_t> keys(0, num_keys - 1);
  std::uniform_real_distribution<double> reals(-1.0, 1.0);
  arrow::Int64Builder key;
  arrow::LargeStringBuilder name;
  arrow::DoubleBuilder x;
  arrow::DoubleBuilder y;
  for (int64_t i = 0; i < num_rows; ++i) {
    const int64_t value = keys(random);
    Check(key.Append(value));
    Check(name.Append("name-" + std::to_string(value)));
    if (random() % 20 == 0) {
      Check(x.AppendNull());
    } else {
      Check(x.Append(reals(random)));
    }
    Check(y.Append(reals(random)));
  }
  auto schema = arrow::schema({{arrow::field("key", arrow::int64())},
                               {arrow::field("name", arrow::large_utf8())},
                               {arrow::field("x", arrow::float64())},
                               {arrow::field("y", arrow::float64())}});
  return arrow::RecordBatch::Make(
      schema, num_rows,
      {Get(key.Finish()), Get(name.Finish()), Get(x.Finish()), Get(y.Finish())});
}

/// The bytes of its rows.
inline int64_t NumBytes(const arrow::RecordBatch& batch) {
  return Get(arrow::util::ReferencedBufferSize(batch));
}

}  // namespace xshards::bench
