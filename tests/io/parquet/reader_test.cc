// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>

#include <arrow/builder.h>
#include <arrow/io/file.h>
#include <gmock/gmock.h>
#include <parquet/arrow/writer.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include "io/parquet/file.h"
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

TEST_F(ParquetReader, CutsLargeRowGroupsIntoParts) {
  constexpr int kRows = 900'000;
  arrow::Int64Builder i;
  arrow::Int64Builder few;
  arrow::StringBuilder s;
  arrow::DoubleBuilder f;
  for (int row = 0; row < kRows; ++row) {
    EXPECT_TRUE(i.Append(row).ok());
    EXPECT_TRUE((row % 7 == 0 ? few.AppendNull() : few.Append(row / 1000 % 50)).ok());
    EXPECT_TRUE(s.Append(row < kRows / 2 ? "few" : std::to_string(row)).ok());
    EXPECT_TRUE((row % 1000 < 3 ? f.AppendNull() : f.Append(row / 4.0)).ok());
  }
  const auto table = Table({{"i", i.Finish().ValueOrDie()},
                            {"few", few.Finish().ValueOrDie()},
                            {"s", s.Finish().ValueOrDie()},
                            {"f", f.Finish().ValueOrDie()}});
  const auto path = WriteParquet("large.parquet", *table);
  const auto whole = Rows(ReadParquet(context_, path, {.split = {.num_partitions = 1}}));
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(Text(*whole->Slice(kRows - 1), "s"), "[899999]");
  EXPECT_EQ(whole->GetColumnByName("few")->null_count(), (kRows + 6) / 7);
  for (const int num_partitions : {2, 3, 8, 50}) {
    ASSERT_OK_AND_ASSIGN(
        const auto shards,
        ReadParquet(context_, path, {.split = {.num_partitions = num_partitions}}));
    const auto& splits = ScanOf(shards).splits;
    EXPECT_EQ(splits.size(), std::min(num_partitions, 8));
    int64_t rows = 0;
    for (const auto& split : splits) rows += split.num_rows;
    EXPECT_EQ(rows, kRows);
    EXPECT_TRUE(whole->Equals(*Rows(shards)));
    ASSERT_OK_AND_ASSIGN(const int64_t count, shards.Count());
    EXPECT_EQ(count, kRows);
    auto scan = ScanOf(shards);
    scan.filter = col("i") < lit(-1);
    ASSERT_OK_AND_ASSIGN(const auto none, RunScan(scan));
    EXPECT_EQ(none.metrics.row_groups_skipped, 1);
    EXPECT_EQ(none.table->num_rows(), 0);
  }
}

