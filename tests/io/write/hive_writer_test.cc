// SPDX-License-Identifier: Apache-2.0
#include "io/write/hive_writer.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <arrow/array/builder_primitive.h>
#include <arrow/array/builder_time.h>

#include "io/csv/writer.h"
#include "tests/io/scan_fixture.h"

namespace xshards::io {
namespace {

using PartitionedFilesTest = IoTest;

TEST_F(PartitionedFilesTest, NameTheFileThatAWriterCannotOpen) {
  const OpenWriter fail = [](const auto&, const auto&, const auto&, auto*) {
    return arrow::Result<std::unique_ptr<FileWriter>>(
        arrow::Status::IOError("Error writing bytes to file"));
  };
  const auto path = Write("begun", "") + ".parts/a.csv";
  const auto batch = testing::Batch(arrow::schema({arrow::field("k", arrow::int64()),
                                                   arrow::field("v", arrow::int64())}),
                                    R"([{"k": 1, "v": 2}])");
  ASSERT_OK_AND_ASSIGN(const auto files,
                       PartitionedFiles::Make(fail, {.path = path, .columns = {"k"}},
                                              batch->schema(), context_->memory_pool()));
  EXPECT_FAILS(IOError, "k=1/a.csv': Error writing bytes to file", files->Write(*batch));
  // No file is left.
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::filesystem::path(path).parent_path())) {
    EXPECT_TRUE(entry.is_directory()) << entry.path();
  }
}

// Buffers some bytes for each row, and counts its calls.
class HoldingWriter final : public FileWriter {
 public:
  struct Calls {
    int64_t held = 0;      // by all
    int64_t released = 0;  // times
    int64_t written = 0;   // rows
  };

  HoldingWriter(Calls* calls, arrow::Status on_release)
      : calls_(calls), on_release_(std::move(on_release)) {}

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    rows_ += batch.num_rows();
    calls_->held += batch.num_rows() * kRowBytes;
    return arrow::Status::OK();
  }
  arrow::Status Finish() override {
    calls_->written += rows_;
    calls_->held -= rows_ * kRowBytes;
    rows_ = 0;
    return arrow::Status::OK();
  }
  int64_t held_bytes() const override { return rows_ * kRowBytes; }
  arrow::Status Release() override {
    ++calls_->released;
    ARROW_RETURN_NOT_OK(on_release_);
    return Finish();
  }

  static constexpr int64_t kRowBytes = 100;

 private:
  Calls* const calls_;
  const arrow::Status on_release_;
  int64_t rows_ = 0;
};

class BoundedFilesTest : public PartitionedFilesTest {
 protected:
  arrow::Result<std::unique_ptr<PartitionedFiles>> Open(
      const arrow::Status& on_release = {}) {
    const OpenWriter open = [this, on_release](
                                const auto&, const auto&, const auto&,
                                auto*) -> arrow::Result<std::unique_ptr<FileWriter>> {
      return std::make_unique<HoldingWriter>(&calls_, on_release);
    };
    return PartitionedFiles::Make(
        open, {.path = path_, .columns = {"k"}, .max_held_bytes = kMostBytes}, schema_,
        context_->memory_pool());
  }
  // Rows of keys 0 to `num_keys`, in turn.
  std::shared_ptr<arrow::RecordBatch> Rows(int num_keys, int num_rows) const {
    std::string rows;
    for (int i = 0; i < num_rows; ++i) {
      rows += (i > 0 ? "," : "") + std::string(R"({"k": )") +
              std::to_string(i % num_keys) + R"(, "v": 1})";
    }
    return testing::Batch(schema_, "[" + rows + "]");
  }

  static constexpr int64_t kMostBytes = 20 * HoldingWriter::kRowBytes;
  const std::shared_ptr<arrow::Schema> schema_ = arrow::schema(
      {arrow::field("k", arrow::int64()), arrow::field("v", arrow::int64())});
  const std::string path_ = directory_.File("parts") + "/a.csv";
  HoldingWriter::Calls calls_;
};

