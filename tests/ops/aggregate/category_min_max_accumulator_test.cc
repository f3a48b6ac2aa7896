// SPDX-License-Identifier: Apache-2.0
#include "ops/aggregate/accumulator.h"
#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class CategoryAccumulator : public OperatorTest {
 protected:
  std::unique_ptr<Accumulator> Make(const std::string& function, size_t num_groups) {
    AccumulatorOptions options{.function = function,
                               .input_type = arrow::large_utf8(),
                               .output_type = arrow::large_utf8(),
                               .categories = Strings({"small", "big", "Huge"}),
                               .pool = context_.pool};
    auto accumulator = Get(MakeAccumulator(options));
    accumulator->Resize(num_groups);
    return accumulator;
  }
};

TEST_F(CategoryAccumulator, GoesByTheOrderOfTheCategories) {
  const auto values = Strings({"big", "small", "Huge", ""}, {true, true, true, false});
  for (const auto& [function, expected] :
       {std::pair("min", Strings({"small", "Huge", ""}, {true, true, false})),
        std::pair("max", Strings({"big", "Huge", ""}, {true, true, false}))}) {
    auto accumulator = Make(function, 3);
    ASSERT_OK(accumulator->Consume(values, {0, 0, 1, 2}));
    ExpectArray(Get(accumulator->Finish()), expected);
  }
}

TEST_F(CategoryAccumulator, MergesItsStates) {
  auto part = Make("max", 2);
  ASSERT_OK(part->Consume(Strings({"small", "big"}), {0, 1}));
  auto whole = Make("max", 2);
  ASSERT_OK(whole->Consume(Strings({"Huge"}), {0}));
  ASSERT_OK(whole->Merge(Get(part->States()), {1, 0}));
  ExpectArray(Get(whole->Finish()), Strings({"Huge", "small"}));
}

TEST_F(CategoryAccumulator, ReadsDictionariesOfAnyOrder) {
  auto type = arrow::dictionary(arrow::int8(), arrow::large_utf8());
  auto values = Get(arrow::DictionaryArray::FromArrays(
      type, Json(arrow::int8(), "[1, 0]"), Strings({"Huge", "small"})));
  auto accumulator = Make("max", 1);
  ASSERT_OK(accumulator->Consume(values, {0, 0}));
  ExpectArray(Get(accumulator->Finish()), Strings({"Huge"}));
}

}  // namespace
}  // namespace xshards::ops
