// SPDX-License-Identifier: Apache-2.0
// The smallest program of a user: make a context, read batches, count the rows.
#include <cstdint>
#include <iostream>

#include <arrow/api.h>
#include <learn/feed/feeder.h>
#include <learn/ps/client.h>
#include <learn/ps/server.h>
#include <learn/schedule/learning_rate_schedule.h>
#include <xshards/xshards.h>

namespace {

arrow::Result<int64_t> CountRows() {
  ARROW_ASSIGN_OR_RAISE(auto context, xshards::Context::Make({.cores = 2}));
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.AppendValues({1, 2, 3}));
  ARROW_ASSIGN_OR_RAISE(auto values, builder.Finish());
  auto batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("value", arrow::int64())}), 3, {values});
  ARROW_ASSIGN_OR_RAISE(auto shards, xshards::XShards::FromBatches(context, {batch}));
  return shards.Filter(xshards::col("value") > xshards::lit(1)).Count();
}

}  // namespace

int main() {
  auto rows = CountRows();
  if (!rows.ok()) {
    std::cerr << rows.status().ToString() << "\n";
    return 1;
  }
  std::cout << "rows over 1: " << *rows << "\n";
  return *rows == 2 ? 0 : 1;
}
