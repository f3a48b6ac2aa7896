// SPDX-License-Identifier: Apache-2.0
#include "io/csv/plan/numbered_lines.h"

#include <arrow/io/compressed.h>
#include <arrow/io/file.h>
#include <arrow/util/compression.h>

#include "io/csv/plan/footer.h"
#include "io/csv/plan/split_planner.h"
#include "tests/io/csv/csv_fixture.h"

namespace xshards::io {
namespace {

using CsvLines = CsvTest;

TEST_F(CsvLines, TakesNamesFromALaterLine) {
  const std::string text = "made by x\n\n\"two\nlines\",1\na,b\n1,2\n3,4\n";
  const auto table = Read(text, {.header_row = 2});
  EXPECT_EQ(Text(*table, "a"), "[1,3]");
  EXPECT_EQ(Text(*table, "b"), "[2,4]");
  CheckEverySplit(text, {.header_row = 2});
  EXPECT_FAILS(Invalid, "Passed header=4 but only 4 lines in file",
               Error("1\n2\n3\n4\n", {.header_row = 4}));
}

TEST_F(CsvLines, SkipsLinesByNumber) {
  const std::string text = "x\na,b\n1,\"2\n2\"\n\n3,4\r\n\"5\r\n5\",6\r\n7,8\n";
  // Line 2 has a line end in quotes; line 3 is empty.
  const CsvOptions options{.skiprows = 1, .skip_lines = {4}};
  const auto table = Read(text, options);
  EXPECT_EQ(Text(*table, "a"), "[1,5\r\n5,7]");
  CheckEverySplit(text, options);
  EXPECT_EQ(Text(*Read(text, {.skiprows = 1, .skip_lines = {2, 3, 5}}), "b"), "[4,8]");
  EXPECT_EQ(Text(*Read(text, {.skip_lines = {0, 2, 6, 99}}), "b"), "[4,6]");
  // The names are in the first line that is left.
  EXPECT_EQ(
      Read("a\nb\nc\n", {.header_row = 1, .skip_lines = {1}})->schema()->field(0)->name(),
      "c");
}

TEST_F(CsvLines, SkipsLinesThatLeaveQuotesOpen) {
  EXPECT_EQ(Text(*Read("a\n1\n\"x\n", {.skip_lines = {2}}), "a"), "[1]");
  CheckEverySplit("a\n1\n\"x\n", {.skip_lines = {2}});
  EXPECT_FALSE(Error("a\n1\n\"x\n", {.skip_lines = {1}}).ok());
  EXPECT_FAILS(Invalid, "No columns to parse", Error("\"x\na\n1\n", {.skiprows = 1}));
}

TEST_F(CsvLines, CutsFilesAfterSkippedLines) {
  std::string text = "n,t\n";
  for (int i = 0; i < 20000; ++i) text += std::to_string(i) + ",\"x\ny\"\n";
  CsvOptions options;
  options.skip_lines = {1, 5000, 15000};
  options.split.block_size = 10000;
  ASSERT_OK_AND_ASSIGN(const auto shards,
                       ReadCsv(context_, Write("a.csv", text), options));
  ASSERT_OK_AND_ASSIGN(const int num_partitions, shards.num_partitions());
  EXPECT_GT(num_partitions, 15);
  const auto cut = Rows(shards);
  options.split = {.num_partitions = 1};
  const auto whole = Rows(ReadCsv(context_, Write("a.csv", text), options));
  EXPECT_EQ(whole->num_rows(), 19997);
  EXPECT_TRUE(cut->Equals(*whole));
}

TEST_F(CsvLines, EmptyLinesAreRowsUnlessSkipped) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    std::string text;
    for (const char* line : {"a,b", "", "1,2", " ", "", "3,4", ""}) text += line + end;
    const CsvOptions options{.skip_blank_lines = false};
    EXPECT_EQ(Text(*Read(text, options), "b"), "[null,2,null,null,4,null]");
    CheckEverySplit(text, options);
  }
  EXPECT_FAILS(Invalid, "No columns", Error("\n\n", {.skip_blank_lines = false}));
}

