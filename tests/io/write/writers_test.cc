// SPDX-License-Identifier: Apache-2.0
#include "io/writers.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <gmock/gmock.h>

#include "io/text/number_formatting.h"
#include "io/write/atomic_file.h"
#include "tests/io/scan_fixture.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;
using xshards::testing::Array;
using xshards::testing::Batch;
using xshards::testing::Numbered;

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(WriterOptions, AreThoseOfTheFormat) {
  std::vector<std::string> filled;
  for (const std::string format : {"csv", "json", "ipc", "parquet", "tfrecord"}) {
    const auto options = WriterOptionsOf(format, [&](auto defaults, const char* owner) {
      if constexpr (std::is_same_v<decltype(defaults), CsvWriterOptions>) {
        defaults.sep = ';';
      }
      filled.emplace_back(owner);
      return defaults;
    });
    EXPECT_NE(options, nullptr) << format;
  }
  EXPECT_THAT(filled, ElementsAre("CSV writing", "JSON writing", "IPC writing",
                                  "Parquet writing", "TFRecord writing"));
  EXPECT_EQ(WriterOptionsOf("xml", [](auto defaults, const char*) { return defaults; }),
            nullptr);
}

class Writers : public IoTest {
 protected:
  // Write batches as one partition, through the sink of the operator table.
  arrow::Result<FragmentMetrics> WriteFile(const std::string& format,
                                           const std::string& path,
                                           std::unique_ptr<BatchStream> input,
                                           const FormatOptionsPointer& options = {}) {
    OperatorTable operators;
    AddOperators(operators);
    FragmentMetrics metrics;
    OperatorContext context;
    context.pool = context_->memory_pool();
    context.storage = context_->storage();
    context.metrics = &metrics;
    SinkSpec spec{.kind = SinkKind::kWrite};
    spec.format = format;
    spec.options = options;
    spec.path = path;
    ARROW_ASSIGN_OR_RAISE(const RunSink* run, operators.FindSink(spec));
    BlockWriter out(context.storage, Storage::kHeap);
    ARROW_RETURN_NOT_OK((*run)(spec, *input, out, context));
    return metrics;
  }
  arrow::Result<FragmentMetrics> WriteFile(const std::string& format,
                                           const std::string& path,
                                           const arrow::RecordBatchVector& batches,
                                           const FormatOptionsPointer& options = {}) {
    return WriteFile(format, path,
                     std::make_unique<VectorStream>(batches[0]->schema(), batches),
                     options);
  }
  arrow::Result<XShards> Read(const std::string& format, const std::string& path) {
    if (format == "csv") return ReadCsv(context_, path);
    if (format == "json") return ReadJson(context_, path);
    if (format == "parquet") return ReadParquet(context_, path);
    return ReadIpc(context_, path);
  }
};

/// Fails after some batches.
class FailingStream final : public BatchStream {
 public:
  explicit FailingStream(std::shared_ptr<arrow::RecordBatch> batch)
      : schema_(batch->schema()), batch_(std::move(batch)) {}
  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (count_++ < 3) return batch_;
    return arrow::Status::Invalid("the input broke");
  }

 private:
  std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  int count_ = 0;
};

TEST_F(Writers, RoundTripEveryFormat) {
  const arrow::RecordBatchVector batches = {Numbered(1000), Numbered(0),
                                            Numbered(1, 3, 1000)};
  const auto expected = arrow::Table::FromRecordBatches(batches).ValueOrDie();
  for (const std::string format : {"csv", "json", "parquet", "ipc"}) {
    const auto path = directory_.File("out." + format);
    ASSERT_OK_AND_ASSIGN(const auto metrics, WriteFile(format, path, batches));
    EXPECT_EQ(metrics.rows_out, 1001);
    EXPECT_EQ(metrics.bytes_out, static_cast<int64_t>(Contents(path).size()));
    const auto table = Rows(Read(format, path));
    ASSERT_NE(table, nullptr);
    EXPECT_TRUE(table->Equals(*expected->CombineChunks().ValueOrDie())) << format;
  }
  EXPECT_EQ(directory_.List().size(), 4);
}

TEST_F(Writers, WriteTheSchemaOfAnEmptyPartition) {
  const auto schema = Numbered(1)->schema();
  for (const std::string format : {"csv", "parquet", "ipc"}) {
    const auto path = directory_.File("empty." + format);
    ASSERT_OK(
        WriteFile(format, path,
                  std::make_unique<VectorStream>(schema, arrow::RecordBatchVector{})));
    const auto table = Rows(Read(format, path));
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(table->num_rows(), 0);
    EXPECT_EQ(table->ColumnNames(), schema->field_names()) << format;
  }
  const auto path = directory_.File("empty.json");
  ASSERT_OK(WriteFile(
      "json", path, std::make_unique<VectorStream>(schema, arrow::RecordBatchVector{})));
  EXPECT_EQ(Contents(path), "");
}

