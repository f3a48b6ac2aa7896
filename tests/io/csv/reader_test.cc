// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <thread>

#include <arrow/io/compressed.h>
#include <arrow/io/file.h>
#include <arrow/util/compression.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>

#include "tests/io/csv/csv_fixture.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;

using CsvReader = CsvTest;

TEST_F(CsvReader, RowsDoNotDependOnSplits) {
  CheckEverySplit("a,b\n1,\"x\ny\"\n2,\"p,q\"\n3,\"say \"\"hi\"\"\n\"\n4,5\" pipe\n");
  CheckEverySplit("a,b\r\n1,\"x\r\ny\"\r\n\r\n2,z\r\n3,");
  CheckEverySplit("a\n\"\n\n\n\"\n\"\"\n1\n");
  CheckEverySplit("1|x\n2|y\n\n3|z", {.sep = '|', .header = false});
  CheckEverySplit("\xEF\xBB\xBFname,ünï\nあ,\"い\nう\"\n", {});
}

TEST_F(CsvReader, RowsOfRandomTextDoNotDependOnSplits) {
  std::mt19937 random(11);
  for (int round = 0; round < 5; ++round) {
    std::string text = "a,b,c\n";
    while (text.size() < 150) {
      for (int field = 0; field < 3; ++field) {
        constexpr const char* kFields[] = {"1",        "",     "\"q\n\"",
                                           "\"\"\"\"", "x\"y", "\"a,b\""};
        text += kFields[random() % std::size(kFields)];
        text += field < 2 ? "," : "\n";
      }
    }
    CheckEverySplit(text);
  }
}

TEST_F(CsvReader, HasAtLeastOnePartitionAndNoEmptyOnes) {
  const auto path = Write("few.csv", "a\n1\n2\n");
  ASSERT_OK_AND_ASSIGN(const auto shards,
                       ReadCsv(context_, path, {.split = {.num_partitions = 50}}));
  EXPECT_EQ(ScanOf(shards).splits.size(), 2);
  ASSERT_OK_AND_ASSIGN(const auto empty, ReadCsv(context_, Write("empty.csv", "a\n")));
  EXPECT_EQ(ScanOf(empty).splits.size(), 1);
}

TEST_F(CsvReader, ReadsAHeaderAlone) {
  const auto table = Read("a,b\n");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->num_rows(), 0);
  EXPECT_EQ(TypeName(*table, "a"), "large_string");
  EXPECT_EQ(Read("a,b")->num_columns(), 2);
}

TEST_F(CsvReader, RejectsAnEmptyFile) {
  EXPECT_FAILS(Invalid, "No columns to parse from file", Error(""));
  EXPECT_FAILS(Invalid, "No columns to parse from file", Error("\n\n"));
  EXPECT_FAILS(Invalid, "test.csv", Error(""));
  EXPECT_FAILS(Invalid, "No columns", Error("a\n1\n", {.skiprows = 9}));
}

TEST_F(CsvReader, NamesColumnsAsPandasDoes) {
  EXPECT_THAT(Read("a,a,a.1,,\n1,2,3,4,5\n")->ColumnNames(),
              ElementsAre("a", "a.2", "a.1", "Unnamed: 3", "Unnamed: 4"));
  EXPECT_THAT(Read("1,2\n3,4\n", {.header = false})->ColumnNames(),
              ElementsAre("0", "1"));
  EXPECT_THAT(Read("\n\na,b\n1,2\n")->ColumnNames(), ElementsAre("a", "b"));
  const auto named = Read("x\n1,2\n", {.names = {"a", "b", "c"}});
  EXPECT_EQ(Text(*named, "a"), "[x,1]");
  EXPECT_EQ(Text(*named, "b"), "[null,2]");
  EXPECT_EQ(Text(*named, "c"), "[null,null]");
  const auto replaced = Read("x,y\n1,2\n", {.header = true, .names = {"a", "b"}});
  EXPECT_EQ(Text(*replaced, "a"), "[1]");
}

