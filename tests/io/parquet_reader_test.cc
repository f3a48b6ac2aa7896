// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>

#include <arrow/builder.h>
#include <arrow/io/file.h>
#include <gmock/gmock.h>
#include <parquet/arrow/writer.h>
#include <parquet/metadata.h>

#include "io/parquet_file.h"
#include "tests/io/scan_fixture.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;
using xshards::testing::Array;
using xshards::testing::Batch;

class ParquetReader : public IoTest {
 protected:
  std::string WriteParquet(const std::string& name, const arrow::Table& table,
                           int64_t row_group_rows = 1 << 20) {
    const auto path = directory_.File(name);
    auto file = arrow::io::FileOutputStream::Open(path).ValueOrDie();
    EXPECT_TRUE(parquet::arrow::WriteTable(table, arrow::default_memory_pool(), file,
                                           row_group_rows)
                    .ok());
    EXPECT_TRUE(file->Close().ok());
    return path;
  }
  static std::shared_ptr<arrow::Table> Table(
      const std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>>& columns) {
    arrow::FieldVector fields;
    arrow::ArrayVector arrays;
    for (const auto& [name, array] : columns) {
      fields.push_back(arrow::field(name, array->type()));
      arrays.push_back(array);
    }
    return arrow::Table::Make(arrow::schema(fields), arrays);
  }
  // 1000 rows in 10 row groups: i counts up, s is its text, f has NaN and nulls.
  std::string WriteNumbers(const std::string& name = "numbers.parquet") {
    arrow::Int64Builder i;
    arrow::StringBuilder s;
    arrow::DoubleBuilder f;
    for (int row = 0; row < 1000; ++row) {
      EXPECT_TRUE(i.Append(row).ok());
      EXPECT_TRUE(s.Append("text-" + std::to_string(1000 + row)).ok());
      EXPECT_TRUE((row % 5 == 0   ? f.AppendNull()
                   : row % 5 == 1 ? f.Append(std::nan(""))
                                  : f.Append(row / 2.0))
                      .ok());
    }
    return WriteParquet(name,
                        *Table({{"i", i.Finish().ValueOrDie()},
                                {"s", s.Finish().ValueOrDie()},
                                {"f", f.Finish().ValueOrDie()}}),
                        100);
  }
};

TEST_F(ParquetReader, ReadsTextAsTheEngineHasIt) {
  const auto dictionary =
      arrow::DictionaryArray::FromArrays(arrow::dictionary(arrow::int32(), arrow::utf8()),
                                         Array(arrow::int32(), "[0, 1, null, 0]"),
                                         Array(arrow::utf8(), R"(["x", "y"])"))
          .ValueOrDie();
  const auto path = WriteParquet(
      "t.parquet",
      *Table(
          {{"s", Array(arrow::utf8(), R"(["a", null, "é", ""])")},
           {"d", dictionary},
           {"l", Array(arrow::list(arrow::int32()), "[[1], [], null, [2, 3]]")},
           {"t", Array(arrow::timestamp(arrow::TimeUnit::MICRO), "[1, 2, 3, null]")}}));
  const auto table = Rows(ReadParquet(context_, path));
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(TypeName(*table, "s"), "large_string");
  EXPECT_EQ(TypeName(*table, "d"), "large_string");
  EXPECT_EQ(TypeName(*table, "t"), "timestamp[us]");
  EXPECT_EQ(Text(*table, "s"), "[a,null,é,]");
  EXPECT_EQ(Text(*table, "d"), "[x,y,null,x]");
  EXPECT_EQ(table->GetColumnByName("l")->type()->id(), arrow::Type::LIST);
}

TEST_F(ParquetReader, CutsByRowGroups) {
  const auto path = WriteNumbers();
  for (const int num_partitions : {1, 3, 10, 50}) {
    ASSERT_OK_AND_ASSIGN(
        const auto shards,
        ReadParquet(context_, path, {.split = {.num_partitions = num_partitions}}));
    const auto& splits = ScanOf(shards).splits;
    EXPECT_EQ(splits.size(), std::min(num_partitions, 10));
    int64_t rows = 0;
    for (const auto& split : splits) rows += split.num_rows;
    EXPECT_EQ(rows, 1000);
    const auto table = Rows(shards);
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->num_rows(), 1000);
    EXPECT_EQ(Text(*table->Slice(998), "i"), "[998,999]");
  }
}

