// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>

#include "xshards/context.h"
#include "xshards/shards.h"

namespace xshards::testing {

/// An array from JSON text: Array(int64(), "[1, null]").
std::shared_ptr<arrow::Array> Array(const std::shared_ptr<arrow::DataType>& type,
                                    const std::string& json);
/// A batch from a JSON array of rows: Batch(schema, R"([{"a": 1}, {"a": null}])").
std::shared_ptr<arrow::RecordBatch> Batch(const std::shared_ptr<arrow::Schema>& schema,
                                          const std::string& json);

/// `num_rows` rows with columns id (int64: 0, 1, ...), key (large_utf8, `num_keys`
/// values, some missing), value (double, some missing).
std::shared_ptr<arrow::RecordBatch> Numbered(int64_t num_rows, int64_t num_keys = 7,
                                             int64_t first_id = 0);
/// Shards of consecutive Numbered rows.
XShards NumberedShards(const std::shared_ptr<Context>& context, int num_partitions,
                       int64_t rows_each);

/// The values of an int64 column of all partitions, in order.
std::vector<int64_t> Ids(const arrow::Table& table, const std::string& column = "id");

/// A Context for tests; fails the test and returns nullptr if it cannot be made.
std::shared_ptr<Context> TestContext(ContextOptions options = {
                                         .cores = 2, .memory_bytes = 1LL << 30});

/// Removed with all in it at the end of the scope.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  /// Write a file and return its path.
  std::string Write(const std::string& name, const std::string& text) const;
  /// The names of its files, including hidden ones, sorted.
  std::vector<std::string> List() const;

 private:
  std::string path_;
};

}  // namespace xshards::testing
