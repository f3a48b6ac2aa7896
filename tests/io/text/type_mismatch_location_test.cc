// SPDX-License-Identifier: Apache-2.0
#include "io/text/type_mismatch_location.h"

#include <filesystem>

#include "io/csv/plan/type_inference.h"
#include "io/csv/scan_options.h"
#include "io/json/type_inference.h"
#include "io/options/option_codec.h"
#include "tests/io/scan_fixture.h"

namespace xshards::io {
namespace {

class TypeMismatchLocationTest : public IoTest {
 protected:
  // A scan of some files, which need not be there.
  static ScanNode ScanFiles(const std::vector<std::string>& paths,
                            const CsvOptions& options = {}) {
    ScanNode scan;
    scan.options = MakeOptions(CsvScanOptions{.csv = options});
    for (const auto& path : paths) scan.splits.push_back(Split{.path = path});
    return scan;
  }
  static TypeMismatchLocation PlaceIn(const std::string& path, int64_t begin,
                                      int64_t offset, const std::string& value = "x") {
    return {value, "a", path, begin, offset};
  }
  arrow::MemoryPool* pool() const { return context_->memory_pool(); }
};

TEST_F(TypeMismatchLocationTest, IsADetailOfTheStatus) {
  const auto status = TypeMismatchAt("x", "a", "a.csv", {.begin = 0, .offset = 7});
  EXPECT_FAILS(Invalid,
               "The value 'x' of column 'a' in 'a.csv', byte 0+7, does not fit the type "
               "that samples of the file suggested",
               status);
  // Whoever adds to the message keeps it.
  const auto longer = status.WithMessage("On partition 3: ", status.message());
  const auto* place = TypeMismatchLocation::Of(longer);
  ASSERT_NE(place, nullptr);
  EXPECT_EQ(place->value(), "x");
  EXPECT_EQ(place->column(), "a");
  EXPECT_EQ(place->path(), "a.csv");
  EXPECT_EQ(place->begin(), 0);
  EXPECT_EQ(place->offset(), 7);
}

TEST_F(TypeMismatchLocationTest, IsNotReadFromMessages) {
  const auto status = TypeMismatchAt("x", "a", "a.csv", {});
  EXPECT_EQ(TypeMismatchLocation::Of(arrow::Status::Invalid(status.message())), nullptr);
  EXPECT_EQ(TypeMismatchLocation::Of(arrow::Status::OK()), nullptr);
}

TEST_F(TypeMismatchLocationTest, ShowsTheBeginningOfALongValueAndNothingOfAnEmptyOne) {
  const auto of_long = TypeMismatchAt(std::string(1000, 'x'), "a", "a.csv", {});
  ASSERT_NE(TypeMismatchLocation::Of(of_long), nullptr);
  EXPECT_EQ(TypeMismatchLocation::Of(of_long)->value(), std::string(100, 'x'));
  const auto of_none = TypeMismatchAt("", "a", "a.csv", {.begin = 3});
  ASSERT_NE(TypeMismatchLocation::Of(of_none), nullptr);
  EXPECT_EQ(TypeMismatchLocation::Of(of_none)->ToString(),
            "of column 'a' in 'a.csv', byte 3+0");
}

TEST_F(TypeMismatchLocationTest, CountsTheLineInTheFileThatItIsIn) {
  const auto other = Write("other.csv", "a\n1\n2\n3\n");
  const auto path = Write("a.csv", "a\n1\nx\n");
  const auto scan = ScanFiles({other, path});
  EXPECT_EQ(DescribeCsvPlace(scan, PlaceIn(path, 0, 4), pool()),
            "'x' of column 'a' in '" + path +
                "', line 3; to read such values as missing, list them in na_values");
  // A split need not begin with the file.
  EXPECT_EQ(DescribeJsonPlace(scan, PlaceIn(path, 4, 0, ""), pool()),
            "of column 'a' in '" + path + "', line 3");
  const auto one = Write("one.csv", "x");
  EXPECT_EQ(DescribeJsonPlace(ScanFiles({one}), PlaceIn(one, 0, 0), pool()),
            "'x' of column 'a' in '" + one + "', line 1");
}

TEST_F(TypeMismatchLocationTest, CountsTheLineOfDecodedText) {
  CsvOptions options;
  options.encoding = TextEncoding::kLatin1;
  const auto path = Write("a.csv", "a\n\xe4\xf6\xfc\n1\n");
  // Each of the three is two bytes of UTF-8.
  EXPECT_EQ(DescribeCsvPlace(ScanFiles({path}, options), PlaceIn(path, 0, 9), pool()),
            "'x' of column 'a' in '" + path +
                "', line 3; to read such values as missing, list them in na_values");
}

TEST_F(TypeMismatchLocationTest, IsFoundForAnyNamesAndValues) {
  const auto path = Write("b', byte 9+9 in 'c, line 7.csv", "1\n2\n\xc3\xa4\n");
  const std::string value = "x, does not fit the type that samples of the file suggested";
  const TypeMismatchLocation place(value, "k\xc3\xa4se' in 'b.csv', byte 1+1", path, 0,
                                   4);
  EXPECT_EQ(DescribeJsonPlace(ScanFiles({"b.csv", path}), place, pool()),
            "'" + value + "' of column 'k\xc3\xa4se' in 'b.csv', byte 1+1' in '" + path +
                "', line 3");
}

TEST_F(TypeMismatchLocationTest, IsNotDescribedIfTheFileCannotBeRead) {
  const auto path = Write("a.csv", "a\n1\nx\n");
  EXPECT_EQ(DescribeCsvPlace(ScanFiles({}), PlaceIn(path, 0, 4), pool()), std::nullopt);
  EXPECT_EQ(DescribeCsvPlace(ScanFiles({path + "x"}), PlaceIn(path, 0, 4), pool()),
            std::nullopt);
  const auto scan = ScanFiles({path});
  std::filesystem::remove(path);
  EXPECT_EQ(DescribeCsvPlace(scan, PlaceIn(path, 0, 4), pool()), std::nullopt);
  EXPECT_EQ(DescribeJsonPlace(scan, PlaceIn(path, 0, 4), pool()), std::nullopt);
}

}  // namespace
}  // namespace xshards::io