TEST_F(CsvReader, ReadsFieldsBeforeTheNamedOnesAsIndex) {
  const auto table = Read("a,b\n9,x,1,2\n8,y,3\n");
  EXPECT_THAT(table->ColumnNames(),
              ElementsAre("a", "b", "__index_level_0__", "__index_level_1__"));
  EXPECT_EQ(Text(*table, "a"), "[1,3]");
  EXPECT_EQ(Text(*table, "b"), "[2,null]");
  EXPECT_EQ(Text(*table, "__index_level_0__"), "[9,8]");
  EXPECT_EQ(Text(*table, "__index_level_1__"), "[x,y]");
  ASSERT_OK_AND_ASSIGN(const auto mark, table->field(3)->metadata()->Get("pandas.index"));
  EXPECT_EQ(mark, "[1, null]");
  EXPECT_EQ(table->field(1)->metadata(), nullptr);
  EXPECT_FAILS(Invalid, "Expected 3 fields", Error("a,b\n9,1,2\n8,3,4,5\n"));
  EXPECT_FAILS(Invalid, "Expected 2 fields", Error("a,b\n9,1\n8,3,4\n"));
  const auto named = Read("9,1,2\n", {.names = {"a", "b"}});
  EXPECT_EQ(Text(*named, "b"), "[2]");
  EXPECT_EQ(Text(*named, "__index_level_0__"), "[9]");
  // A selection of columns still has the index; naming all columns drops the fields after
  // them.
  EXPECT_THAT(Read("a,b\n9,1,2\n", {.usecols = {{"b"}}})->ColumnNames(),
              ElementsAre("b", "__index_level_0__"));
  EXPECT_EQ(Text(*Read("a,b\n9,1,2\n", {.usecols = {{"a", "b"}}}), "a"), "[9]");
  CheckEverySplit("a,b\n9,\"x\n\",1\n8,y,3\n\n7,,\n");
}

TEST_F(CsvReader, ReadsAHeaderLongerThanABlock) {
  std::string names;
  std::string values;
  for (int i = 0; i < 5000; ++i) {
    names +=
        (i > 0 ? ",a_rather_long_column_" : "a_rather_long_column_") + std::to_string(i);
    values += (i > 0 ? "," : "") + std::to_string(i);
  }
  const auto table = Read(names + "\n" + values + "\n");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->num_columns(), 5000);
  EXPECT_EQ(Text(*table, "a_rather_long_column_4999"), "[4999]");
}

TEST_F(CsvReader, FillsShortRowsAndRejectsLongOnes) {
  const auto table = Read("a,b\n1\n2,3\n");
  EXPECT_EQ(Text(*table, "b"), "[null,3]");
  const auto error = Error("a,b\n1,2\n\n3,4,5\n");
  EXPECT_FAILS(Invalid, "Expected 2 fields", error);
  EXPECT_FAILS(Invalid, "line 4", error);
  EXPECT_FAILS(Invalid, "test.csv", error);
}

TEST_F(CsvReader, FillsManyShortRowsOfManyColumns) {
  constexpr int kColumns = 3000;
  constexpr int kRows = 1500;
  std::string text = "c0";
  for (int i = 1; i < kColumns; ++i) text += ",c" + std::to_string(i);
  text += '\n';
  for (int i = 0; i < kRows; ++i) text += std::to_string(i) + ",x\n";
  const auto table = Read(text, {.usecols = {{"c0", "c1", "c2999"}}});
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->num_rows(), kRows);
  EXPECT_EQ(table->GetColumnByName("c1")->null_count(), 0);
  EXPECT_EQ(table->GetColumnByName("c2999")->null_count(), kRows);
  EXPECT_EQ(table->GetColumnByName("c0")->GetScalar(kRows - 1).ValueOrDie()->ToString(),
            std::to_string(kRows - 1));
}

TEST_F(CsvReader, SkipsLinesOfBlanks) {
  const auto table = Read("\n  \na,b\n1,2\n \t\n\n3,4\n  ");
  EXPECT_EQ(Text(*table, "a"), "[1,3]");
  EXPECT_EQ(Text(*table, "b"), "[2,4]");
  EXPECT_EQ(Text(*Read("a\n1\n  \n\"\"\n3\n"), "a"), "[1,null,3]");
}

TEST_F(CsvReader, EndsLinesAtCarriageReturns) {
  EXPECT_EQ(Text(*Read("a,b\r1,2\r\r\n3,\"x\ry\"\r"), "b"), "[2,x\ry]");
}

