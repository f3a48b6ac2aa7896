// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <arrow/adapters/orc/adapter.h>
#include <arrow/io/file.h>
#include <gmock/gmock.h>

#include "tests/io/scan_fixture.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;
using xshards::testing::Array;
using xshards::testing::Numbered;

class OrcReader : public IoTest {
 protected:
  std::string WriteOrc(const std::string& name, const arrow::Table& table) {
    const auto path = directory_.File(name);
    auto file = arrow::io::FileOutputStream::Open(path).ValueOrDie();
    arrow::adapters::orc::WriteOptions options;
    options.batch_size = 100;
    options.stripe_size = 10'000;
    auto writer =
        arrow::adapters::orc::ORCFileWriter::Open(file.get(), options).ValueOrDie();
    EXPECT_TRUE(writer->Write(table).ok());
    EXPECT_TRUE(writer->Close().ok());
    EXPECT_TRUE(file->Close().ok());
    return path;
  }
  std::string WriteNumbers(const std::string& name = "numbers.orc") {
    const auto batch = Numbered(100'000, 7, 0);
    return WriteOrc(name, *arrow::Table::FromRecordBatches({batch}).ValueOrDie());
  }
};

TEST_F(OrcReader, CutsByStripes) {
  const auto path = WriteNumbers();
  for (const int num_partitions : {1, 3}) {
    ASSERT_OK_AND_ASSIGN(
        const auto shards,
        ReadOrc(context_, path, {.split = {.num_partitions = num_partitions}}));
    EXPECT_EQ(ScanOf(shards).splits.size(), num_partitions);
    const auto table = Rows(shards);
    ASSERT_NE(table, nullptr);
    const auto ids = xshards::testing::Ids(*table);
    ASSERT_EQ(ids.size(), 100'000);
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  }
}

TEST_F(OrcReader, ReadsOnlyTheColumnsAsked) {
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadOrc(context_, WriteNumbers()));
  auto scan = ScanOf(shards);
  scan.columns = {{"value", "id"}};
  ASSERT_OK_AND_ASSIGN(const auto some, RunScan(scan));
  EXPECT_THAT(some.table->ColumnNames(), ElementsAre("value", "id"));
  EXPECT_EQ(some.table->num_rows(), 100'000);
  scan.columns = std::vector<std::string>{};
  ASSERT_OK_AND_ASSIGN(const auto none, RunScan(scan));
  EXPECT_EQ(none.table->num_rows(), 100'000);
  EXPECT_LT(none.metrics.bytes_read, some.metrics.bytes_read);
  EXPECT_FAILS(KeyError, "'z'", ReadOrc(context_, WriteNumbers(), {.columns = {{"z"}}}));
}

TEST_F(OrcReader, ReadsNestedAndMissingValues) {
  const auto table =
      arrow::Table::Make(arrow::schema({arrow::field("s", arrow::utf8()),
                                        arrow::field("l", arrow::list(arrow::int64()))}),
                         {Array(arrow::utf8(), R"(["a", null, "é"])"),
                          Array(arrow::list(arrow::int64()), "[[1, 2], null, []]")});
  const auto read = Rows(ReadOrc(context_, WriteOrc("nested.orc", *table)));
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(TypeName(*read, "s"), "large_string");
  EXPECT_EQ(Text(*read, "s"), "[a,null,é]");
  EXPECT_EQ(read->GetColumnByName("l")->null_count(), 1);
}

TEST_F(OrcReader, NamesAFileThatIsTruncated) {
  const auto path = WriteNumbers("cut.orc");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto error = ReadOrc(context_, path).status();
  EXPECT_FALSE(error.ok());
  EXPECT_NE(error.message().find("cut.orc"), std::string::npos) << error;
}

}  // namespace
}  // namespace xshards::io
