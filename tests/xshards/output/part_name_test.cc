// SPDX-License-Identifier: Apache-2.0
#include "xshards/output/part_name.h"

#include <gtest/gtest.h>

namespace xshards {
namespace {

TEST(PartName, HasFiveDigitsOrMore) {
  EXPECT_EQ(PartName(3, "csv"), "part-00003.csv");
  EXPECT_EQ(PartName(1234567, "ipc"), "part-1234567.arrow");
}

TEST(PartName, GivesItsNumber) {
  EXPECT_EQ(PartNumber("part-00012.csv.gz"), 12);
  EXPECT_EQ(PartNumber("part-00012-5af1.csv"), 12);
  EXPECT_EQ(PartNumber("part-.csv"), -1);
  EXPECT_EQ(PartNumber("other-1.csv"), -1);
  EXPECT_EQ(PartNumber(""), -1);
}

TEST(PartName, TakesAnotherNumberAndAMark) {
  EXPECT_EQ(RenumberPart("part-00000.csv.gz", 7), "part-00007.csv.gz");
  EXPECT_EQ(RenumberPart("part-00000.csv", 7, "5af1"), "part-00007-5af1.csv");
  EXPECT_EQ(RenumberPart("part-0", 100000), "part-100000");
}

}  // namespace
}  // namespace xshards
