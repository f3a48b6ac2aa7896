// SPDX-License-Identifier: Apache-2.0
#include "io/csv/for_each_row.h"

#include <bit>
#include <charconv>
#include <random>

#include <arrow/io/compressed.h>
#include <arrow/io/file.h>
#include <arrow/util/compression.h>
#include <gmock/gmock.h>

#include "tests/io/scan_fixture.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;

class ForEachRowTest : public IoTest {
 protected:
  arrow::Status Read(const std::string& text) {
    return ForEachRow<int64_t>(Write("a.csv", text), {"n"}, [](int64_t) {});
  }
};

TEST_F(ForEachRowTest, GivesColumnsInTheRequestedOrder) {
  const auto path = Write("a.csv",
                          "\xEF\xBB\xBF"
                          "city,id,unused,price\r\n"
                          "\"New \"\"York\"\", NY\",1,x,2.5\r\n\r\n"
                          "Ulm , +7,,-1e3");
  std::vector<std::tuple<int64_t, double, std::string>> rows;
  ASSERT_OK((ForEachRow<int64_t, double, std::string>(
      path, {"id", "price", "city"},
      [&](int64_t id, double price, const std::string& city) {
        rows.emplace_back(id, price, city);
      })));
  EXPECT_THAT(rows, ElementsAre(std::tuple(1, 2.5, "New \"York\", NY"),
                                std::tuple(7, -1000.0, "Ulm ")));
}

TEST_F(ForEachRowTest, ReadsAllTypesAndMissingValues) {
  const auto path = Write("a.csv",
                          "i;u;f;b;o\n-2147483648;18446744073709551615;0.1;TRUE;\n"
                          "0;0;inf;false;9\n");
  std::vector<std::optional<int64_t>> optional;
  std::vector<bool> truths;
  uint64_t largest = 0;
  const auto take = [&](int32_t, uint64_t u, float, bool b, std::optional<int64_t> o) {
    optional.push_back(o);
    truths.push_back(b);
    largest = std::max(largest, u);
  };
  ASSERT_OK((ForEachRow<int32_t, uint64_t, float, bool, std::optional<int64_t>>(
      path, {"i", "u", "f", "b", "o"}, take, {.sep = ';'})));
  EXPECT_THAT(optional, ElementsAre(std::nullopt, 9));
  EXPECT_THAT(truths, ElementsAre(true, false));
  EXPECT_EQ(largest, std::numeric_limits<uint64_t>::max());
}

TEST_F(ForEachRowTest, EndsWhereTheFunctionFails) {
  const auto path = Write("a.csv", "n\n1\n2\n3\n");
  int calls = 0;
  const auto status = ForEachRow<int64_t>(path, {"n"}, [&](int64_t n) {
    ++calls;
    return n == 2 ? arrow::Status::Cancelled("enough") : arrow::Status::OK();
  });
  EXPECT_TRUE(status.IsCancelled());
  EXPECT_EQ(calls, 2);
}

TEST_F(ForEachRowTest, ErrorsNameTheFaultAndItsLine) {
  for (const char* part : {"a.csv", "line 3", "column 'n'", "'x'"}) {
    EXPECT_FAILS(Invalid, part, Read("n\n1\nx\n"));
  }
  EXPECT_FAILS(Invalid, "line 2", Read("n\n9223372036854775808\n"));
  EXPECT_FAILS(Invalid, "line 2", Read("n\n\"\"\n"));
  EXPECT_FAILS(Invalid, "Expected 2 fields", Read("n,m\n1\n"));
  EXPECT_FAILS(Invalid, "Expected 1 fields", Read("n\n1,2\n"));
  EXPECT_FAILS(Invalid, "ReadCsv", Read("n\n\"1\n2\"\n"));
  EXPECT_FAILS(Invalid, "NUL", Read(std::string("n\n1\0\n", 5)));
  EXPECT_FAILS(Invalid, "No columns", Read("\n"));
  EXPECT_FAILS(KeyError, "'n'", Read("m\n1\n"));
  EXPECT_FAILS(Invalid, "twice",
               (ForEachRow<int64_t, int64_t>(Write("a.csv", "n\n1\n"), {"n", "n"},
                                             [](int64_t, int64_t) {})));
  EXPECT_FAILS(
      Invalid, "sep",
      ForEachRow<int64_t>(Write("a.csv", "n\n1\n"), {"n"}, [](int64_t) {}, {.sep = ':'}));
  EXPECT_FAILS(
      IOError, "nowhere.csv",
      ForEachRow<int64_t>(directory_.File("nowhere.csv"), {"n"}, [](int64_t) {}));
}

TEST_F(ForEachRowTest, ReadsCompressedFiles) {
  const auto path = directory_.File("a.csv.gz");
  ASSERT_OK_AND_ASSIGN(auto codec, arrow::util::Codec::Create(arrow::Compression::GZIP));
  ASSERT_OK_AND_ASSIGN(auto file, arrow::io::FileOutputStream::Open(path));
  ASSERT_OK_AND_ASSIGN(auto stream,
                       arrow::io::CompressedOutputStream::Make(codec.get(), file));
  ASSERT_OK(stream->Write("n\n1\n2\n"));
  ASSERT_OK(stream->Close());
  int64_t sum = 0;
  ASSERT_OK(ForEachRow<int64_t>(path, {"n"}, [&](int64_t n) { sum += n; }));
  EXPECT_EQ(sum, 3);
}

// The two readers have nothing in common, so that each is the other's oracle.
TEST_F(ForEachRowTest, AgreesWithReadCsv) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20; ++round) {
    const std::string line_end = round % 2 == 0 ? "\n" : "\r\n";
    std::string text = "id,price,city" + line_end;
    for (int i = 0; i < 300; ++i) {
      constexpr const char* kCities[] = {
          "Ulm", "\"a,b\"", "\"\"\"\"", "é", "\" x \"", "\"say \"\"hi\"\" \"", " y"};
      const double price = std::bit_cast<double>(random() >> 2);
      text += std::to_string(static_cast<int64_t>(random())) + ",";
      std::array<char, 64> digits{};
      text.append(digits.data(), std::to_chars(digits.data(), digits.end(), price).ptr);
      text += std::string(",") + kCities[random() % std::size(kCities)] + line_end;
      if (random() % 20 == 0) text += line_end;
    }
    const auto path = Write("a.csv", text);
    const auto table = Rows(ReadCsv(
        context_, path,
        {.dtype = {{"price", "float64"}}, .split = {.block_size = 1 + round * 100}}));
    ASSERT_NE(table, nullptr);
    const auto value = [&](int column, int64_t row) {
      return table->column(column)->GetScalar(row).ValueOrDie();
    };
    int64_t row = 0;
    ASSERT_OK((ForEachRow<int64_t, double, std::string>(
        path, {"id", "price", "city"},
        [&](int64_t id, double price, const std::string& city) {
          ASSERT_LT(row, table->num_rows());
          EXPECT_TRUE(value(0, row)->Equals(arrow::Int64Scalar(id)));
          EXPECT_TRUE(value(1, row)->Equals(arrow::DoubleScalar(price)));
          EXPECT_EQ(value(2, row)->ToString(), city);
          ++row;
        })));
    EXPECT_EQ(row, table->num_rows());
  }
}

}  // namespace
}  // namespace xshards::io
