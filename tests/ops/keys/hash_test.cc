// SPDX-License-Identifier: Apache-2.0
#include "ops/keys/hash.h"

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "tests/ops/operator_fixture.h"

namespace xshards::ops {
namespace {

class Hash : public OperatorTest {
 protected:
  std::vector<uint64_t> Of(const arrow::ArrayVector& columns) {
    return Get(HashRows(columns, columns.at(0)->length(), context_.pool));
  }
  std::vector<uint64_t> Of(const std::shared_ptr<arrow::DataType>& type,
                           const std::string& json) {
    return Of({Json(type, json)});
  }
};

// Data partitioned by one version is joined with data partitioned by another: these
// values never change. They were computed by a second implementation, in Python.
TEST_F(Hash, IsStableAcrossVersions) {
  EXPECT_EQ(Of(arrow::int64(), "[null, 0, 1, -1]"),
            (std::vector<uint64_t>{0xea6ca34600738add, 0xe9afd0abe79c92e2,
                                   0xacb0f9df2004824b, 0xa453dd4907897d33}));
  EXPECT_EQ(Of(arrow::uint64(), "[9223372036854775808]").at(0), 0xb1541f3b2e2d664f);
  EXPECT_EQ(Of(arrow::float64(), "[0.5]").at(0), 0x8306f153f024c2dc);
  EXPECT_EQ(Of(arrow::timestamp(arrow::TimeUnit::SECOND), "[1]").at(0),
            0xd02edf3c42903fbb);
  EXPECT_EQ(HashBytes("", 0), 0x3c69769e230bde29);
  EXPECT_EQ(HashBytes("a", 1), 0x5bac8ce35a51dfaa);
  EXPECT_EQ(HashBytes("abc", 3), 0x60e5aaffe0e2122d);
  EXPECT_EQ(HashBytes("abcde", 5), 0x7f81750047c7328e);
  EXPECT_EQ(HashBytes("0123456789abcdef", 16), 0xb65ed8fa2d768369);
  EXPECT_EQ(HashBytes("0123456789abcdefg", 17), 0x26376571470677f);
  EXPECT_EQ(HashBytes(std::string(33, 'x').data(), 33), 0x2330b44c5bb78aa6);
  EXPECT_EQ(Of(arrow::large_utf8(), R"(["κόσμε"])").at(0), 0x8366edb56fa228d6);
  EXPECT_EQ(Of({Json(arrow::int8(), "[1]"), Json(arrow::utf8(), R"(["a"])")}).at(0),
            0x68b089bb0c2db389);
}

TEST_F(Hash, DoesNotDependOnTheWidthOfNumbers) {
  const auto expected = Of(arrow::int64(), "[0, 1, 100, null]");
  for (const auto& type :
       {arrow::int8(), arrow::int16(), arrow::int32(), arrow::uint8(), arrow::uint16(),
        arrow::uint32(), arrow::uint64(), arrow::float32(), arrow::float64()}) {
    EXPECT_EQ(Of(type, "[0, 1, 100, null]"), expected) << type->ToString();
  }
  EXPECT_EQ(Of(arrow::int8(), "[-7]"), Of(arrow::int64(), "[-7]"));
  EXPECT_EQ(Of(arrow::boolean(), "[false, true]"), Of(arrow::int64(), "[0, 1]"));
  EXPECT_NE(Of(arrow::int64(), "[-1]"), Of(arrow::uint64(), "[18446744073709551615]"));
}

TEST_F(Hash, IsEqualForAllMissingValuesAndForSignedZeros) {
  const auto hashes =
      Of({Column(std::vector<double>{0.0, -0.0, std::nan(""), -std::nan("1"), 1.5},
                 {true, true, true, true, false})});
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[2], hashes[3]);
  EXPECT_EQ(hashes[2], hashes[4]);
  EXPECT_EQ(Of(arrow::null(), "[null]").at(0), hashes[4]);
  EXPECT_EQ(Of(arrow::large_utf8(), "[null]").at(0), hashes[4]);
}

TEST_F(Hash, DoesNotDependOnTheEncoding) {
  const auto plain = Of(arrow::large_utf8(), R"(["x", "", null, "x"])");
  for (const auto& type :
       {arrow::utf8(), arrow::binary(), arrow::large_binary(), arrow::utf8_view(),
        arrow::binary_view(), arrow::dictionary(arrow::int8(), arrow::large_utf8())}) {
    EXPECT_EQ(Of(type, R"(["x", "", null, "x"])"), plain) << type->ToString();
  }
}

TEST_F(Hash, DoesNotDependOnTheTimeUnit) {
  const auto seconds = Of(arrow::timestamp(arrow::TimeUnit::SECOND), "[86400, null]");
  EXPECT_EQ(Of(arrow::timestamp(arrow::TimeUnit::MILLI), "[86400000, null]"), seconds);
  EXPECT_EQ(Of(arrow::timestamp(arrow::TimeUnit::NANO), "[86400000000000, null]"),
            seconds);
  EXPECT_EQ(Of(arrow::date32(), "[1, null]"), seconds);
  EXPECT_EQ(Of(arrow::date64(), "[86400000, null]"), seconds);
  // Out of range of nanoseconds.
  EXPECT_EQ(Of(arrow::timestamp(arrow::TimeUnit::SECOND), "[99999999999]"),
            Of(arrow::timestamp(arrow::TimeUnit::MILLI), "[99999999999000]"));
}

TEST_F(Hash, OfASliceIsThatOfItsRows) {
  const auto whole = Json(arrow::list(arrow::float64()), "[[1], [], null, [2, NaN]]");
  const auto all = Of({whole});
  EXPECT_EQ(Of({whole->Slice(1, 3)}),
            (std::vector<uint64_t>(all.begin() + 1, all.end())));
}

TEST_F(Hash, CoversNestedValues) {
  const auto type = arrow::struct_(
      {arrow::field("a", arrow::int32()), arrow::field("b", arrow::list(arrow::utf8()))});
  const auto hashes = Of(type, R"([{"a": 1, "b": ["x", "y"]}, {"a": 1, "b": ["x", "y"]},
                                   {"a": 1, "b": ["xy"]}, {"a": 1, "b": []},
                                   {"a": 1, "b": null}, null])");
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(std::set<uint64_t>(hashes.begin(), hashes.end()).size(), 5);
}

TEST_F(Hash, DependsOnTheOrderOfColumns) {
  const auto one = Json(arrow::int64(), "[1]");
  const auto two = Json(arrow::int64(), "[2]");
  EXPECT_NE(Of({one, two}), Of({two, one}));
}

TEST_F(Hash, SpreadsNearbyKeysEvenly) {
  std::vector<int64_t> values(1 << 16);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i) * 64;
  std::vector<int> counts(64);
  for (uint64_t hash : Of({Column(values)})) ++counts[hash >> 58];
  for (int count : counts) EXPECT_NEAR(count, 1024, 200);
}

TEST_F(Hash, NamesATypeThatCannotBeAKey) {
  const auto column = Json(arrow::month_day_nano_interval(), "[[1, 2, 3]]");
  EXPECT_FAILS(NotImplemented, "interval", HashRows({column}, 1, context_.pool));
}

}  // namespace
}  // namespace xshards::ops
