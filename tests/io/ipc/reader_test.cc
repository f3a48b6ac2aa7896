// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <arrow/io/file.h>
#include <arrow/ipc/writer.h>
#include <gmock/gmock.h>

#include "tests/io/scan_fixture.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;
using xshards::testing::Numbered;

class IpcReader : public IoTest {
 protected:
  std::string WriteIpc(const std::string& name, const arrow::RecordBatchVector& batches) {
    const auto path = directory_.File(name);
    auto file = arrow::io::FileOutputStream::Open(path).ValueOrDie();
    auto writer = arrow::ipc::MakeFileWriter(file, batches[0]->schema()).ValueOrDie();
    for (const auto& batch : batches) EXPECT_TRUE(writer->WriteRecordBatch(*batch).ok());
    EXPECT_TRUE(writer->Close().ok());
    EXPECT_TRUE(file->Close().ok());
    return path;
  }
  std::string WriteNumbers(const std::string& name = "numbers.arrow") {
    arrow::RecordBatchVector batches;
    for (int i = 0; i < 10; ++i) batches.push_back(Numbered(10000, 7, i * 10000));
    return WriteIpc(name, batches);
  }
};

TEST_F(IpcReader, CutsByRecordBatches) {
  const auto path = WriteNumbers();
  for (const int num_partitions : {1, 4, 100}) {
    ASSERT_OK_AND_ASSIGN(
        const auto shards,
        ReadIpc(context_, path, {.split = {.num_partitions = num_partitions}}));
    EXPECT_EQ(ScanOf(shards).splits.size(), std::min(num_partitions, 10));
    const auto table = Rows(shards);
    ASSERT_NE(table, nullptr);
    const auto ids = xshards::testing::Ids(*table);
    ASSERT_EQ(ids.size(), 100000);
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  }
}

// Once, into counted memory: a mapped file that is cut would be a signal.
TEST_F(IpcReader, CopiesColumnsOnce) {
  const auto rows = Numbered(1'000'000, 7, 0);
  const auto path = WriteIpc("large.arrow", {rows->SelectColumns({0}).ValueOrDie()});
  const int64_t before = context_->memory_pool()->bytes_allocated();
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadIpc(context_, path));
  ASSERT_OK_AND_ASSIGN(const auto table, shards.ToTable());
  EXPECT_EQ(table->num_rows(), 1'000'000);
  const int64_t num_bytes = context_->memory_pool()->bytes_allocated() - before;
  EXPECT_GE(num_bytes, 8'000'000);
  EXPECT_LT(num_bytes, 8'100'000);
}

TEST_F(IpcReader, ReadsOnlyTheColumnsAsked) {
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadIpc(context_, WriteNumbers()));
  auto scan = ScanOf(shards);
  ASSERT_OK_AND_ASSIGN(const auto all, RunScan(scan));
  scan.columns = {{"value", "id"}};
  ASSERT_OK_AND_ASSIGN(const auto some, RunScan(scan));
  EXPECT_THAT(some.table->ColumnNames(), ElementsAre("value", "id"));
  EXPECT_TRUE(
      some.table->GetColumnByName("id")->Equals(*all.table->GetColumnByName("id")));
  EXPECT_LT(some.metrics.bytes_read, all.metrics.bytes_read);
  scan.columns = std::vector<std::string>{};
  ASSERT_OK_AND_ASSIGN(const auto none, RunScan(scan));
  EXPECT_EQ(none.table->num_rows(), 100000);
  scan.columns = std::nullopt;
  scan.limit = 7;
  ASSERT_OK_AND_ASSIGN(const auto first, RunScan(scan));
  EXPECT_EQ(first.table->num_rows(), 7);
  EXPECT_LT(first.metrics.bytes_read, all.metrics.bytes_read / 5);
}

TEST_F(IpcReader, NamesAFileThatIsTruncated) {
  const auto path = WriteNumbers("cut.arrow");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto error = ReadIpc(context_, path).status();
  EXPECT_FALSE(error.ok());
  EXPECT_NE(error.message().find("cut.arrow"), std::string::npos) << error;
}

}  // namespace
}  // namespace xshards::io