TEST_F(Writers, LeaveNoFilesIfTheInputFails) {
  for (const std::string format : {"csv", "json", "parquet", "ipc"}) {
    const auto path = directory_.File("broken." + format);
    const auto error =
        WriteFile(format, path, std::make_unique<FailingStream>(Numbered(10))).status();
    EXPECT_FAILS(Invalid, "the input broke", error);
    EXPECT_FAILS(Invalid, "broken." + format, error);
    EXPECT_TRUE(directory_.List().empty()) << format;
  }
}

TEST_F(Writers, KeepExistingFilesIfTheyFail) {
  const auto path = Write("kept.csv", "old");
  EXPECT_FALSE(WriteFile("csv", path, std::make_unique<FailingStream>(Numbered(5))).ok());
  EXPECT_EQ(Contents(path), "old");
  ASSERT_OK(WriteFile("csv", path, {Numbered(5)}));
  EXPECT_NE(Contents(path), "old");
  EXPECT_THAT(directory_.List(), ElementsAre("kept.csv"));
}

TEST_F(Writers, NameUnsupportedTypesAndOptions) {
  const auto path = directory_.File("x");
  EXPECT_FAILS(IOError, "nowhere",
               WriteFile("csv", directory_.File("nowhere/x.csv"), {Numbered(1)}));
  EXPECT_FAILS(
      Invalid, "'wrong'",
      WriteFile("parquet", path, {Numbered(1)},
                MakeWriterOptions(ParquetWriterOptions{.compression = "wrong"})));
  EXPECT_FAILS(Invalid, "'wrong'",
               WriteFile("ipc", path, {Numbered(1)},
                         MakeWriterOptions(IpcWriterOptions{.compression = "wrong"})));
  EXPECT_FAILS(Invalid, "row_group_rows must be 1 or more, got 0",
               WriteFile("parquet", path, {Numbered(1)},
                         MakeWriterOptions(ParquetWriterOptions{.row_group_rows = 0})));
  const auto lists = Batch(
      arrow::schema({arrow::field("l", arrow::list(arrow::int64()))}), R"([{"l": [1]}])");
  EXPECT_FAILS(TypeError, "'l'", WriteFile("csv", path, {lists}));
  const auto bytes =
      Batch(arrow::schema({arrow::field("y", arrow::large_binary())}), R"([{"y": "x"}])");
  EXPECT_FAILS(TypeError, "'y'", WriteFile("csv", path, {bytes}));
  EXPECT_FAILS(TypeError, "'y'", WriteFile("json", path, {bytes}));
  EXPECT_TRUE(directory_.List().empty());
}

TEST_F(Writers, CsvLooksLikePandas) {
  const auto schema = arrow::schema(
      {arrow::field("text", arrow::large_utf8()), arrow::field("f", arrow::float64()),
       arrow::field("b", arrow::boolean()), arrow::field("i", arrow::int8()),
       arrow::field("d", arrow::date32())});
  auto batch = Batch(schema, R"([
      {"text": "plain", "f": 1, "b": true, "i": 1, "d": 0},
      {"text": "a,b", "f": 100000, "b": false, "i": -8, "d": null},
      {"text": "say \"hi\"\n", "f": 1e16, "b": null, "i": null, "d": 1},
      {"text": "", "f": 0.1, "b": null, "i": 1, "d": 1},
      {"text": null, "f": null, "b": null, "i": null, "d": null}])");
  const auto path = directory_.File("p.csv");
  ASSERT_OK(WriteFile("csv", path, {batch}));
  EXPECT_EQ(Contents(path),
            "text,f,b,i,d\n"
            "plain,1.0,True,1,1970-01-01\n"
            "\"a,b\",100000.0,False,-8,\n"
            "\"say \"\"hi\"\"\n\",1e+16,,,1970-01-02\n"
            "\"\",0.1,,1,1970-01-02\n"
            ",,,,\n");
  ASSERT_OK(WriteFile("csv", path, {batch->SelectColumns({1}).ValueOrDie()},
                      MakeWriterOptions(CsvWriterOptions{.header = false})));
  EXPECT_EQ(Contents(path), "1.0\n100000.0\n1e+16\n0.1\n\"\"\n");
  ASSERT_OK(WriteFile("csv", path, {batch->SelectColumns({2, 3}).ValueOrDie()},
                      MakeWriterOptions(CsvWriterOptions{.sep = ';', .na_rep = "NA"})));
  EXPECT_EQ(Contents(path), "b;i\nTrue;1\nFalse;-8\nNA;NA\nNA;1\nNA;NA\n");
}