TEST_F(BoundedFilesTest, StayWithinTheirCommonLimit) {
  ASSERT_OK_AND_ASSIGN(const auto files, Open());
  for (int i = 0; i < 10; ++i) {
    ASSERT_OK(files->Write(*Rows(/*num_keys=*/7, /*num_rows=*/10)));
    EXPECT_LE(calls_.held, kMostBytes);
  }
  // Not all, each time.
  EXPECT_GT(calls_.released, 0);
  EXPECT_LT(calls_.released, 7 * 9);
  ASSERT_OK(files->Finish());
  EXPECT_EQ(calls_.written, 100);
  EXPECT_EQ(calls_.held, 0);
}

TEST_F(BoundedFilesTest, FlushTheLargestBuffersFirst) {
  ASSERT_OK_AND_ASSIGN(const auto files, Open());
  ASSERT_OK(files->Write(*Rows(/*num_keys=*/1, /*num_rows=*/15)));
  ASSERT_OK(files->Write(*Rows(/*num_keys=*/5, /*num_rows=*/5)));
  EXPECT_EQ(calls_.released, 0);
  ASSERT_OK(files->Write(*Rows(/*num_keys=*/1, /*num_rows=*/1)));
  EXPECT_EQ(calls_.released, 1);
  EXPECT_EQ(calls_.written, 17);
  ASSERT_OK(files->Write(*Rows(/*num_keys=*/1, /*num_rows=*/0)));
  ASSERT_OK(files->Finish());
  EXPECT_EQ(calls_.written, 21);
}

TEST_F(BoundedFilesTest, NameTheFileThatCannotBeFlushed) {
  ASSERT_OK_AND_ASSIGN(const auto files,
                       Open(arrow::Status::IOError("the disk is full")));
  EXPECT_FAILS(IOError, "k=0/a.csv': the disk is full",
               files->Write(*Rows(/*num_keys=*/1, /*num_rows=*/21)));
}

TEST_F(PartitionedFilesTest, CsvOfTimesIsHeldInBoundedMemory) {
  const auto schema =
      arrow::schema({arrow::field("k", arrow::int64()),
                     arrow::field("t", arrow::timestamp(arrow::TimeUnit::SECOND))});
  constexpr int64_t kKeys = 100;
  constexpr int64_t kMostBytes = 256 << 10;
  arrow::Int64Builder keys;
  arrow::TimestampBuilder times(schema->field(1)->type(), arrow::default_memory_pool());
  for (int64_t i = 0; i < 2'000; ++i) {
    ASSERT_OK(keys.Append(i % kKeys));
    ASSERT_OK(times.Append(i));
  }
  ASSERT_OK_AND_ASSIGN(const auto key_array, keys.Finish());
  ASSERT_OK_AND_ASSIGN(const auto time_array, times.Finish());
  const auto batch = arrow::RecordBatch::Make(schema, 2'000, {key_array, time_array});
  auto* const pool = context_->memory_pool();
  ASSERT_OK_AND_ASSIGN(const auto files, PartitionedFiles::Make(
                                             WithOptions(OpenCsvWriter),
                                             {.path = directory_.File("parts") + "/a.csv",
                                              .columns = {"k"},
                                              .max_held_bytes = kMostBytes},
                                             schema, pool));
  const int64_t before = pool->bytes_allocated();
  int64_t most = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(files->Write(*batch));
    most = std::max(most, pool->bytes_allocated() - before);
  }
  EXPECT_LE(most, 2 * kMostBytes);  // and what the grouping takes
  ASSERT_OK(files->Finish());
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadCsv(context_, directory_.File("parts")));
  ASSERT_OK_AND_ASSIGN(const int64_t num_rows, shards.Count());
  EXPECT_EQ(num_rows, 200'000);
}

}  // namespace
}  // namespace xshards::io
