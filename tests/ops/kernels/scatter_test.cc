// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/scatter.h"

#include <map>
#include <random>

#include <arrow/array/concatenate.h>

#include "ops/kernels/gather.h"
#include "ops/kernels/vector_array.h"
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class ScatterTest : public OperatorTest {
 protected:
  using Destinations = std::vector<int32_t>;

  std::vector<ScatteredRows> Run(const arrow::RecordBatchVector& batches,
                                 const Destinations& destinations,
                                 int32_t num_destinations) {
    return Get(Scatter(batches, destinations, num_destinations, context_.pool));
  }

  // The result of Arrow's own kernels for one destination.
  std::shared_ptr<arrow::RecordBatch> Expected(const arrow::RecordBatchVector& batches,
                                               const Destinations& destinations,
                                               int32_t destination) {
    std::vector<int64_t> rows;
    for (size_t i = 0; i < destinations.size(); ++i) {
      if (destinations[i] == destination) rows.push_back(static_cast<int64_t>(i));
    }
    const auto whole = Get(arrow::ConcatenateRecordBatches(batches, context_.pool));
    return Get(Gather(whole, ToArray(std::move(rows)), context_.pool));
  }

  void ExpectScattered(const arrow::RecordBatchVector& batches,
                       const Destinations& destinations, int32_t num_destinations) {
    int64_t num_rows = 0;
    for (const auto& piece : Run(batches, destinations, num_destinations)) {
      ASSERT_OK(piece.rows->ValidateFull());
      ExpectBatch(piece.rows, Expected(batches, destinations, piece.destination));
      num_rows += piece.rows->num_rows();
    }
    EXPECT_EQ(num_rows, static_cast<int64_t>(destinations.size()));
  }
};

TEST_F(ScatterTest, KeepsTheOrderOfTheRowsOfADestination) {
  const auto batch = Batch({{"a", arrow::int64(), "[0, 1, 2, 3, 4]"}});
  const auto pieces = Run({batch}, {2, 0, 2, 0, 2}, 4);
  ASSERT_EQ(pieces.size(), 2);
  EXPECT_EQ(pieces[0].destination, 0);
  ExpectBatch(pieces[0].rows, Batch({{"a", arrow::int64(), "[1, 3]"}}));
  EXPECT_EQ(pieces[1].destination, 2);
  ExpectBatch(pieces[1].rows, Batch({{"a", arrow::int64(), "[0, 2, 4]"}}));
}

TEST_F(ScatterTest, JoinsTheRowsOfSeveralBatches) {
  const auto batch = Batch({{"a", arrow::int64(), "[0, 1, 2, 3, 4]"}});
  const auto pieces = Run(Cut(batch, 2), {1, 0, 1, 1, 0}, 2);
  ASSERT_EQ(pieces.size(), 2);
  ExpectBatch(pieces[0].rows, Batch({{"a", arrow::int64(), "[1, 4]"}}));
  ExpectBatch(pieces[1].rows, Batch({{"a", arrow::int64(), "[0, 2, 3]"}}));
}

TEST_F(ScatterTest, CopiesNothingForOneDestination) {
  const auto batch = Batch({{"a", arrow::int64(), "[5, 6]"}});
  const auto pieces = Run({batch, batch->Slice(0, 0), batch}, {1, 1, 1, 1}, 2);
  ASSERT_EQ(pieces.size(), 2);
  EXPECT_EQ(pieces[0].rows, batch);
  EXPECT_EQ(pieces[1].destination, 1);
}

TEST_F(ScatterTest, GivesNoRowsForNoInput) {
  EXPECT_TRUE(Run({Batch({{"a", arrow::int64(), "[]"}})}, {}, 3).empty());
  EXPECT_TRUE(Run({}, {}, 3).empty());
}

