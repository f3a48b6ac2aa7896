// SPDX-License-Identifier: Apache-2.0
#include "xshards/output/output_directory.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <utility>

#include "xshards/output/part_name.h"
#include "xshards/output/replaced_modes.h"

namespace xshards {

namespace fs = std::filesystem;

namespace {

arrow::Status CannotWrite(const std::string& path, const std::string& reason) {
  return arrow::Status::IOError("Cannot write to '", path, "': ", reason);
}

// Rename as renameat2 does; 0, or what errno says.
int Rename(const std::string& from, const std::string& to, unsigned flags) {
  return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags) == 0 ? 0 : errno;
}

}  // namespace

OutputDirectory::OutputDirectory(std::string path, std::string target,
                                 std::string staging, WriteMode mode)
    : path_(std::move(path)),
      target_(std::move(target)),
      staging_(std::move(staging)),
      mode_(mode) {}

OutputDirectory::~OutputDirectory() {
  std::error_code ignored;  // a destructor cannot report it
  // What was replaced may have been closed to its owner.
  fs::permissions(staging_, fs::perms::owner_all, fs::perm_options::add, ignored);
  fs::remove_all(staging_, ignored);
}

arrow::Result<std::unique_ptr<OutputDirectory>> OutputDirectory::Make(
    const std::string& given, WriteMode mode) {
  std::string path = given;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    return CannotWrite(path, "expected a directory, but it is a file");
  }
  if (mode == WriteMode::kError && fs::exists(status) && !fs::is_empty(path, error)) {
    return CannotWrite(path, error ? error.message()
                                   : "the directory is not empty; choose another, or "
                                     "pass mode='overwrite' or 'append'");
  }
  ARROW_ASSIGN_OR_RAISE(std::string target, FollowLinks(path));
  fs::create_directories(fs::absolute(target).parent_path(), error);
  if (error) return CannotWrite(path, error.message());
  ARROW_ASSIGN_OR_RAISE(std::string staging, MakeStaging(target));
  return std::unique_ptr<OutputDirectory>(
      new OutputDirectory(std::move(path), std::move(target), std::move(staging), mode));
}

std::string OutputDirectory::StagedPath(const std::string& name) {
  return staging_ + "/" + name;
}

arrow::Result<std::vector<std::string>> OutputDirectory::Publish(
    const std::vector<std::string>& names) {
  std::error_code error;
  const bool has_output = fs::is_directory(path_, error) && !fs::is_empty(path_, error);
  if (has_output && mode_ == WriteMode::kAppend) return Append(names);
  ARROW_RETURN_NOT_OK(KeepModes(target_, staging_));
  if (has_output && mode_ == WriteMode::kOverwrite) {
    ARROW_RETURN_NOT_OK(Replace());
  } else {
    // If the target is missing or empty, one rename makes all files appear at once.
    fs::rename(staging_, target_, error);
    if (error) return CannotWrite(path_, error.message());
  }
  std::vector<std::string> paths;
  for (const auto& name : names) paths.push_back((fs::path(path_) / name).string());
  return paths;
}

arrow::Status OutputDirectory::Replace() {
  // Both are exchanged atomically; the old output is then removed with this object.
  int failure = Rename(staging_, target_, RENAME_EXCHANGE);
  if (failure != EINVAL && failure != ENOSYS) {
    return failure == 0 ? arrow::Status::OK()
                        : CannotWrite(path_, std::strerror(failure));
  }
  // The file system cannot exchange: for a moment there is no output.
  const std::string old = staging_ + ".old";
  failure = Rename(target_, old, RENAME_NOREPLACE);
  if (failure != 0) return CannotWrite(path_, std::strerror(failure));
  failure = Rename(staging_, target_, 0);
  if (failure != 0) {
    const bool is_back = Rename(old, target_, 0) == 0;
    return CannotWrite(
        path_,
        std::strerror(failure) +
            (is_back ? std::string() : "; the previous output is in '" + old + "'"));
  }
  std::error_code error;
  fs::remove_all(old, error);
  if (error) return CannotWrite(old, "could not remove it: " + error.message());
  return arrow::Status::OK();
}

arrow::Status OutputDirectory::ClearStaging() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(staging_, error)) {
    fs::remove_all(entry.path(), error);
    if (error) break;
  }
  return error ? CannotWrite(staging_, error.message()) : arrow::Status::OK();
}

arrow::Result<std::vector<std::string>> OutputDirectory::ListStaged() const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(staging_, error), end;
       !error && entry != end; entry.increment(error)) {
    if (!entry->is_regular_file(error)) continue;
    names.push_back(entry->path().lexically_relative(staging_).string());
  }
  if (error) return CannotWrite(staging_, error.message());
  std::sort(names.begin(), names.end());
  return names;
}

arrow::Result<std::vector<std::string>> OutputDirectory::Append(
    const std::vector<std::string>& names) {
  int64_t first = 0;  // a number that no file has
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    first = std::max(first, PartNumber(entry->path().filename().string()) + 1);
  }
  if (error) return CannotWrite(path_, error.message());
  std::vector<std::string> paths;
  for (const auto& name : names) {
    auto moved = AppendFile(name, first);
    if (!moved.ok()) {
      for (const auto& path : paths) fs::remove(path, error);
      return moved.status();
    }
    paths.push_back(moved.MoveValueUnsafe());
  }
  return paths;
}

arrow::Result<std::string> OutputDirectory::AppendFile(const std::string& name,
                                                       int64_t first) {
  const fs::path folder = path_ / fs::path(name).parent_path();
  const std::string file = fs::path(name).filename().string();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return CannotWrite(folder.string(), error.message());
  int failure = EEXIST;  // another run may append at the same time
  for (int64_t number = first + PartNumber(file); failure == EEXIST; ++number) {
    std::string to = (folder / RenumberPart(file, number)).string();
    failure = Rename(StagedPath(name), to, RENAME_NOREPLACE);
    if (failure == 0) return to;
  }
  return CannotWrite(path_, std::strerror(failure));
}

}  // namespace xshards