TEST_F(CsvReader, ReadsNumbersAndBooleansAsPandasDoes) {
  const auto table =
      Read("i,f,b,q\n+1,1.,tRUE,\"12\"\n 2,.5,False,\"-3\"\n-3\t,1e3,,\"\"\n");
  EXPECT_EQ(Text(*table, "i"), "[1,2,-3]");
  EXPECT_EQ(Text(*table, "f"), "[1,0.5,1000]");
  EXPECT_EQ(Text(*table, "b"), "[true,false,null]");
  EXPECT_EQ(Text(*table, "q"), "[12,-3,null]");
  const auto missing = Read("i,f\n1,999.0\n999,1.5\n", {.na_values = {"999"}});
  EXPECT_EQ(Text(*missing, "i"), "[1,null]");
  EXPECT_EQ(Text(*missing, "f"), "[null,1.5]");
}

TEST_F(CsvReader, ReadsBatchesOfManyBlocks) {
  std::string text = "id,name,half\n";
  constexpr int kRows = 200000;
  for (int i = 0; i < kRows; ++i) {
    const auto id = std::to_string(i);
    text += id;
    text += i % 7 == 0 ? ",\"n\"\"" + id + "\n\"," : ",n" + id + ",";
    if (i % 5 != 0) text += std::to_string(i / 2) + (i % 2 == 0 ? ".0" : ".5");
    text += '\n';
  }
  const auto table = Read(text, {.split = {.num_partitions = 3}});
  ASSERT_NE(table, nullptr);
  ASSERT_EQ(table->num_rows(), kRows);
  for (int i = 0; i < kRows; i += 997) {
    const auto value = [&](const char* name) {
      return table->GetColumnByName(name)->GetScalar(i).ValueOrDie();
    };
    const auto id = std::to_string(i);
    EXPECT_EQ(value("id")->ToString(), id);
    EXPECT_EQ(value("name")->ToString(), i % 7 == 0 ? "n\"" + id + "\n" : "n" + id);
    EXPECT_EQ(value("half")->is_valid, i % 5 != 0);
    if (i % 5 != 0) {
      EXPECT_TRUE(value("half")->Equals(arrow::DoubleScalar(i / 2.0))) << i;
    }
  }
  EXPECT_EQ(table->GetColumnByName("half")->null_count(), kRows / 5);
}

TEST_F(CsvReader, RecognizesMissingValuesInTextAndQuotes) {
  const auto table = Read("a,b\nNone,\"NA\"\nx,\"\"\n-,?\n", {.na_values = {"-"}});
  EXPECT_EQ(Text(*table, "a"), "[null,x,null]");
  EXPECT_EQ(Text(*table, "b"), "[null,null,?]");
}

TEST_F(CsvReader, ReadsRequestedTypesAndColumns) {
  const auto table = Read(
      "a,b,c,d\n01,2,2020-01-01,1.25\n",
      {.usecols = {{"d", "c", "a"}},
       .dtype = {
           {"a", "str"}, {"c", "date32"}, {"d", "decimal128(5, 2)"}, {"z", "int8"}}});
  EXPECT_THAT(table->ColumnNames(), ElementsAre("a", "c", "d"));
  EXPECT_EQ(Text(*table, "a"), "[01]");
  EXPECT_EQ(Text(*table, "c"), "[2020-01-01]");
  EXPECT_EQ(Text(*table, "d"), "[1.25]");
  EXPECT_FAILS(KeyError, "'z'", Error("a\n1\n", {.usecols = {{"z"}}}));
}

TEST_F(CsvReader, AppliesOtherOptions) {
  EXPECT_EQ(Text(*Read("junk\n\"x\ny\"\na;b\n1;2\n", {.sep = ';', .skiprows = 2}), "b"),
            "[2]");
  const auto comments =
      Read("# head\na,b # names\n1,\"#2\" # x \"\n#3,4\n5,6\n", {.comment = '#'});
  EXPECT_EQ(Text(*comments, "a"), "[1,5]");
  EXPECT_EQ(comments->ColumnNames()[1], "b ");
  const auto escaped = Read("a,b\nx\\,y,\"q\\\"r\"\n", {.escapechar = '\\'});
  EXPECT_EQ(Text(*escaped, "a"), "[x,y]");
  EXPECT_EQ(Text(*escaped, "b"), "[q\"r]");
  const auto unquoted = Read("a\n\"x\n", {.quotechar = std::nullopt});
  EXPECT_EQ(Text(*unquoted, "a"), "[\"x]");
}

