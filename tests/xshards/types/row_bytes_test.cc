// SPDX-License-Identifier: Apache-2.0
#include "xshards/types/row_bytes.h"

#include <arrow/array/builder_primitive.h>
#include <arrow/array/util.h>
#include <arrow/json/from_string.h>
#include <arrow/util/byte_size.h>
#include <gtest/gtest.h>

namespace xshards {
namespace {

std::shared_ptr<arrow::Array> Json(const std::shared_ptr<arrow::DataType>& type,
                                   const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

TEST(RowBytes, AgreeWithArrow) {
  const arrow::ArrayVector columns = {
      Json(arrow::int64(), "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"),
      Json(arrow::int64(), "[1, null, 3, 4, 5, 6, 7, 8, 9, 10]"),
      Json(arrow::int8(), "[1, 2, 3, null, 5, 6, 7, 8, 9, 10]"),
      Json(arrow::boolean(),
           "[true, false, null, true, true, true, false, true, true, true]"),
      Json(arrow::timestamp(arrow::TimeUnit::MICRO), "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"),
      Json(arrow::large_utf8(),
           R"(["a", "bc", null, "", "e", "f", "g", "a long text", "i", "j"])"),
      Json(arrow::large_list(arrow::int32()),
           "[[1], [], null, [2, 3], [4], [5], [6], [7], [8], [9, 10, 11]]"),
      Json(arrow::dictionary(arrow::int32(), arrow::large_utf8()),
           R"(["a", "b", null, "a", "b", "a", "a", "a", "c", "c"])"),
      Json(arrow::null(), "[null, null, null, null, null, null, null, null, null, null]"),
  };
  arrow::FieldVector fields;
  for (size_t i = 0; i < columns.size(); ++i) {
    fields.push_back(arrow::field(std::to_string(i), columns[i]->type()));
  }
  const auto batch = arrow::RecordBatch::Make(arrow::schema(fields), 10, columns);
  for (int64_t begin : {0, 1, 3, 8, 10}) {
    for (int64_t length : {0, 1, 5, 10}) {
      const auto slice = batch->Slice(begin, length);
      for (int i = 0; i < slice->num_columns(); ++i) {
        SCOPED_TRACE(slice->column(i)->type()->ToString() + " " + std::to_string(begin) +
                     " " + std::to_string(length));
        EXPECT_EQ(RowBytes(*slice->column_data(i)),
                  arrow::util::ReferencedBufferSize(*slice->column(i)).ValueOrDie());
      }
      EXPECT_EQ(RowBytes(*slice), arrow::util::ReferencedBufferSize(*slice).ValueOrDie());
    }
  }
}

}  // namespace
}  // namespace xshards
