// SPDX-License-Identifier: Apache-2.0
#include "io/fs/file_fingerprint.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "io/fs/file_system.h"
#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards::io {
namespace {

class FileChangesTest : public ::testing::Test {
 protected:
  // Write a file and note how it is.
  void Note(const std::string& text) {
    path_ = directory_.Write("t.txt", text);
    std::vector<InputFile> files{{.path = path_}};
    ASSERT_OK(TakeFingerprints(&files));
    EXPECT_EQ(files[0].size, static_cast<int64_t>(text.size()));
    split_ = Split{.path = path_};
    NoteFileState(files[0], &split_);
  }

  // Write it again, at another time.
  void Rewrite(const std::string& text) const {
    directory_.Write("t.txt", text);
    std::filesystem::last_write_time(path_, {});
  }

  arrow::Status Check() const {
    ARROW_ASSIGN_OR_RAISE(const auto file, OpenFile(path_));
    return CheckUnchanged(split_, *file);
  }

  xshards::testing::TemporaryDirectory directory_;
  std::string path_;
  Split split_;
};

// Sizes around those of the pieces that are compared, and with some in between.
constexpr size_t kSizes[] = {0, 1, 511, 512, 513, 1024, 5000, 9 << 20};

std::string Numbered(size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + "\n";
  text.resize(size);
  return text;
}

TEST_F(FileChangesTest, AFileMayGrow) {
  for (const size_t size : kSizes) {
    const std::string text = Numbered(size);
    Note(text);
    EXPECT_OK(Check());
    Rewrite(text + "x");
    EXPECT_OK(Check());
    Rewrite(text + text + "more");
    EXPECT_OK(Check());
  }
}

TEST_F(FileChangesTest, AFileMayNotShrink) {
  for (const size_t size : kSizes) {
    if (size == 0) continue;
    const std::string text = Numbered(size);
    Note(text);
    Rewrite(text.substr(1));
    EXPECT_FAILS(IOError, "now has " + std::to_string(size - 1), Check());
    Rewrite("");
    EXPECT_FAILS(IOError, "now has 0", Check());
  }
}

TEST_F(FileChangesTest, AFileMayNotBeRewritten) {
  for (const size_t size : kSizes) {
    if (size == 0) continue;
    const std::string text = Numbered(size);
    // The beginning, the end, and the middle, where a sample is.
    for (const size_t at :
         {size_t{0}, size - 1, (size - std::min<size_t>(size, 512)) / 2}) {
      std::string other = text;
      other[at] ^= 1;
      Note(text);
      Rewrite(other);
      EXPECT_FAILS(IOError, "It was modified", Check());
      Rewrite(other + "more");
      EXPECT_FAILS(IOError, "call the reader again", Check());
    }
  }
}

TEST_F(FileChangesTest, AFileMayNotBeModifiedInPlace) {
  // Between the samples too, where only the mtime shows it.
  std::string text = Numbered(5000);
  Note(text);
  text[700] ^= 1;
  Rewrite(text);
  EXPECT_FAILS(IOError, "It was modified", Check());
}

TEST_F(FileChangesTest, WithoutAFingerprintAnyChangeFails) {
  Note("abc");
  split_.file_fingerprint = 0;
  EXPECT_OK(Check());
  Rewrite("abcd");
  EXPECT_FAILS(IOError, "had 3 bytes, and now has 4", Check());
  Rewrite("abc");
  EXPECT_FAILS(IOError, "It was modified", Check());
}

// Plans go to other hosts, where the same bytes must have the same fingerprint.
TEST_F(FileChangesTest, AFingerprintIsTheSameOnEveryHost) {
  Note("abc");
  // FNV-1a of the five pieces, which are all the same.
  EXPECT_EQ(split_.file_fingerprint, 18158237190492599659ULL);
}

}  // namespace
}  // namespace xshards::io