TEST_F(ParquetReader, ReadsOnlyTheColumnsAsked) {
  const auto path = WriteNumbers();
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadParquet(context_, path));
  auto scan = ScanOf(shards);
  ASSERT_OK_AND_ASSIGN(const auto all, RunScan(scan));
  scan.columns = {{"f", "i"}};
  ASSERT_OK_AND_ASSIGN(const auto some, RunScan(scan));
  EXPECT_THAT(some.table->ColumnNames(), ElementsAre("f", "i"));
  // The profile counts the compressed chunks of these columns, no more.
  ASSERT_OK_AND_ASSIGN(const auto file,
                       ParquetFile::Open(path, arrow::default_memory_pool()));
  int64_t expected = 0;
  for (int group = 0; group < 10; ++group) {
    for (const int column : {0, 2}) {
      expected +=
          file->metadata().RowGroup(group)->ColumnChunk(column)->total_compressed_size();
    }
  }
  EXPECT_EQ(some.metrics.bytes_read, expected);
  EXPECT_LT(some.metrics.bytes_read, all.metrics.bytes_read);
  scan.columns = std::vector<std::string>{};
  ASSERT_OK_AND_ASSIGN(const auto none, RunScan(scan));
  EXPECT_EQ(none.table->num_rows(), 1000);
  EXPECT_EQ(none.metrics.bytes_read, 0);
  const auto chosen = Rows(ReadParquet(context_, path, {.columns = {{"s"}}}));
  EXPECT_THAT(chosen->ColumnNames(), ElementsAre("s"));
  EXPECT_FAILS(KeyError, "'z'", ReadParquet(context_, path, {.columns = {{"z"}}}));
}

TEST_F(ParquetReader, SkipsRowGroupsByStatistics) {
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadParquet(context_, WriteNumbers()));
  auto scan = ScanOf(shards);
  const auto skipped = [&](const Expression& filter) {
    scan.filter = filter;
    auto scanned = RunScan(scan);
    return scanned.ok() ? scanned->metrics.row_groups_skipped : -1;
  };
  EXPECT_EQ(skipped(col("i") < lit(250)), 7);
  EXPECT_EQ(skipped(lit(250) > col("i")), 7);
  EXPECT_EQ(skipped(col("i") < lit(200)), 8);
  EXPECT_EQ(skipped(col("i") <= lit(200)), 7);
  EXPECT_EQ(skipped(col("i") > lit(899)), 9);
  EXPECT_EQ(skipped(col("i") >= lit(899)), 8);
  EXPECT_EQ(skipped(col("i") == lit(555)), 9);
  EXPECT_EQ(skipped(col("i") > lit(555.5)), 5);
  EXPECT_EQ(skipped(col("i") == lit(-1)), 10);
  EXPECT_EQ(skipped(col("s") >= lit("text-1950")), 9);
  EXPECT_EQ(skipped(col("i").IsIn(Array(arrow::int64(), "[5, 7, 950]"))), 8);
  EXPECT_EQ(skipped(col("i") > lit(100) && col("i") < lit(200)), 9);
  EXPECT_EQ(skipped(col("f") < lit(10.0)), 9);
}

TEST_F(ParquetReader, DoesNotSkipWhereMissingValuesMayPass) {
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadParquet(context_, WriteNumbers()));
  auto scan = ScanOf(shards);
  const auto skipped = [&](const Expression& filter) {
    scan.filter = filter;
    auto scanned = RunScan(scan);
    return scanned.ok() ? scanned->metrics.row_groups_skipped : -1;
  };
  EXPECT_EQ(skipped(col("i") != lit(5)), 0);
  EXPECT_EQ(skipped(!(col("i") < lit(250))), 0);
  EXPECT_EQ(skipped(col("i") < lit(250) || col("s") == lit("no")), 0);
  EXPECT_EQ(skipped(col("f").IsIn(Array(arrow::float64(), "[-5, null]"))), 0);
  EXPECT_EQ(skipped(col("f") == lit(std::nan(""))), 0);
  EXPECT_EQ(skipped(col("f").IsNull()), 0);
  EXPECT_EQ(skipped(col("i") + lit(1) < lit(0)), 0);
}