TEST_F(ParquetReader, SkipsPagesByTheirIndex) {
  constexpr int kRows = 5000;
  arrow::Int64Builder i;
  arrow::Int64Builder few;
  arrow::StringBuilder s;
  arrow::BooleanBuilder odd;
  const auto numbers = std::make_shared<arrow::Int64Builder>();
  arrow::ListBuilder list(arrow::default_memory_pool(), numbers,
                          arrow::list(arrow::field("element", arrow::int64())));
  for (int row = 0; row < kRows; ++row) {
    EXPECT_TRUE(i.Append(row).ok());
    const bool is_missing = row % 3 == 0 || (row >= 2000 && row < 3000);
    EXPECT_TRUE((is_missing ? few.AppendNull() : few.Append(row / 500)).ok());
    EXPECT_TRUE(s.Append("text-" + std::to_string(10000 + row)).ok());
    EXPECT_TRUE(odd.Append(row % 2 == 1).ok());
    EXPECT_TRUE((row % 5 == 0 ? list.AppendNull() : list.Append()).ok());
    for (int n = 0; n < row % 5; ++n) EXPECT_TRUE(numbers->Append(row + n).ok());
  }
  const auto table = Table({{"i", i.Finish().ValueOrDie()},
                            {"few", few.Finish().ValueOrDie()},
                            {"s", s.Finish().ValueOrDie()},
                            // Arrow reads these, and passes over nothing.
                            {"odd", odd.Finish().ValueOrDie()},
                            {"list", list.Finish().ValueOrDie()}});
  const auto path = directory_.File("pages.parquet");
  auto file = arrow::io::FileOutputStream::Open(path).ValueOrDie();
  const auto properties = parquet::WriterProperties::Builder()
                              .enable_write_page_index()
                              ->write_batch_size(100)
                              ->data_pagesize(100)
                              ->build();
  ASSERT_OK(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), file, kRows,
                                       properties));
  ASSERT_OK(file->Close());
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadParquet(context_, path));
  auto scan = ScanOf(shards);
  const auto rows_read = [&](const Expression& filter) {
    scan.filter = filter;
    auto scanned = RunScan(scan);
    return scanned.ok() ? scanned->metrics.rows_read : -1;
  };
  EXPECT_EQ(rows_read(col("i") >= lit(0)), kRows);
  EXPECT_LE(rows_read(col("i") == lit(2500)), 1000);
  EXPECT_GE(rows_read(col("i") == lit(2500)), 1);
  EXPECT_LE(rows_read(col("s") > lit("text-14800")), 1500);
  EXPECT_GE(rows_read(col("s") > lit("text-14800")), 199);
  EXPECT_LT(rows_read(col("few") > lit(0)), kRows);
  EXPECT_EQ(rows_read(col("i") != lit(5)), kRows);
  EXPECT_EQ(rows_read(col("i") < lit(1000) && col("s") > lit("text-14000")), 0);
  for (const auto& filter :
       {col("i") == lit(2500), col("s") > lit("text-14800"), col("few") == lit(8),
        col("i") > lit(1234) && col("few") < lit(4), col("i") < lit(7)}) {
    ASSERT_OK_AND_ASSIGN(const auto found, shards.Filter(filter).ToTable());
    ASSERT_OK_AND_ASSIGN(
        const auto expected,
        XShards::FromTable(context_, table, 1).ValueOrDie().Filter(filter).ToTable());
    EXPECT_GT(found->num_rows(), 0);
    EXPECT_EQ(Text(*found, "i"), Text(*expected, "i"));
    EXPECT_EQ(Text(*found, "few"), Text(*expected, "few"));
    EXPECT_EQ(Text(*found, "s"), Text(*expected, "s"));
    EXPECT_EQ(Text(*found, "odd"), Text(*expected, "odd"));
    EXPECT_EQ(Text(*found, "list"), Text(*expected, "list"));
    ASSERT_OK_AND_ASSIGN(const auto flat,
                         shards.Filter(filter).Select({"i", "s"}).ToTable());
    EXPECT_EQ(Text(*flat, "s"), Text(*expected, "s"));
  }
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

TEST_F(ParquetReader, CastsToTheSchemaAsked) {
  const auto one =
      WriteParquet("1.parquet", *Table({{"a", Array(arrow::int32(), "[1]")},
                                        {"b", Array(arrow::utf8(), "[\"5\"]")}}));
  const auto two =
      WriteParquet("2.parquet", *Table({{"a", Array(arrow::utf8(), "[\"7\"]")}}));
  const std::vector<std::string> paths = {one, two};
  const auto schema = arrow::schema({arrow::field("b", arrow::int64()),
                                     arrow::field("a", arrow::float64()),
                                     arrow::field("c", arrow::utf8())});
  const auto table = Rows(ReadParquet(context_, paths, {.schema = schema}));
  ASSERT_NE(table, nullptr);
  EXPECT_THAT(table->ColumnNames(), ElementsAre("b", "a", "c"));
  EXPECT_EQ(Text(*table, "b"), "[5,null]");
  EXPECT_EQ(Text(*table, "a"), "[1,7]");
  EXPECT_EQ(Text(*table, "c"), "[null,null]");
  EXPECT_EQ(TypeName(*table, "c"), "large_string");
  const auto list = arrow::schema({arrow::field("a", arrow::list(arrow::int64()))});
  EXPECT_FAILS(TypeError, "1.parquet", ReadParquet(context_, paths, {.schema = list}));
  const auto number = arrow::schema({arrow::field("b", arrow::date32())});
  ASSERT_OK_AND_ASSIGN(const auto wrong, ReadParquet(context_, one, {.schema = number}));
  EXPECT_FAILS(TypeError, "'b'", wrong.ToTable());
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
