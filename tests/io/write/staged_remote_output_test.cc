// SPDX-License-Identifier: Apache-2.0
#include "io/write/staged_remote_output.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <utility>

#include <arrow/filesystem/localfs.h>
#include <gtest/gtest.h>

#include "tests/support/status_assertions.h"
#include "tests/support/test_data.h"

namespace xshards::io {
namespace {

namespace fs = std::filesystem;
using xshards::testing::TemporaryDirectory;

// A local file system posing as an unknown one, or as an object store. It can be told to
// fail to move, copy or delete a file.
class Disk : public arrow::fs::LocalFileSystem {
 public:
  explicit Disk(bool has_objects) : has_objects_(has_objects) {}
  std::string type_name() const override { return has_objects_ ? "s3" : "disk"; }
  arrow::Status CopyFile(const std::string& from, const std::string& to) override {
    if (throws) throw std::bad_alloc();
    if (fs::path(from).filename() == broken) return arrow::Status::IOError("broken");
    fs::create_directories(fs::path(to).parent_path());
    return LocalFileSystem::CopyFile(from, to);
  }
  arrow::Status Move(const std::string& from, const std::string& to) override {
    if (throws) throw std::bad_alloc();
    if (fs::path(from).filename() == broken) return arrow::Status::IOError("broken");
    return LocalFileSystem::Move(from, to);
  }
  arrow::Status DeleteFile(const std::string& path) override {
    if (fs::path(path).filename() == broken) return arrow::Status::IOError("broken");
    return LocalFileSystem::DeleteFile(path);
  }
  arrow::Status DeleteDir(const std::string& path) override {
    if (throws) throw std::bad_alloc();
    return LocalFileSystem::DeleteDir(path);
  }

  std::string broken;  // the name of that file
  bool throws = false;

 private:
  const bool has_objects_;
};

class RemoteOutputTest : public ::testing::TestWithParam<bool> {
 protected:
  arrow::Result<std::unique_ptr<RemoteOutput>> Make(WriteMode mode) {
    const std::string path = root_.File("out");
    return RemoteOutput::Make("far://user:secret@" + path + "?q=a/b",
                              {.file_system = disk_, .path = path, .is_local = false},
                              mode);
  }

  // Write a staged file whose text is its name; returns the name.
  std::string Stage(RemoteOutput& output, const std::string& name) {
    const std::string uri = output.StagedPath(name);
    EXPECT_TRUE(uri.starts_with("far://user:secret@/")) << uri;
    EXPECT_TRUE(uri.ends_with("?q=a/b")) << uri;
    const fs::path path = uri.substr(18, uri.find('?') - 18);
    fs::create_directories(path.parent_path());
    std::ofstream(path) << name;
    return name;
  }

  // Publish files of these names; the URIs, relative to the output.
  arrow::Result<std::vector<std::string>> Write(WriteMode mode,
                                                const std::vector<std::string>& names) {
    ARROW_ASSIGN_OR_RAISE(const auto output, Make(mode));
    for (const auto& name : names) Stage(*output, name);
    return output->Publish(names);
  }

