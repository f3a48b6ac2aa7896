// SPDX-License-Identifier: Apache-2.0
#include "learn/feed/tensor_block.h"

#include <cmath>
#include <vector>

#include <arrow/array.h>
#include <arrow/type.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards::learn {
namespace {

using ::testing::ElementsAre;
using ::xshards::testing::Batch;

template <typename T>
std::vector<T> Values(const Tensor& tensor) {
  const auto* first = reinterpret_cast<const T*>(tensor.data->data());
  return {first, first + tensor.data->size() / static_cast<int64_t>(sizeof(T))};
}

arrow::Result<TensorBlock> Make(const std::vector<TensorSpec>& specs,
                                const arrow::RecordBatch& batch) {
  return ToTensors(specs, batch, arrow::default_memory_pool());
}

std::shared_ptr<arrow::Schema> Schema(
    const std::vector<std::shared_ptr<arrow::Field>>& fields) {
  return arrow::schema(fields);
}

TEST(TensorBlockTest, OneColumnOfTheRightTypeIsNotCopied) {
  const auto batch = Batch(Schema({arrow::field("a", arrow::float32())}),
                           R"([{"a": 1}, {"a": 2}, {"a": 3}])");
  ASSERT_OK_AND_ASSIGN(auto block, Make({{.columns = {"a"}}}, *batch->Slice(1, 2)));
  EXPECT_EQ(block.num_rows, 2);
  EXPECT_EQ(block.tensors[0].row, (RowLayout{TensorType::kFloat32, {}}));
  EXPECT_THAT(Values<float>(block.tensors[0]), ElementsAre(2, 3));
  const uint8_t* column = batch->column_data(0)->buffers[1]->data();
  EXPECT_EQ(block.tensors[0].data->data(), column + sizeof(float));
}

TEST(TensorBlockTest, ColumnsAreCastAndStacked) {
  const auto batch = Batch(
      Schema({arrow::field("a", arrow::int64()), arrow::field("b", arrow::boolean()),
              arrow::field("c", arrow::float64())}),
      R"([{"a": 1, "b": true, "c": 0.5},
                               {"a": 2, "b": false, "c": null}])");
  const std::vector<TensorSpec> specs = {
      {.columns = {"c", "a", "b"}, .type = TensorType::kFloat32},
      {.columns = {"a", "b"}}};
  ASSERT_OK_AND_ASSIGN(auto block, Make(specs, *batch));
  EXPECT_EQ(block.tensors[0].row, (RowLayout{TensorType::kFloat32, {3}}));
  const auto values = Values<float>(block.tensors[0]);
  EXPECT_THAT(std::vector<float>(values.begin(), values.begin() + 3),
              ElementsAre(0.5, 1, 1));
  EXPECT_TRUE(std::isnan(values[3]));
  EXPECT_THAT(std::vector<float>(values.begin() + 4, values.end()), ElementsAre(2, 0));
  EXPECT_THAT(Values<int64_t>(block.tensors[1]), ElementsAre(1, 1, 2, 0));
}

// More rows than are interleaved at once.
TEST(TensorBlockTest, ManyRowsKeepTheirOrder) {
  const auto batch = xshards::testing::Numbered(5000);
  const std::vector<TensorSpec> specs = {
      {.columns = {"id", "id"}, .type = TensorType::kInt32}};
  ASSERT_OK_AND_ASSIGN(auto block, Make(specs, *batch->Slice(7, 4990)));
  const auto values = Values<int32_t>(block.tensors[0]);
  ASSERT_EQ(values.size(), 2U * 4990U);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(values[i], 7 + static_cast<int32_t>(i / 2)) << i;
  }
}