TEST_F(ParquetReader, SkippingNeverChangesTheResult) {
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadParquet(context_, WriteNumbers()));
  for (int64_t bound = -50; bound < 1100; bound += 73) {
    const auto filtered = shards.Filter(col("f") <= lit(static_cast<double>(bound)) &&
                                        col("i") >= lit(bound));
    ASSERT_OK_AND_ASSIGN(const int64_t count, filtered.Count());
    int64_t expected = 0;
    for (int row = 0; row < 1000; ++row) {
      expected += row % 5 > 1 && row / 2.0 <= static_cast<double>(bound) && row >= bound;
    }
    EXPECT_EQ(count, expected) << bound;
  }
}

TEST_F(ParquetReader, SkipsRowGroupsWithoutValues) {
  const auto path = WriteParquet(
      "n.parquet", *Table({{"a", Array(arrow::int64(), "[null, null, 1, 2]")}}), 2);
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadParquet(context_, path));
  auto scan = ScanOf(shards);
  scan.filter = col("a") > lit(0);
  ASSERT_OK_AND_ASSIGN(const auto scanned, RunScan(scan));
  EXPECT_EQ(scanned.metrics.row_groups_skipped, 1);
  EXPECT_EQ(Text(*scanned.table, "a"), "[1,2]");
}

TEST_F(ParquetReader, StopsAtTheLimit) {
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadParquet(context_, WriteNumbers()));
  auto scan = ScanOf(shards);
  ASSERT_OK_AND_ASSIGN(const auto all, RunScan(scan));
  scan.limit = 5;
  ASSERT_OK_AND_ASSIGN(const auto first, RunScan(scan));
  EXPECT_EQ(Text(*first.table, "i"), "[0,1,2,3,4]");
  EXPECT_LT(first.metrics.bytes_read, all.metrics.bytes_read / 5);
}

TEST_F(ParquetReader, WidensColumnsOverFiles) {
  const auto one =
      WriteParquet("1.parquet", *Table({{"a", Array(arrow::int32(), "[1]")},
                                        {"b", Array(arrow::utf8(), "[\"x\"]")}}));
  const auto two =
      WriteParquet("2.parquet", *Table({{"b", Array(arrow::large_utf8(), "[\"y\"]")},
                                        {"a", Array(arrow::float64(), "[2.5]")},
                                        {"c", Array(arrow::boolean(), "[true]")}}));
  const auto table = Rows(ReadParquet(context_, std::vector<std::string>{one, two}));
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(Text(*table, "a"), "[1,2.5]");
  EXPECT_EQ(Text(*table, "b"), "[x,y]");
  EXPECT_EQ(Text(*table, "c"), "[null,true]");
  const auto three =
      WriteParquet("3.parquet", *Table({{"a", Array(arrow::utf8(), "[\"z\"]")}}));
  const auto error = ReadParquet(context_, std::vector<std::string>{one, three}).status();
  for (const char* part : {"1.parquet", "3.parquet", "a"}) {
    EXPECT_FAILS(TypeError, part, error);
  }
}

TEST_F(ParquetReader, ReadsAFileWithoutRows) {
  const auto path =
      WriteParquet("empty.parquet", *Table({{"a", Array(arrow::int64(), "[]")}}));
  const auto table = Rows(ReadParquet(context_, path));
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->num_rows(), 0);
  EXPECT_EQ(TypeName(*table, "a"), "int64");
}

TEST_F(ParquetReader, NamesAFileThatIsTruncated) {
  const auto path = WriteNumbers("cut.parquet");
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto error = ReadParquet(context_, path).status();
  EXPECT_FALSE(error.ok());
  EXPECT_NE(error.message().find("cut.parquet"), std::string::npos) << error;
  EXPECT_NE(error.message().find("truncated"), std::string::npos) << error;
  const auto text = ReadParquet(context_, Write("text.parquet", "a,b\n")).status();
  EXPECT_NE(text.message().find("text.parquet"), std::string::npos) << text;
}

TEST_F(ParquetReader, NamesAFileWhoseDataIsDamaged) {
  const auto path = WriteNumbers("damaged.parquet");
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadParquet(context_, path));
  std::FILE* file = std::fopen(path.c_str(), "r+b");
  ASSERT_NE(file, nullptr);
  std::fseek(file, 4, SEEK_SET);
  for (int i = 0; i < 2000; ++i) std::fputc(0xff, file);
  std::fclose(file);
  const auto error = shards.ToTable().status();
  EXPECT_FALSE(error.ok());
  EXPECT_NE(error.message().find("damaged.parquet"), std::string::npos) << error;
}

}  // namespace
}  // namespace xshards::io