TEST_F(CsvReader, ReadsOnlyTheFirstRows) {
  std::string text = "a\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + "\n";
  text += "not a number\n";
  const auto path = Write("rows.csv", text);
  for (const int nrows : {0, 1, 7, 100}) {
    const auto table = Rows(ReadCsv(context_, path, {.nrows = nrows}));
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->num_rows(), nrows);
    if (nrows > 0) {
      EXPECT_EQ(TypeName(*table, "a"), "int64") << nrows;
    }
  }
  EXPECT_EQ(Rows(ReadCsv(context_, path, {.nrows = 1000}))->num_rows(), 101);
}

TEST_F(CsvReader, IgnoresFaultsAfterTheFirstRows) {
  const std::string rows = "a,b\n1,2\n3,4\n";
  for (const std::string wrong : {"5,6,7\n", "5,\"6\n"}) {
    EXPECT_EQ(Read(rows + wrong, {.nrows = 2})->num_rows(), 2) << wrong;
    EXPECT_FAILS(Invalid, "line 4", Error(rows + wrong, {.nrows = 3}));
  }
}

TEST_F(CsvReader, IgnoresFaultsAfterShortRowsOfManyColumns) {
  // Which are filled up some at a time.
  constexpr int kColumns = 50000;
  constexpr int kRows = 100;
  std::string text = "c0";
  for (int i = 1; i < kColumns; ++i) text += ",c" + std::to_string(i);
  text += '\n';
  for (int i = 0; i < kRows; ++i) text += "7\n";
  text += "\"8\n";
  const CsvOptions options{.dtype = {{"c0", "int64"}}, .nrows = kRows};
  const auto table = Rows(ReadCsv(context_, Write("wide.csv", text), options));
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->num_rows(), kRows);
  EXPECT_FAILS(Invalid, "quote opened in", Error(text));
}

TEST_F(CsvReader, ReadsCompressedFiles) {
  std::string text = "id,t\n";
  for (int i = 0; i < 5000; ++i) text += std::to_string(i) + ",\"x\ny\"\n";
  const auto plain = Rows(ReadCsv(context_, Write("plain.csv", text)));
  for (const auto& [name, compression] :
       {std::pair("a.csv.gz", arrow::Compression::GZIP),
        std::pair("a.csv.bz2", arrow::Compression::BZ2),
        std::pair("a.csv.zst", arrow::Compression::ZSTD),
        std::pair("a.csv.lz4", arrow::Compression::LZ4_FRAME)}) {
    const auto path = directory_.File(name);
    ASSERT_OK_AND_ASSIGN(auto codec, arrow::util::Codec::Create(compression));
    ASSERT_OK_AND_ASSIGN(auto file, arrow::io::FileOutputStream::Open(path));
    ASSERT_OK_AND_ASSIGN(auto stream,
                         arrow::io::CompressedOutputStream::Make(codec.get(), file));
    ASSERT_OK(stream->Write(text));
    ASSERT_OK(stream->Close());
    ASSERT_OK_AND_ASSIGN(const auto shards,
                         ReadCsv(context_, path, {.split = {.num_partitions = 4}}));
    EXPECT_EQ(ScanOf(shards).splits.size(), 1);
    const auto table = Rows(shards);
    ASSERT_NE(table, nullptr) << name;
    EXPECT_TRUE(table->Equals(*plain)) << name;
  }
  EXPECT_FAILS(NotImplemented, ".zip",
               ReadCsv(context_, Write("a.csv.zip", "x")).status());
  EXPECT_FAILS(IOError, "bad.csv.gz",
               ReadCsv(context_, Write("bad.csv.gz", "not gzip")).status());
}

TEST_F(CsvReader, MatchesColumnsOfFilesByName) {
  const auto one = Write("1.csv", "a,b\n1,x\n");
  const auto two = Write("2.csv", "b,a\ny,2\n");
  const auto table = Rows(ReadCsv(context_, std::vector<std::string>{one, two}));
  EXPECT_EQ(Text(*table, "a"), "[1,2]");
  EXPECT_EQ(Text(*table, "b"), "[x,y]");
  const auto three = Write("3.csv", "a,c\n1,2\n");
  const auto error = ReadCsv(context_, std::vector<std::string>{one, three}).status();
  for (const char* part : {"1.csv", "3.csv", "missing 'b'", "additional 'c'"}) {
    EXPECT_FAILS(Invalid, part, error);
  }
}

