// SPDX-License-Identifier: Apache-2.0
// Compiles the C++ of README.md as it stands (CMake copies the block) and runs it.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <readme_example.inc>

#include "tests/support/status_assertions.h"

namespace {

TEST(Readme, TheCppExampleRuns) {
  auto directory =
      (std::filesystem::temp_directory_path() / "xshards-readme-XXXXXX").string();
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory);
  std::filesystem::create_directory("flights");
  std::ofstream("flights/a.csv") << "carrier,dest,arr_delay\nUA,IAH,90\nAA,MIA,12\n";
  std::ofstream("flights/b.csv") << "carrier,dest,arr_delay\nUA,ORD,45\nDL,ATL,\n";
  auto status = LateFlights();
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("out")) {
    ++files;
  }
  std::filesystem::current_path(before);
  std::filesystem::remove_all(directory);
  ASSERT_OK(status);
  EXPECT_EQ(files, 8);
}

}  // namespace
