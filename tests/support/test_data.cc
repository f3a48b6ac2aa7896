// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_data.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>

namespace xshards::testing {

std::shared_ptr<arrow::Array> Array(const std::shared_ptr<arrow::DataType>& type,
                                    const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

std::shared_ptr<arrow::RecordBatch> Batch(const std::shared_ptr<arrow::Schema>& schema,
                                          const std::string& json) {
  auto rows = Array(arrow::struct_(schema->fields()), json);
  auto batch = arrow::RecordBatch::FromStructArray(rows).ValueOrDie();
  return batch->ReplaceSchema(schema).ValueOrDie();
}

std::shared_ptr<arrow::RecordBatch> Numbered(int64_t num_rows, int64_t num_keys,
                                             int64_t first_id) {
  arrow::Int64Builder ids;
  arrow::LargeStringBuilder keys;
  arrow::DoubleBuilder values;
  for (int64_t id = first_id; id < first_id + num_rows; ++id) {
    EXPECT_TRUE(ids.Append(id).ok());
    // A fixed scramble, so that keys neither run in order nor repeat with a period.
    const auto mixed = static_cast<uint64_t>(id) * 0x9E3779B97F4A7C15ULL >> 33;
    const bool missing = mixed % 11 == 0;
    const auto key = static_cast<int64_t>(mixed % static_cast<uint64_t>(num_keys));
    EXPECT_TRUE(
        (missing ? keys.AppendNull() : keys.Append("κ" + std::to_string(key))).ok());
    const bool no_value = mixed % 5 == 0;
    EXPECT_TRUE((no_value ? values.AppendNull()
                          : values.Append(static_cast<double>(mixed % 1000) / 8))
                    .ok());
  }
  auto schema = arrow::schema({arrow::field("id", arrow::int64()),
                               arrow::field("key", arrow::large_utf8()),
                               arrow::field("value", arrow::float64())});
  return arrow::RecordBatch::Make(schema, num_rows,
                                  {ids.Finish().ValueOrDie(), keys.Finish().ValueOrDie(),
                                   values.Finish().ValueOrDie()});
}

XShards NumberedShards(const std::shared_ptr<Context>& context, int num_partitions,
                       int64_t rows_each) {
  arrow::RecordBatchVector batches;
  for (int i = 0; i < num_partitions; ++i) {
    batches.push_back(Numbered(rows_each, 7, i * rows_each));
  }
  return XShards::FromBatches(context, std::move(batches)).ValueOrDie();
}

std::vector<int64_t> Ids(const arrow::Table& table, const std::string& column) {
  std::vector<int64_t> ids;
  for (const auto& chunk : table.GetColumnByName(column)->chunks()) {
    const auto& values = static_cast<const arrow::Int64Array&>(*chunk);
    for (int64_t i = 0; i < values.length(); ++i) ids.push_back(values.Value(i));
  }
  return ids;
}

std::shared_ptr<Context> TestContext(ContextOptions options) {
  auto context = Context::Make(std::move(options));
  EXPECT_TRUE(context.ok()) << context.status();
  return context.ValueOr(nullptr);
}

TemporaryDirectory::TemporaryDirectory()
    : path_((std::filesystem::temp_directory_path() / "xshards-test-XXXXXX").string()) {
  EXPECT_NE(mkdtemp(path_.data()), nullptr);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryDirectory::Write(const std::string& name,
                                      const std::string& text) const {
  std::ofstream(File(name), std::ios::binary) << text;
  return File(name);
}

std::vector<std::string> TemporaryDirectory::List() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace xshards::testing
