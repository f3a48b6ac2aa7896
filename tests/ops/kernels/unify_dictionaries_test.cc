// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/unify_dictionaries.h"

#include <arrow/array/array_dict.h>

#include "tests/ops/operator_fixture.h"
#include "xshards/types/dictionary_encoding.h"

namespace xshards::ops {
namespace {

std::shared_ptr<arrow::Array> Encode(const std::string& places,
                                     const std::string& values) {
  return Get(arrow::DictionaryArray::FromArrays(
      arrow::dictionary(arrow::int32(), arrow::large_utf8()),
      Json(arrow::int32(), places), Json(arrow::large_utf8(), values)));
}

void ExpectValues(const std::shared_ptr<arrow::ArrayData>& data,
                  const std::string& json) {
  const auto array = arrow::MakeArray(data);
  Check(array->ValidateFull());
  const auto values = Get(DecodeValues(static_cast<const arrow::DictionaryArray&>(*array),
                                       arrow::default_memory_pool()));
  EXPECT_TRUE(values->Equals(*Json(arrow::large_utf8(), json))) << values->ToString();
}

TEST(SharedDictionary, HasTheValuesOfAll) {
  const auto first = Encode("[1, null, 0]", R"(["a", "b"])");
  arrow::ArrayDataVector arrays = {
      first->data(), Encode("[0, 1, 2]", R"(["c", "b", "é"])")->Slice(1)->data(),
      first->Slice(2)->data(), Encode("[]", "[]")->data(),
      Encode("[null]", "[]")->data()};
  Check(ShareDictionary(&arrays, arrow::default_memory_pool()));
  for (const auto& array : arrays) EXPECT_EQ(array->dictionary, arrays[0]->dictionary);
  EXPECT_EQ(arrays[0]->dictionary->length, 4);
  ExpectValues(arrays[0], R"(["b", null, "a"])");
  ExpectValues(arrays[1], R"(["b", "é"])");
  ExpectValues(arrays[2], R"(["a"])");
  ExpectValues(arrays[3], "[]");
  ExpectValues(arrays[4], "[null]");
}

TEST(SharedDictionary, KeepsSharedDictionariesAndOtherTypes) {
  const auto encoded = Encode("[1, 0]", R"(["a", "b"])");
  arrow::ArrayDataVector arrays = {encoded->data(), encoded->Slice(1)->data()};
  const auto before = arrays;
  Check(ShareDictionary(&arrays, arrow::default_memory_pool()));
  EXPECT_EQ(arrays, before);
  arrays = {Json(arrow::int64(), "[1]")->data(), Json(arrow::int64(), "[2]")->data()};
  const auto numbers = arrays;
  Check(ShareDictionary(&arrays, arrow::default_memory_pool()));
  EXPECT_EQ(arrays, numbers);
  arrays.clear();
  Check(ShareDictionary(&arrays, arrow::default_memory_pool()));
}

}  // namespace
}  // namespace xshards::ops