TEST(TensorBlockTest, ListColumnGivesTensorRowsOfItsLength) {
  const auto lists = arrow::list(arrow::float64());
  const auto fixed = arrow::fixed_size_list(arrow::fixed_size_list(arrow::int32(), 2), 1);
  const auto batch = Batch(Schema({arrow::field("l", lists), arrow::field("f", fixed)}),
                           R"([{"l": [9, 9], "f": [[9, 9]]}, {"l": [1, 2], "f": [[3, 4]]},
                {"l": [5, 6], "f": [[7, 8]]}])");
  ASSERT_OK_AND_ASSIGN(
      auto block, Make({{.columns = {"l"}}, {.columns = {"f"}}}, *batch->Slice(1, 2)));
  EXPECT_EQ(block.tensors[0].row, (RowLayout{TensorType::kFloat64, {2}}));
  EXPECT_THAT(Values<double>(block.tensors[0]), ElementsAre(1, 2, 5, 6));
  EXPECT_EQ(block.tensors[1].row, (RowLayout{TensorType::kInt32, {1, 2}}));
  EXPECT_THAT(Values<int32_t>(block.tensors[1]), ElementsAre(3, 4, 7, 8));
}

TEST(TensorBlockTest, ErrorsNameTheColumn) {
  const auto batch =
      Batch(Schema({arrow::field("city", arrow::large_utf8()),
                    arrow::field("n", arrow::int64()),
                    arrow::field("l", arrow::list(arrow::int64()))}),
            R"([{"city": "Oslo", "n": null, "l": [1]}, {"city": "", "n": 1, "l": []}])");
  EXPECT_FAILS(KeyError, "no column 'x'", Make({{.columns = {"x"}}}, *batch));
  EXPECT_FAILS(TypeError, "column 'city'", Make({{.columns = {"city"}}}, *batch));
  EXPECT_FAILS(Invalid, "column 'n' has 1 missing", Make({{.columns = {"n"}}}, *batch));
  EXPECT_FAILS(Invalid, "row 0 has 1 values and row 1 has 0",
               Make({{.columns = {"l"}}}, *batch));
  EXPECT_FAILS(TypeError, "cannot be stacked",
               Make({{.columns = {"n", "l"}}}, *batch->Slice(0, 1)));
  EXPECT_FAILS(Invalid, "a tensor needs a column", Make({{.columns = {}}}, *batch));
}

TEST(TensorBlockTest, AnUnsignedValueThatDoesNotFitIsAnError) {
  const auto batch = Batch(Schema({arrow::field("u", arrow::uint64())}),
                           R"([{"u": 1}, {"u": 9223372036854775808}])");
  ASSERT_OK_AND_ASSIGN(auto block, Make({{.columns = {"u"}}}, *batch->Slice(0, 1)));
  EXPECT_THAT(Values<int64_t>(block.tensors[0]), ElementsAre(1));
  EXPECT_FAILS(Invalid, "column 'u' holds 9223372036854775808",
               Make({{.columns = {"u"}}}, *batch));
}

TEST(TensorBlockTest, NoRowsGiveEmptyTensors) {
  const auto batch = Batch(Schema({arrow::field("a", arrow::int64())}), "[]");
  ASSERT_OK_AND_ASSIGN(auto block, Make({{.columns = {"a", "a"}}}, *batch));
  EXPECT_EQ(block.num_rows, 0);
  EXPECT_EQ(block.tensors[0].data->size(), 0);
}

TEST(TensorBlockTest, TensorsPayloadIsShared) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const auto data = arrow::Buffer::Wrap(values);
  ASSERT_OK_AND_ASSIGN(auto payload, Payload::Tensors({{"<f4", {3, 2}, data}}, "0"));
  ASSERT_OK_AND_ASSIGN(auto block, ToTensors(payload));
  EXPECT_EQ(block.num_rows, 3);
  const auto slice = block.Slice(1, 2);
  EXPECT_EQ(slice.tensors[0].data->data(), data->data() + 2 * sizeof(float));
  EXPECT_THAT(Values<float>(slice.tensors[0]), ElementsAre(3, 4, 5, 6));

  ASSERT_OK_AND_ASSIGN(
      auto uneven, Payload::Tensors({{"<f4", {3, 2}, data}, {"<f4", {6}, data}}, "0"));
  EXPECT_FAILS(Invalid, "array 0 has 3 and array 1 has 6", ToTensors(uneven));
  ASSERT_OK_AND_ASSIGN(auto scalar, Payload::Tensors({{"<f4", {}, data}}, "0"));
  EXPECT_FAILS(Invalid, "array 0 of a shard is a scalar", ToTensors(scalar));
}

}  // namespace
}  // namespace xshards::learn
