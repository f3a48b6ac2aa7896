// SPDX-License-Identifier: Apache-2.0
#include "io/options/option_codec.h"

#include <limits>

#include <gtest/gtest.h>

#include "io/columnar/options.h"
#include "io/columnar/scan_options.h"
#include "io/csv/scan_options.h"
#include "io/json/options.h"
#include "io/json/scan_options.h"
#include "io/tfrecord/options.h"
#include "io/tfrecord/scan_options.h"
#include "tests/support/status_assertions.h"

namespace xshards::io {
namespace {

template <typename Options>
std::shared_ptr<arrow::Buffer> Bytes(const Options& options) {
  return MakeOptions(options)->Encode().ValueOrDie();
}

// As another process sees them.
template <typename Options>
arrow::Result<std::shared_ptr<const Options>> Decode(
    const std::shared_ptr<arrow::Buffer>& bytes) {
  return OptionsOf<Options>(std::make_shared<const EncodedOptions>(bytes));
}

template <typename Options>
Options Again(const Options& options) {
  return *Decode<Options>(Bytes(options)).ValueOrDie();
}

TEST(OptionCodec, SharesOptionsWithinTheProcess) {
  const auto options = MakeOptions(CsvOptions{.sep = ';'});
  ASSERT_OK_AND_ASSIGN(const auto first, OptionsOf<CsvOptions>(options));
  ASSERT_OK_AND_ASSIGN(const auto second, OptionsOf<CsvOptions>(options));
  EXPECT_EQ(first->sep, ';');
  EXPECT_EQ(first.get(), second.get());
}

TEST(OptionCodec, NoOptionsAreTheDefaults) {
  ASSERT_OK_AND_ASSIGN(const auto options, OptionsOf<GroupScanOptions>(nullptr));
  EXPECT_EQ(options->parts, 1);
}

TEST(OptionCodec, RejectsTruncatedBytes) {
  const auto bytes = Bytes(CsvScanOptions{.csv = {.names = {"a", "b"}, .nrows = 3},
                                          .columns = {"a", "b"},
                                          .lines = {{{"p", 1}, {.skipped = {{3, 5}}}}}});
  ASSERT_OK(Decode<CsvScanOptions>(bytes));
  for (int64_t size = 0; size < bytes->size(); ++size) {
    EXPECT_FAILS(Invalid, "truncated or damaged",
                 Decode<CsvScanOptions>(arrow::SliceBuffer(bytes, 0, size)));
  }
  const auto longer = arrow::Buffer::FromString(bytes->ToString() + "x");
  EXPECT_FAILS(Invalid, "1 bytes too many", Decode<CsvScanOptions>(longer));
}

TEST(OptionCodec, RefusesUnknownAndUnusableValues) {
  JsonScanOptions unknown;
  unknown.extent = static_cast<ScanExtent>(9);
  EXPECT_FAILS(Invalid, "unknown value: 9", Decode<JsonScanOptions>(Bytes(unknown)));
  EXPECT_FAILS(Invalid, "names must differ",
               Decode<CsvOptions>(Bytes(CsvOptions{.names = {"a", "a"}})));
  EXPECT_FAILS(Invalid, "parts of a row group must be 1 or more, got 0",
               Decode<GroupScanOptions>(Bytes(GroupScanOptions{.parts = 0})));
}

TEST(CsvScanOptions, RoundTrips) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  CsvScanOptions options{.csv = {.sep = ';'}, .extent = ScanExtent::kSample};
  options.AddColumns("one", {"a", "日本"});
  options.AddColumns("other", {"日本", "a"});
  options.AddColumns("third", {"a", "日本"});
  const std::vector<std::vector<int64_t>> lines = {
      {5}, {0, 1, 2}, {3, 7, 8, 9, 11}, {1, kLargest - 1, kLargest}};
  for (size_t i = 0; i < lines.size(); ++i) {
    options.AddLines("one", static_cast<int64_t>(i), 7, lines[i]);
  }
  options.text_ends["other"] = 12;
  const auto decoded = Again(options);
  EXPECT_EQ(decoded.csv.sep, ';');
  EXPECT_EQ(decoded.ColumnsOf("one"), (std::vector<std::string>{"a", "日本"}));
  EXPECT_EQ(decoded.ColumnsOf("other"), (std::vector<std::string>{"日本", "a"}));
  EXPECT_EQ(decoded.own_columns.size(), 1);
  for (size_t i = 0; i < lines.size(); ++i) {
    const Split split{.path = "one", .begin = static_cast<int64_t>(i)};
    EXPECT_EQ(decoded.OptionsFor(split).skip_lines, lines[i]);
    EXPECT_EQ(decoded.FirstLineOf(split), 7);
  }
  EXPECT_EQ(decoded.lines.at({"one", 2}).skipped.size(), 3);
  const Split without{.path = "other"};
  EXPECT_EQ(decoded.FirstLineOf(without), std::nullopt);
  EXPECT_TRUE(decoded.OptionsFor(without).skip_lines.empty());
  EXPECT_EQ(decoded.text_ends, options.text_ends);
  EXPECT_EQ(decoded.extent, ScanExtent::kSample);
}

TEST(TfRecordOptions, RoundTrips) {
  const auto decoded = Again(TfRecordScanOptions{
      .tfrecord = {.raw = true, .compression = TextCompression::kGzip}});
  EXPECT_TRUE(decoded.tfrecord.raw);
  EXPECT_EQ(decoded.tfrecord.compression, TextCompression::kGzip);
  EXPECT_EQ(decoded.tfrecord.schema, nullptr);
}

TEST(CsvOptions, RoundTrips) {
  CsvOptions options;
  options.sep = '\t';
  options.header = false;
  options.names = {"a", "b,c"};
  options.usecols = {{"a"}};
  options.dtype = {{"a", "int32"}};
  options.quotechar = std::nullopt;
  options.escapechar = '\\';
  options.times = {{"b,c", "%Y-%m-%d"}};
  options.na_values = {"-", "?"};
  options.column_na_values = {{"a", {"x", ""}}, {"b,c", {}}};
  options.true_values = {"yes"};
  options.false_values = {"no", ""};
  options.decimal = ',';
  options.thousands = '.';
  options.numbers_are_floats = true;
  options.delim_whitespace = true;
  options.skipinitialspace = true;
  options.doublequote = false;
  options.keep_default_na = false;
  options.na_filter = false;
  options.skiprows = 3;
  options.skipfooter = 2;
  options.skip_lines = {7, 9, 10, 11, 100};
  options.skip_blank_lines = false;
  options.on_bad_lines = BadLines::kWarn;
  options.header_row = 4;
  options.encoding = TextEncoding::kUtf16Be;
  options.compression = TextCompression::kXz;
  options.nrows = 10;
  options.split = {.num_partitions = 4, .block_size = 100};
  const auto decoded = Again(options);
  EXPECT_TRUE(Bytes(decoded)->Equals(*Bytes(options)));
  EXPECT_EQ(decoded.quotechar, std::nullopt);
  EXPECT_EQ(decoded.names, options.names);
  EXPECT_EQ(decoded.times, options.times);
  EXPECT_EQ(decoded.skip_lines, options.skip_lines);
  EXPECT_EQ(decoded.on_bad_lines, BadLines::kWarn);
  EXPECT_EQ(decoded.encoding, TextEncoding::kUtf16Be);
  EXPECT_EQ(decoded.compression, TextCompression::kXz);
  EXPECT_EQ(decoded.column_na_values, options.column_na_values);
  EXPECT_EQ(decoded.false_values, options.false_values);
  EXPECT_EQ(decoded.thousands, '.');
  EXPECT_TRUE(decoded.delim_whitespace && decoded.skipinitialspace);
  EXPECT_FALSE(decoded.doublequote);
  const CsvOptions others{.long_sep = "::", .quotechar = std::nullopt};
  EXPECT_EQ(Again(others).long_sep, "::");
  const CsvOptions commented{.comment = '#'};
  EXPECT_EQ(Again(commented).comment, '#');
  EXPECT_FALSE(decoded.keep_default_na || decoded.na_filter);
  const auto defaults = Again(CsvOptions{});
  EXPECT_EQ(defaults.quotechar, '"');
  EXPECT_EQ(defaults.usecols, std::nullopt);
}

TEST(CsvOptions, AreValidated) {
  EXPECT_FAILS(Invalid, "must differ", (CsvOptions{.sep = '"'}.Validate()));
  EXPECT_FAILS(Invalid, "sep must not be", (CsvOptions{.sep = '\n'}.Validate()));
  EXPECT_FAILS(Invalid, "'a' twice", (CsvOptions{.names = {"a", "a"}}.Validate()));
  EXPECT_FAILS(Invalid, "column 'a'", (CsvOptions{.dtype = {{"a", "no"}}}.Validate()));
  EXPECT_FAILS(Invalid, "for column 'a', got 'x'",
               (CsvOptions{.times = {{"a", "x"}}}.Validate()));
  EXPECT_FAILS(Invalid, "must differ, got ',' twice",
               (CsvOptions{.decimal = ',', .thousands = ','}.Validate()));
  EXPECT_FAILS(Invalid, "digits, signs or 'e', got '-'",
               (CsvOptions{.thousands = '-'}.Validate()));
  EXPECT_FAILS(Invalid, "long_sep cannot be combined with quotechar",
               (CsvOptions{.long_sep = "::"}.Validate()));
  EXPECT_FAILS(Invalid, "long_sep must not have line ends",
               (CsvOptions{.long_sep = ":\n", .quotechar = std::nullopt}.Validate()));
  EXPECT_FAILS(Invalid, "comment cannot be combined with",
               (CsvOptions{.skipinitialspace = true, .comment = '#'}.Validate()));
  EXPECT_FAILS(Invalid, "skiprows", (CsvOptions{.skiprows = -1}.Validate()));
  EXPECT_FAILS(Invalid, "nrows", (CsvOptions{.nrows = -1}.Validate()));
  EXPECT_FAILS(Invalid, "num_partitions",
               (CsvOptions{.split = {.num_partitions = -1}}.Validate()));
}

TEST(JsonOptions, RoundTrips) {
  const JsonOptions options{
      .dtype = {{"a", "float64"}}, .nrows = 5, .split = {.block_size = 7}};
  const auto decoded = Again(options);
  EXPECT_EQ(decoded.dtype, options.dtype);
  EXPECT_EQ(decoded.nrows, 5);
  EXPECT_EQ(decoded.split.block_size, 7);
  EXPECT_EQ(decoded.lines, std::nullopt);
}

TEST(ParquetOptions, RoundTrips) {
  const ParquetOptions options{
      .columns = {{"a", "b"}},
      .schema = arrow::schema({arrow::field("a", arrow::int8())}),
      .split = {.num_partitions = 7}};
  const auto decoded = Again(options);
  EXPECT_EQ(decoded.columns, options.columns);
  EXPECT_TRUE(decoded.schema->Equals(*options.schema));
  EXPECT_EQ(decoded.split.num_partitions, 7);
  EXPECT_FAILS(Invalid, "'a' twice",
               (ParquetOptions{.columns = {{"a", "a"}}}.Validate()));
}

}  // namespace
}  // namespace xshards::io