TEST_F(ScatterTest, UnifiesDifferentDictionaries) {
  const auto type = arrow::dictionary(arrow::int32(), arrow::large_utf8());
  const auto column = [&](const std::string& indices, const std::string& values) {
    return Get(arrow::DictionaryArray::FromArrays(type, Json(arrow::int32(), indices),
                                                  Json(arrow::large_utf8(), values)));
  };
  const auto left = Batch({{"a", column("[0, 1, null]", R"(["x", "y"])")}});
  const auto right = Batch({{"a", column("[0, 1, 0]", R"(["y", "z"])")}});
  const auto pieces = Run({left, right}, {0, 1, 1, 0, 1, 1}, 2);
  ASSERT_EQ(pieces.size(), 2);
  const auto values = [&](const ScatteredRows& piece) {
    const auto& encoded =
        static_cast<const arrow::DictionaryArray&>(*piece.rows->column(0));
    return Get(Gather(encoded.dictionary(), encoded.indices(), context_.pool));
  };
  ExpectArray(values(pieces[0]), Json(arrow::large_utf8(), R"(["x", "y"])"));
  ExpectArray(values(pieces[1]), Json(arrow::large_utf8(), R"(["y", null, "z", "y"])"));
}

// Columns of every shape, cut anywhere, against Arrow's take.
TEST_F(ScatterTest, MovesEveryType) {
  std::mt19937 random(17);
  const auto random_column = [&](const std::shared_ptr<arrow::DataType>& type,
                                 const std::vector<std::string>& values, int64_t length) {
    std::string json = "[";
    for (int64_t i = 0; i < length; ++i) {
      json += (i == 0 ? "" : ",");
      json += random() % 5 == 0 ? "null" : values[random() % values.size()];
    }
    return Json(type, json + "]");
  };
  const std::vector<std::string> numbers = {"1", "2", "100", "7"};
  const std::vector<std::string> texts = {R"("")",
                                          R"("a")",
                                          R"("ab")",
                                          R"("abcd")",
                                          R"("abcdefgh")",
                                          R"("ünïcode")",
                                          R"("more than sixteen bytes of text")"};
  const int64_t length = 300;
  std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>> columns;
  const auto add = [&](const std::shared_ptr<arrow::DataType>& type,
                       const std::vector<std::string>& values) {
    columns.emplace_back(type->ToString(), random_column(type, values, length));
  };
  for (const auto& type :
       {arrow::int8(), arrow::uint16(), arrow::int32(), arrow::int64(), arrow::float32(),
        arrow::float64(), arrow::date32(), arrow::timestamp(arrow::TimeUnit::NANO)}) {
    add(type, numbers);
  }
  add(arrow::boolean(), {"true", "false"});
  add(arrow::utf8(), texts);
  add(arrow::large_utf8(), texts);
  add(arrow::large_binary(), texts);
  add(arrow::null(), {"null"});
  add(arrow::fixed_size_binary(3), {R"("abc")", R"("xyz")"});
  add(arrow::decimal128(10, 2), {R"("1.25")", R"("-3.00")"});
  add(arrow::decimal256(40, 2), {R"("1.25")", R"("-3.00")"});
  add(arrow::list(arrow::int64()), {"[]", "[1, null]", "[2, 3, 4]"});
  add(arrow::struct_({arrow::field("x", arrow::int64())}),
      {R"({"x": 1})", R"({"x": 2})"});
  add(arrow::dictionary(arrow::int8(), arrow::large_utf8()), texts);
  columns.emplace_back("no nulls", Column(std::vector<int64_t>(length, 3)));

  const auto whole = Batch(columns)->Slice(3);
  for (int32_t num_destinations : {2, 7, 400}) {
    std::vector<int32_t> destinations;
    for (int64_t i = 0; i < whole->num_rows(); ++i) {
      destinations.push_back(static_cast<int32_t>(random()) & 1023);
      destinations.back() %= num_destinations;
    }
    for (int64_t rows : {1, 37, 64, 1000}) {
      ExpectScattered(Cut(whole, rows), destinations, num_destinations);
    }
  }
}

}  // namespace
}  // namespace xshards::ops
