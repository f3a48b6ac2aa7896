// SPDX-License-Identifier: Apache-2.0
#include "xshards/output/output_directory.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <utility>

#include "xshards/output/part_name.h"

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

OutputDirectory::OutputDirectory(std::string path, std::string staging, WriteMode mode)
    : path_(std::move(path)), staging_(std::move(staging)), mode_(mode) {}

OutputDirectory::~OutputDirectory() {
  std::error_code ignored;  // a destructor has nobody to tell
  fs::remove_all(staging_, ignored);
}

arrow::Result<std::unique_ptr<OutputDirectory>> OutputDirectory::Make(
    const std::string& given, WriteMode mode) {
  std::string path = given;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    return CannotWrite(path, "it is a file; a directory is expected");
  }
  if (mode == WriteMode::kError && fs::exists(status) && !fs::is_empty(path, error)) {
    return CannotWrite(path, error ? error.message()
                                   : "the directory is not empty; name another, or "
                                     "pass mode='overwrite' or 'append'");
  }
  const fs::path parent = fs::absolute(path).parent_path();
  fs::create_directories(parent, error);
  if (error) return CannotWrite(path, error.message());
  std::string staging =
      (parent / ("." + fs::path(path).filename().string() + ".tmp-XXXXXX")).string();
  if (mkdtemp(staging.data()) == nullptr) return CannotWrite(path, std::strerror(errno));
  // mkdtemp makes it private; the output is the user's to share.
  fs::permissions(staging, fs::perms(0755), error);
  return std::unique_ptr<OutputDirectory>(
      new OutputDirectory(std::move(path), std::move(staging), mode));
}

std::string OutputDirectory::StagedPath(const std::string& name) {
  return staging_ + "/" + name;
}

arrow::Result<std::vector<std::string>> OutputDirectory::Publish(
    const std::vector<std::string>& names) {
  std::error_code error;
  const bool has_output = fs::is_directory(path_, error) && !fs::is_empty(path_, error);
  if (has_output && mode_ == WriteMode::kAppend) return Append(names);
  if (has_output && mode_ == WriteMode::kOverwrite) {
    ARROW_RETURN_NOT_OK(Replace());
  } else {
    // Onto an empty directory, or where none is, one rename shows all the files at once.
    fs::rename(staging_, path_, error);
    if (error) return CannotWrite(path_, error.message());
  }
  std::vector<std::string> paths;
  for (const auto& name : names) paths.push_back((fs::path(path_) / name).string());
  return paths;
}

arrow::Status OutputDirectory::Replace() {
  // Both change places at once; what was there before is then removed with this.
  int failure = Rename(staging_, path_, RENAME_EXCHANGE);
  if (failure != EINVAL && failure != ENOSYS) {
    return failure == 0 ? arrow::Status::OK()
                        : CannotWrite(path_, std::strerror(failure));
  }
  // The file system cannot do that: there is no output for the moment between.
  const std::string old = staging_ + ".old";
  failure = Rename(path_, old, RENAME_NOREPLACE);
  if (failure != 0) return CannotWrite(path_, std::strerror(failure));
  failure = Rename(staging_, path_, 0);
  if (failure != 0) {
    const bool is_back = Rename(old, path_, 0) == 0;
    return CannotWrite(path_, std::strerror(failure) +
                                  (is_back ? std::string()
                                           : "; what was there before is '" + old + "'"));
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
  int64_t first = 0;  // number that no file has
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
