// SPDX-License-Identifier: Apache-2.0
#include "xshards/output_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace xshards {

namespace fs = std::filesystem;

namespace {

arrow::Status CannotWrite(const std::string& path, const std::string& reason) {
  return arrow::Status::IOError("Cannot write to '", path, "': ", reason);
}

}  // namespace

OutputDirectory::OutputDirectory(std::string path, std::string staging)
    : path_(std::move(path)), staging_(std::move(staging)) {}

OutputDirectory::~OutputDirectory() {
  std::error_code ignored;  // a destructor has nobody to tell
  fs::remove_all(staging_, ignored);
}

arrow::Result<std::unique_ptr<OutputDirectory>> OutputDirectory::Make(
    const std::string& given) {
  std::string path = given.starts_with("file://") ? given.substr(7) : given;
  if (path.find("://") != std::string::npos) {
    return arrow::Status::NotImplemented("Writing to '", given,
                                         "': only local directories are supported");
  }
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::error_code error;
  const auto status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_directory(status)) {
    return CannotWrite(path, "it is a file; a directory is expected");
  }
  if (fs::exists(status) && !fs::is_empty(path, error)) {
    return CannotWrite(path, error ? error.message()
                                   : "the directory is not empty; name another, or "
                                     "remove what is in it");
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
      new OutputDirectory(std::move(path), std::move(staging)));
}

arrow::Result<std::vector<std::string>> OutputDirectory::Publish(
    const std::vector<std::string>& staged) {
  std::error_code error;
  // Onto an empty directory, or where none is, one rename shows all the files at once.
  fs::rename(staging_, path_, error);
  if (error) return CannotWrite(path_, error.message());
  std::vector<std::string> paths;
  for (const auto& path : staged) {
    paths.push_back((fs::path(path_) / fs::path(path).filename()).string());
  }
  return paths;
}

}  // namespace xshards
