// SPDX-License-Identifier: Apache-2.0
#include "xshards/output/output_directory.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards {
namespace {

using testing::TemporaryDirectory;

// Write a staged file; returns its name.
std::string Stage(OutputDirectory& output, const std::string& name) {
  std::ofstream(output.StagedPath(name)) << "text";
  return name;
}

TEST(OutputDirectory, AppearsCompleteWhenPublished) {
  TemporaryDirectory root;
  ASSERT_OK_AND_ASSIGN(auto output, OutputDirectory::Make(root.File("a/out")));
  const auto staged = Stage(*output, "part-0");
  EXPECT_FALSE(std::filesystem::exists(root.File("a/out")));
  ASSERT_OK_AND_ASSIGN(auto paths, output->Publish({staged}));
  EXPECT_EQ(paths, (std::vector<std::string>{root.File("a/out") + "/part-0"}));
  EXPECT_TRUE(std::filesystem::exists(paths[0]));
}

TEST(OutputDirectory, LeavesNothingWhenNotPublished) {
  TemporaryDirectory root;
  {
    ASSERT_OK_AND_ASSIGN(auto output, OutputDirectory::Make(root.File("out")));
    Stage(*output, "part-0");
  }
  EXPECT_TRUE(root.List().empty());
}

TEST(OutputDirectory, AcceptsOnlyAnEmptyDirectory) {
  TemporaryDirectory root;
  std::filesystem::create_directory(root.File("out"));
  {
    ASSERT_OK_AND_ASSIGN(auto output, OutputDirectory::Make(root.File("out/")));
    ASSERT_OK(output->Publish({Stage(*output, "part-0")}));
  }
  EXPECT_FAILS(IOError, "the directory is not empty",
               OutputDirectory::Make(root.File("out")));
  EXPECT_FAILS(IOError, "it is a file", OutputDirectory::Make(root.Write("file", "")));
}

TEST(OutputDirectory, OverwritesOnlyWhenPublished) {
  TemporaryDirectory root;
  const auto out = root.File("out");
  {
    ASSERT_OK_AND_ASSIGN(auto output, OutputDirectory::Make(out));
    ASSERT_OK(output->Publish(
        {Stage(*output, "part-00000.csv"), Stage(*output, "part-00001.csv")}));
  }
  {
    ASSERT_OK_AND_ASSIGN(auto failed, OutputDirectory::Make(out, WriteMode::kOverwrite));
    Stage(*failed, "part-00000.csv");
  }
  EXPECT_TRUE(std::filesystem::exists(out + "/part-00001.csv"));
  {
    ASSERT_OK_AND_ASSIGN(auto output, OutputDirectory::Make(out, WriteMode::kOverwrite));
    ASSERT_OK(output->Publish({Stage(*output, "part-00000.csv")}));
  }
  EXPECT_TRUE(std::filesystem::exists(out + "/part-00000.csv"));
  EXPECT_FALSE(std::filesystem::exists(out + "/part-00001.csv"));
  EXPECT_EQ(root.List().size(), 1);
}

TEST(OutputDirectory, ContinuesTheNumberingOfAppendedFiles) {
  TemporaryDirectory root;
  const auto out = root.File("out");
  for (int run = 0; run < 3; ++run) {
    ASSERT_OK_AND_ASSIGN(auto output, OutputDirectory::Make(out, WriteMode::kAppend));
    ASSERT_OK_AND_ASSIGN(auto paths, output->Publish({Stage(*output, "part-00000.csv"),
                                                      Stage(*output, "part-00001.csv")}));
    EXPECT_EQ(paths[1], out + "/part-0000" + std::to_string(2 * run + 1) + ".csv");
    EXPECT_TRUE(std::filesystem::exists(paths[0]));
  }
  EXPECT_EQ(root.List().size(), 1);
  EXPECT_FAILS(Invalid, "'replace'", WriteModeFromName("replace"));
}

}  // namespace
}  // namespace xshards