TEST_F(CsvLines, SkipsAndCountsRecordsThatAreTooLong) {
  std::string text = "a,b\n1,2\n1,2,3\n4,5\n";
  CheckEverySplit(text, {.on_bad_lines = BadLines::kSkip});
  EXPECT_EQ(Text(*Read(text, {.on_bad_lines = BadLines::kSkip}), "a"), "[1,4]");
  EXPECT_FAILS(Invalid, "Expected 2 fields in", Error(text));
  for (int i = 0; i < 100000; ++i) text += i % 10 == 0 ? "x,y,z\n" : "6,7\n";
  const auto path = Write("long.csv", text);
  for (const auto bad_lines : {BadLines::kSkip, BadLines::kWarn}) {
    ASSERT_OK_AND_ASSIGN(const auto shards,
                         ReadCsv(context_, path, {.on_bad_lines = bad_lines}));
    ASSERT_OK_AND_ASSIGN(const auto scanned, RunScan(ScanOf(shards)));
    EXPECT_EQ(scanned.table->num_rows(), 90002);
    const bool is_told = bad_lines == BadLines::kWarn;
    EXPECT_EQ(scanned.metrics.bad_lines, is_told ? 10001 : 0);
    EXPECT_EQ(scanned.metrics.first_bad_line.find("line 3, saw 3") != std::string::npos,
              is_told)
        << scanned.metrics.first_bad_line;
  }
}

TEST_F(CsvLines, SkipsTheLastLines) {
  const std::string text = "a,b\n1,2\n3,4\n\n5,\"6\n7\"\n\ntotal,1,2,3";
  EXPECT_EQ(Text(*Read(text, {.skipfooter = 1}), "a"), "[1,3,5]");
  EXPECT_EQ(Text(*Read(text, {.skipfooter = 2}), "a"), "[1,3,5]");
  EXPECT_EQ(Text(*Read(text, {.skipfooter = 3}), "a"), "[1,3]");
  EXPECT_EQ(Text(*Read(text, {.skipfooter = 5}), "a"), "[1]");
  EXPECT_EQ(Text(*Read(text, {.skipfooter = 50}), "a"), "[]");
  for (const int64_t count : {1, 3, 5}) CheckEverySplit(text, {.skipfooter = count});
  EXPECT_FAILS(Invalid, "quotes to be closed", Error(text + "\n\"", {.skipfooter = 1}));
}

TEST_F(CsvLines, SkipsTheLastLinesOfFilesReadFromTheStart) {
  const std::string text = "a,b\n1,2\n3,4\ntotal,1,2,3\n";
  const auto path = Write("a.csv", "");
  const auto packed = path + ".gz";
  ASSERT_OK_AND_ASSIGN(auto codec, arrow::util::Codec::Create(arrow::Compression::GZIP));
  ASSERT_OK_AND_ASSIGN(auto file, arrow::io::FileOutputStream::Open(packed));
  ASSERT_OK_AND_ASSIGN(auto stream,
                       arrow::io::CompressedOutputStream::Make(codec.get(), file));
  ASSERT_OK(stream->Write(text));
  ASSERT_OK(stream->Close());
  EXPECT_EQ(Text(*Rows(ReadCsv(context_, packed, {.skipfooter = 1})), "b"), "[2,4]");
  EXPECT_EQ(Text(*Rows(ReadCsv(context_, packed, {.skipfooter = 9})), "b"), "[]");
}

TEST_F(CsvLines, StopsWhenAsked) {
  const auto path = Write("a.csv", "a\n1\n2\n3\n");
  const InputFile file{.path = path, .size = 8};
  arrow::StopSource stop;
  stop.RequestStop();
  arrow::MemoryPool* const pool = context_->memory_pool();
  const auto cut = CutNumberedLines(file, {.position = 2, .line = 1}, 2,
                                    {.skip_lines = {3}}, stop.token(), pool);
  EXPECT_TRUE(cut.status().IsCancelled()) << cut.status();
  std::vector<Split> splits = {{.path = path, .begin = 2, .end = 8, .num_bytes = 6}};
  CsvScanOptions scan{.csv = {.skipfooter = 1}};
  EXPECT_TRUE(DropFooters(stop.token(), pool, &scan, &splits).IsCancelled());
  const CsvCutting cutting{.target_bytes = 2, .segment_bytes = 2, .stop = stop.token()};
  const auto odd =
      CutCsvFiles({{.file = file, .data_begin = 2}}, cutting, {.skipinitialspace = true},
                  context_->MakeProbe(stop.token()), pool);
  EXPECT_TRUE(odd.status().IsCancelled()) << odd.status();
}

}  // namespace
}  // namespace xshards::io