TEST_F(Writers, CsvWritesTimesWithTheDigitsThatAnyNeeds) {
  const auto schema =
      arrow::schema({arrow::field("t", arrow::timestamp(arrow::TimeUnit::MICRO)),
                     arrow::field("d", arrow::duration(arrow::TimeUnit::NANO))});
  const auto first = Batch(schema, R"([{"t": 0, "d": 86400000000000}])");
  const auto second = Batch(schema, R"([{"t": 500000, "d": -1000000000},
                                        {"t": null, "d": null}])");
  const auto path = directory_.File("t.csv");
  ASSERT_OK(WriteFile("csv", path, {first}));
  EXPECT_EQ(Contents(path), "t,d\n1970-01-01,1 days\n");
  // Rows are looked at together, however they come; text is quoted where it must be.
  ASSERT_OK(WriteFile("csv", path, {first, second},
                      MakeWriterOptions(CsvWriterOptions{.sep = ':', .na_rep = "NA"})));
  EXPECT_EQ(Contents(path),
            "t:d\n"
            "\"1970-01-01 00:00:00.000\":\"1 days 00:00:00\"\n"
            "\"1970-01-01 00:00:00.500\":\"-1 days +23:59:59\"\n"
            "NA:NA\n");
}

TEST_F(Writers, CsvDoesNotBufferLongTextsBecauseOfTimes) {
  const auto schema =
      arrow::schema({arrow::field("t", arrow::timestamp(arrow::TimeUnit::SECOND)),
                     arrow::field("s", arrow::large_utf8())});
  const std::string text(3 << 20, 'x');
  const auto row = [&](const char* time) {
    return Batch(schema,
                 std::string(R"([{"t": )") + time + R"(, "s": ")" + text + "\"}]");
  };
  const auto path = directory_.File("t.csv");
  ASSERT_OK(WriteFile("csv", path, {row("0"), row("1"), row("86400")}));
  // The first row did not wait for the second, but the digits stay for the third.
  EXPECT_EQ(Contents(path), "t,s\n1970-01-01," + text + "\n1970-01-01 00:00:01," + text +
                                "\n1970-01-02 00:00:00," + text + "\n");
}

TEST_F(Writers, CsvWritesTimesOfAllYearsAndZones) {
  const auto schema = arrow::schema(
      {arrow::field("t", arrow::timestamp(arrow::TimeUnit::SECOND)),
       arrow::field("z", arrow::timestamp(arrow::TimeUnit::SECOND, "Europe/Paris")),
       arrow::field("d", arrow::date32()), arrow::field("e", arrow::date64())});
  const auto batch = Batch(schema, R"([
      {"t": 1200110860800, "z": -2840140800, "d": 20000000, "e": 8640000000000000},
      {"t": -63429523200, "z": 1373155200, "d": -800000, "e": -86400000},
      {"t": null, "z": null, "d": null, "e": null}])");
  const auto path = directory_.File("t.csv");
  ASSERT_OK(WriteFile("csv", path, {batch}));
  EXPECT_EQ(Contents(path),
            "t,z,d,e\n"
            "40000-01-01,1880-01-01 00:09:21+00:09:21,56728-02-22,275760-09-13\n"
            "-040-01-01,2013-07-07 02:00:00+02:00,-221-09-04,1969-12-31\n"
            ",,,\n");
  const auto json = directory_.File("t.json");
  ASSERT_OK(WriteFile("json", json,
                      {batch->Slice(0, 1)->SelectColumns({0, 1, 2}).ValueOrDie()}));
  EXPECT_EQ(Contents(json),
            R"({"t":"40000-01-01 00:00:00","z":"1880-01-01 00:09:21+00:09:21",)"
            R"("d":"56728-02-22"})"
            "\n");
}

TEST_F(Writers, NameATimeThatCannotBeWrittenInItsZone) {
  const auto schema =
      arrow::schema({arrow::field("i", arrow::int64()),
                     arrow::field("b\u00e4", arrow::timestamp(arrow::TimeUnit::SECOND,
                                                              "Europe/Paris"))});
  const auto batch = Batch(schema, R"([{"i": 1, "b\u00e4": 0},
                                       {"i": 2, "b\u00e4": 1200110860800}])");
  for (const std::string format : {"csv", "json"}) {
    const auto path = directory_.File("t." + format);
    EXPECT_FAILS(NotImplemented, "column 'b\u00e4'", WriteFile(format, path, {batch}));
    EXPECT_FAILS(NotImplemented, "Got 40000-01-01 00:00:00+00:00",
                 WriteFile(format, path, {batch}));
    EXPECT_TRUE(directory_.List().empty()) << format;
    ASSERT_OK(WriteFile(format, path, {batch->Slice(0, 1)}));
    std::filesystem::remove(path);
  }
}