TEST_F(CsvReader, NamesTheLineOfATypeMismatch) {
  std::string text = "id,n\n";
  for (int i = 0; i < 100000; ++i) text += std::to_string(i) + ",5\n";
  text += "100000,\"1.5\"\n";
  for (int i = 0; i < 1000; ++i) text += "1,5\n";
  const auto error = Error(text, {.dtype = {{"n", "int64"}}});
  for (const char* part : {"test.csv", "line 100002", "column 'n'", "int64", "'1.5'",
                           "dtype={'n': 'float64'}"}) {
    EXPECT_FAILS(Invalid, part, error);
  }
  EXPECT_FAILS(Invalid, "The type is given in dtype",
               Error("a\nx\n", {.dtype = {{"a", "int64"}}}));
}

TEST_F(CsvReader, RejectsAnUnclosedQuote) {
  for (const int num_partitions : {1, 3}) {
    const auto error = Error("a,b\n1,2\n3,\"4\n5,6\n7,8\n9,10\n11,12\n",
                             {.split = {.num_partitions = num_partitions}});
    EXPECT_FAILS(Invalid, "line 3", error);
    EXPECT_FAILS(Invalid, "test.csv", error);
  }
}

TEST_F(CsvReader, RejectsTextThatIsNotUtf8) {
  const auto error = Error("a\nx\n\xff\xfe\n");
  EXPECT_FAILS(Invalid, "UTF-8", error);
  EXPECT_FAILS(Invalid, "line 3", error);
}

TEST_F(CsvReader, ReadsFieldsLongerThanABlock) {
  const std::string huge(5 << 20, 'x');
  const auto table = Read("a,b\n1," + huge + "\n2,\"" + huge + "\ny\"\n");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->num_rows(), 2);
  EXPECT_EQ(table->GetColumnByName("b")->GetScalar(1).ValueOrDie()->ToString().size(),
            huge.size() + 2);
}

TEST_F(CsvReader, ScansOnlyRequestedColumns) {
  std::string text = "a,b,c\n";
  for (int i = 0; i < 50000; ++i) text += std::to_string(i) + ",x,1.5\n";
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadCsv(context_, Write("scan.csv", text)));
  auto scan = ScanOf(shards);
  ASSERT_OK_AND_ASSIGN(const auto all, RunScan(scan));
  EXPECT_EQ(all.metrics.rows_read, 50000);
  EXPECT_EQ(all.metrics.bytes_read, static_cast<int64_t>(text.size()) - 6);
  scan.columns = {{"c", "a"}};
  ASSERT_OK_AND_ASSIGN(const auto some, RunScan(scan));
  EXPECT_THAT(some.table->ColumnNames(), ElementsAre("c", "a"));
  ASSERT_OK_AND_ASSIGN(const auto selected, all.table->SelectColumns({2, 0}));
  EXPECT_TRUE(some.table->Equals(*selected));
  scan.columns = std::vector<std::string>{};
  ASSERT_OK_AND_ASSIGN(const auto none, RunScan(scan));
  EXPECT_EQ(none.metrics.rows_read, 50000);
  EXPECT_EQ(none.table->num_rows(), 50000);
  scan.columns = std::nullopt;
  scan.limit = 10;
  ASSERT_OK_AND_ASSIGN(const auto first, RunScan(scan));
  EXPECT_EQ(first.table->num_rows(), 10);
  EXPECT_LT(first.metrics.bytes_read, 100 << 10);
  scan.columns = {{"nope"}};
  EXPECT_FAILS(KeyError, "'nope'", RunScan(scan));
}

TEST_F(CsvReader, StopsWhenAsked) {
  ASSERT_OK_AND_ASSIGN(const auto shards, ReadCsv(context_, Write("a.csv", "a\n1\n")));
  arrow::StopSource stop;
  stop.RequestStop();
  EXPECT_TRUE(shards.ToTable(stop.token()).status().IsCancelled());
}

}  // namespace
}  // namespace xshards::io
