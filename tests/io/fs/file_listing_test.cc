// SPDX-License-Identifier: Apache-2.0
#include "io/fs/file_listing.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards::io {
namespace {

using ::testing::ElementsAre;

class FileListing : public ::testing::Test {
 protected:
  // Names relative to the directory.
  std::vector<std::string> List(const std::string& path) {
    return ListAll({directory_.File(path)});
  }
  std::vector<std::string> ListAll(const std::vector<std::string>& paths) {
    const auto files = ListFiles(paths);
    if (!files.ok()) return {files.status().ToString()};
    std::vector<std::string> names;
    for (const auto& file : *files) {
      names.push_back(file.path.substr(directory_.path().size() + 1));
    }
    return names;
  }
  void Write(const std::string& name, const std::string& text = "x") {
    std::filesystem::create_directories(
        std::filesystem::path(directory_.File(name)).parent_path());
    directory_.Write(name, text);
  }

  xshards::testing::TemporaryDirectory directory_;
};

TEST_F(FileListing, GivesOneFileWithItsSize) {
  Write("a.csv", "12345");
  ASSERT_OK_AND_ASSIGN(const auto files, ListFiles({directory_.File("a.csv")}));
  ASSERT_EQ(files.size(), 1);
  EXPECT_EQ(files[0].size, 5);
  EXPECT_EQ(files[0].path, directory_.File("a.csv"));
}

TEST_F(FileListing, ListsAFolderSortedWithoutHiddenFiles) {
  for (const char* name : {"data/b.csv", "data/a.csv", "data/.hidden", "data/_SUCCESS",
                           "data/sub/c.csv", "data/_temporary/d.csv", "data/.git/e"}) {
    Write(name);
  }
  EXPECT_THAT(List("data"), ElementsAre("data/a.csv", "data/b.csv", "data/sub/c.csv"));
  EXPECT_THAT(List("data/"), ElementsAre("data/a.csv", "data/b.csv", "data/sub/c.csv"));
}

TEST_F(FileListing, ExpandsPatterns) {
  for (const char* name :
       {"a1.csv", "a2.csv", "b.txt", ".a3.csv", "x/a4.csv", "x/y/a5.csv"}) {
    Write(name);
  }
  EXPECT_THAT(List("*.csv"), ElementsAre("a1.csv", "a2.csv"));
  EXPECT_THAT(List("a?.csv"), ElementsAre("a1.csv", "a2.csv"));
  EXPECT_THAT(List("a[!1].csv"), ElementsAre("a2.csv"));
  EXPECT_THAT(List("*/*.csv"), ElementsAre("x/a4.csv"));
  EXPECT_THAT(List("**/*.csv"),
              ElementsAre("a1.csv", "a2.csv", "x/a4.csv", "x/y/a5.csv"));
  EXPECT_THAT(List("x/**"), ElementsAre("x/a4.csv", "x/y/a5.csv"));
}

TEST_F(FileListing, TakesAnExistingNameWithWildcardsLiterally) {
  Write("data[1].csv");
  EXPECT_THAT(List("data[1].csv"), ElementsAre("data[1].csv"));
}

TEST_F(FileListing, KeepsTheOrderOfAList) {
  Write("b.csv");
  Write("a.csv");
  EXPECT_THAT(ListAll({directory_.File("b.csv"), directory_.File("a.csv")}),
              ElementsAre("b.csv", "a.csv"));
}

TEST_F(FileListing, ReadsFileUris) {
  Write("a b.csv");
  ASSERT_OK_AND_ASSIGN(const auto files,
                       ListFiles({"file://" + directory_.path() + "/a%20b.csv"}));
  ASSERT_EQ(files.size(), 1);
  EXPECT_EQ(files[0].path, directory_.File("a b.csv"));
}

TEST_F(FileListing, NamesMissingPaths) {
  EXPECT_FAILS(Invalid, "at least one path", ListFiles({}));
  EXPECT_FAILS(IOError, "nothing.csv", ListFiles({directory_.File("nothing.csv")}));
  EXPECT_FAILS(IOError, "match the pattern", ListFiles({directory_.File("*.none")}));
  EXPECT_FAILS(IOError, "match the pattern", ListFiles({directory_.File("no/where/*")}));
  Write("empty/_only_hidden");
  EXPECT_FAILS(IOError, "folder with data files", ListFiles({directory_.File("empty")}));
}

TEST_F(FileListing, NamesTheRequirementsOfHdfs) {
  const auto files = ListFiles({"hdfs://host:9000/data.csv"});
  EXPECT_FAILS(IOError, "JVM", files);
  EXPECT_FAILS(IOError, "libhdfs", files);
  EXPECT_FAILS(Invalid, "nosuch://x/y", ListFiles({"nosuch://x/y"}));
}

}  // namespace
}  // namespace xshards::io