  // The files there, hidden ones too, with the mark of the job left out.
  std::vector<std::string> List() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(root_.path())) {
      if (!entry.is_regular_file()) continue;
      std::string name = entry.path().lexically_relative(root_.File("out")).string();
      const size_t mark = name.rfind('-');
      if (mark > name.find("part-") + 5) name.erase(mark, 13);
      names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  using Names = std::vector<std::string>;
  const TemporaryDirectory root_;
  const std::shared_ptr<Disk> disk_ = std::make_shared<Disk>(GetParam());
};

INSTANTIATE_TEST_SUITE_P(RemoteOutput, RemoteOutputTest, ::testing::Bool());

TEST_P(RemoteOutputTest, ShowsFilesWhenPublished) {
  ASSERT_OK_AND_ASSIGN(auto output, Make(WriteMode::kError));
  Stage(*output, "part-00000.csv");
  Stage(*output, "k=1/part-00001.csv");
  ASSERT_OK_AND_ASSIGN(const auto staged, output->ListStaged());
  EXPECT_EQ(staged, (Names{"k=1/part-00001.csv", "part-00000.csv"}));
  ASSERT_OK_AND_ASSIGN(const auto uris, output->Publish(staged));
  ASSERT_EQ(uris.size(), 2);
  EXPECT_TRUE(uris[0].starts_with("far://" + root_.File("out/k%3D1/part-00001-")))
      << uris[0];
  EXPECT_TRUE(uris[0].ends_with(".csv?q=a/b")) << uris[0];
  output.reset();
  EXPECT_EQ(List(), (Names{"k=1/part-00001.csv", "part-00000.csv"}));
}

TEST_P(RemoteOutputTest, LeavesNothingWhenNotPublished) {
  {
    ASSERT_OK_AND_ASSIGN(auto output, Make(WriteMode::kError));
    Stage(*output, "part-00000.csv");
    ASSERT_OK(output->ClearStaging());
    ASSERT_OK_AND_ASSIGN(const auto staged, output->ListStaged());
    EXPECT_TRUE(staged.empty());
    Stage(*output, "part-00000.csv");
  }
  EXPECT_EQ(List(), Names{});
}

TEST_P(RemoteOutputTest, RejectsFilesAndExistingOutput) {
  ASSERT_OK(Write(WriteMode::kError, {"part-00000.csv"}));
  const auto refused = Make(WriteMode::kError).status();
  EXPECT_TRUE(refused.IsIOError());
  EXPECT_NE(refused.message().find("not empty"), std::string::npos);
  EXPECT_EQ(refused.message().find("secret"), std::string::npos);
  const auto path = root_.Write("file", "");
  EXPECT_FAILS(IOError, "it is a file",
               RemoteOutput::Make("far://" + path,
                                  {.file_system = disk_, .path = path, .is_local = false},
                                  WriteMode::kOverwrite));
}

TEST_P(RemoteOutputTest, DetectsOutputWrittenMeanwhile) {
  ASSERT_OK_AND_ASSIGN(auto late, Make(WriteMode::kError));
  Stage(*late, "part-00000.csv");
  ASSERT_OK(Write(WriteMode::kError, {"part-00000.csv"}));
  EXPECT_FAILS(IOError, "not empty", late->Publish({"part-00000.csv"}));
}

TEST_P(RemoteOutputTest, ContinuesTheNumberingOfAppendedFiles) {
  ASSERT_OK(Write(WriteMode::kAppend, {"part-00000.csv", "part-00001.csv"}));
  ASSERT_OK(Write(WriteMode::kAppend, {"part-00000.csv", "k=1/part-00001.csv"}));
  ASSERT_OK(Write(WriteMode::kAppend, {"part-00000.csv"}));
  EXPECT_EQ(List(), (Names{"k=1/part-00003.csv", "part-00000.csv", "part-00001.csv",
                           "part-00002.csv", "part-00004.csv"}));
}

TEST_P(RemoteOutputTest, OverwritesFoldersToo) {
  ASSERT_OK(Write(WriteMode::kError,
                  {"k=1/part-00000.csv", "k=2/part-00000.csv", "part-00001.csv"}));
  ASSERT_OK(Write(WriteMode::kOverwrite, {"k=2/part-00000.csv", "k=3/part-00000.csv"}));
  EXPECT_EQ(List(), (Names{"k=2/part-00000.csv", "k=3/part-00000.csv"}));
}

TEST_P(RemoteOutputTest, KeepsFilesStagedByOtherJobs) {
  ASSERT_OK_AND_ASSIGN(auto other, Make(WriteMode::kAppend));
  Stage(*other, "part-00000.csv");
  ASSERT_OK(Write(WriteMode::kError, {"part-00000.csv"}));
  ASSERT_OK(Write(WriteMode::kOverwrite, {"part-00000.csv"}));
  ASSERT_OK(other->Publish({"part-00000.csv"}));
  other.reset();
  EXPECT_EQ(List(), (Names{"part-00000.csv", "part-00001.csv"}));
}

TEST_P(RemoteOutputTest, AFailureKeepsExistingOutput) {
  ASSERT_OK(Write(WriteMode::kError, {"part-00000.csv"}));
  disk_->broken = "part-00001.csv";
  for (const auto mode : {WriteMode::kOverwrite, WriteMode::kAppend}) {
    EXPECT_FAILS(IOError, "broken",
                 Write(mode, {"part-00000.csv", "part-00001.csv", "part-00002.csv"}));
    EXPECT_EQ(List(), (Names{"part-00000.csv"}));
  }
}

TEST_P(RemoteOutputTest, WhatAFileSystemThrowsIsAnError) {
  ASSERT_OK_AND_ASSIGN(auto output, Make(WriteMode::kError));
  Stage(*output, "part-00000.csv");
  disk_->throws = true;
  EXPECT_FAILS(OutOfMemory, "Writing to remote storage",
               output->Publish({"part-00000.csv"}));
  output.reset();
}

TEST_P(RemoteOutputTest, NamesFilesItCouldNotRemove) {
  ASSERT_OK(Write(WriteMode::kError, {"part-00000.csv"}));
  for (const auto& entry : fs::directory_iterator(root_.File("out"))) {
    disk_->broken = entry.path().filename().string();
  }
  EXPECT_FAILS(IOError, "not all old files could be removed",
               Write(WriteMode::kOverwrite, {"part-00000.csv"}));
  EXPECT_EQ(List(), (Names{"part-00000.csv", "part-00000.csv"}));
}

TEST(MakeOutput, AcceptsPathsAndFileUris) {
  const TemporaryDirectory root;
  for (const auto& path : {root.File("a b"), "file://" + root.File("c%20d")}) {
    ASSERT_OK_AND_ASSIGN(auto output, MakeOutput(path, WriteMode::kError));
    std::ofstream(output->StagedPath("part-0")) << "text";
    ASSERT_OK(output->Publish({"part-0"}));
  }
  EXPECT_EQ(root.List(), (std::vector<std::string>{"a b", "c d"}));
  EXPECT_FAILS(Invalid, "'gopher://hole'",
               MakeOutput("gopher://hole", WriteMode::kError));
}

}  // namespace
}  // namespace xshards::io