TEST_F(Writers, CsvBuffersSingleRows) {
  const auto schema =
      arrow::schema({arrow::field("t", arrow::timestamp(arrow::TimeUnit::SECOND)),
                     arrow::field("s", arrow::large_utf8())});
  arrow::RecordBatchVector batches;
  std::string expected = "t,s\n";
  for (int i = 0; i < 100; ++i) {
    batches.push_back(Batch(schema, R"([{"t": 86400, "s": "\u00e4"}])"));
    expected += "1970-01-02 00:00:00,\u00e4\n";
  }
  batches.push_back(Batch(schema, R"([{"t": 1, "s": null}])"));
  expected += "1970-01-01 00:00:01,\n";
  const auto path = directory_.File("t.csv");
  ASSERT_OK(WriteFile("csv", path, batches));
  EXPECT_EQ(Contents(path), expected);
}

TEST_F(Writers, MissingValuesReadBackAsMissing) {
  const auto values =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("f", arrow::float64())}), 3,
                               {Array(arrow::float64(), "[1.5, NaN, null]")});
  for (const std::string format : {"csv", "json"}) {
    const auto path = directory_.File("nan." + format);
    ASSERT_OK(WriteFile(format, path, {values}));
    const auto table = Rows(Read(format, path));
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(Text(*table, "f"), "[1.5,null,null]") << format;
  }
}

TEST_F(Writers, DecodeDictionaries) {
  const auto dictionary = arrow::DictionaryArray::FromArrays(
                              arrow::dictionary(arrow::int32(), arrow::large_utf8()),
                              Array(arrow::int32(), "[1, null, 0]"),
                              Array(arrow::large_utf8(), R"(["x", "y"])"))
                              .ValueOrDie();
  const auto batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("d", dictionary->type())}), 3, {dictionary});
  for (const std::string format : {"csv", "json", "parquet", "ipc"}) {
    const auto path = directory_.File("d." + format);
    ASSERT_OK(WriteFile(format, path, {batch}));
    const auto table = Rows(Read(format, path));
    ASSERT_NE(table, nullptr);
    EXPECT_EQ(TypeName(*table, "d"), "large_string") << format;
    EXPECT_EQ(Text(*table, "d"), "[y,null,x]") << format;
  }
}

TEST_F(Writers, JsonKeepsTextAndNesting) {
  const auto schema = arrow::schema(
      {arrow::field("s \"q\"", arrow::large_utf8()),
       arrow::field("l", arrow::list(arrow::float64())),
       arrow::field("o", arrow::struct_({arrow::field(
                             "t", arrow::timestamp(arrow::TimeUnit::SECOND))}))});
  const auto batch = Batch(schema, R"([
      {"s \"q\"": "tab\t é \u0001 \\ \"", "l": [1, null], "o": {"t": 0}},
      {"s \"q\"": null, "l": null, "o": null}])");
  const auto path = directory_.File("n.json");
  ASSERT_OK(WriteFile("json", path, {batch}));
  EXPECT_EQ(Contents(path),
            "{\"s \\\"q\\\"\":\"tab\\t é \\u0001 \\\\ \\\"\",\"l\":[1.0,null],"
            "\"o\":{\"t\":\"1970-01-01 00:00:00\"}}\n"
            "{\"s \\\"q\\\"\":null,\"l\":null,\"o\":null}\n");
}

TEST_F(Writers, ParquetTakesItsOptions) {
  const auto path = directory_.File("o.parquet");
  ASSERT_OK(WriteFile("parquet", path, {Numbered(95), Numbered(5)},
                      MakeWriterOptions(ParquetWriterOptions{.compression = "zstd",
                                                             .row_group_rows = 10})));
  ASSERT_OK_AND_ASSIGN(const auto shards,
                       ReadParquet(context_, path, {.split = {.num_partitions = 100}}));
  EXPECT_EQ(ScanOf(shards).splits.size(), 10);
}

TEST_F(Writers, WriteOneFileForEachPartition) {
  const auto shards = xshards::testing::NumberedShards(context_, 3, 10);
  ASSERT_OK(shards.WriteCsv(directory_.File("out")));
  const auto table = Rows(ReadCsv(context_, directory_.File("out")));
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(xshards::testing::Ids(*table).size(), 30);
}

TEST(NumberText, FloatsReadBackTheSame) {
  for (const double value : {0.0, -0.0, 1.0, 0.1, 1e-5, 123456789.125, 1e15, 1e16, 1e300,
                             -2.5, std::numeric_limits<double>::denorm_min()}) {
    std::string text;
    AppendFloat(value, &text);
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
    EXPECT_NE(text.find_first_of(".e"), std::string::npos) << text;
  }
  std::string text;
  AppendFloat(0.1F, &text);
  EXPECT_EQ(text, "0.1");
}

}  // namespace
}  // namespace xshards::io
