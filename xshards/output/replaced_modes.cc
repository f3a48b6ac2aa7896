// SPDX-License-Identifier: Apache-2.0
#include "xshards/output/replaced_modes.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace xshards {
namespace {

namespace fs = std::filesystem;

// As many as the kernel follows.
constexpr int kMaxLinks = 40;
constexpr mode_t kModeBits = 07777;

arrow::Status StagingError(const std::string& path, const std::string& reason) {
  return arrow::Status::IOError("Cannot write to '", path, "': ", reason);
}

std::string RandomSuffix() {
  constexpr char kDigits[] = "0123456789abcdefghijklmnopqrstuv";
  std::random_device random;
  std::string suffix;
  for (int i = 0; i < 8; ++i) suffix += kDigits[random() % 32];
  return suffix;
}

// The owner first: changing it may clear bits of the mode.
arrow::Status TakeOver(const struct stat& from, const std::string& path) {
  struct stat now;
  if (lstat(path.c_str(), &now) != 0) return StagingError(path, std::strerror(errno));
  if (now.st_uid != from.st_uid || now.st_gid != from.st_gid) {
    // Only root may give files away; a group that is not the user's own may be refused.
    if (lchown(path.c_str(), from.st_uid, from.st_gid) != 0 &&
        lchown(path.c_str(), static_cast<uid_t>(-1), from.st_gid) != 0 &&
        errno != EPERM) {
      return StagingError(path, std::strerror(errno));
    }
  }
  if (chmod(path.c_str(), from.st_mode & kModeBits) != 0) {
    return StagingError(path, std::strerror(errno));
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::string> FollowLinks(const std::string& path) {
  fs::path target = fs::path(path);
  std::error_code error;
  for (int i = 0; fs::is_symlink(fs::symlink_status(target, error)); ++i) {
    if (i == kMaxLinks) return StagingError(path, "its symbolic links never end");
    const fs::path next = fs::read_symlink(target, error);
    if (error) return StagingError(path, error.message());
    target = next.is_absolute() ? next : target.parent_path() / next;
    while (!target.has_filename() && target.has_relative_path()) {
      target = target.parent_path();  // the link names it with a slash at its end
    }
  }
  return target.string();
}

arrow::Result<std::string> MakeStaging(const std::string& target) {
  const fs::path whole = fs::absolute(target);
  const std::string prefix =
      (whole.parent_path() / ("." + whole.filename().string() + ".tmp-")).string();
  struct stat replaced;
  const bool exists = stat(target.c_str(), &replaced) == 0;
  std::string staging;
  do {
    staging = prefix + RandomSuffix();
  } while (mkdir(staging.c_str(), exists ? 0700 : 0777) != 0 && errno == EEXIST);
  struct stat made;
  if (stat(staging.c_str(), &made) != 0) {
    return StagingError(target, std::strerror(errno));
  }
  if (!exists) return staging;
  // What is created in it has the group that it would have in the target.
  if (made.st_gid != replaced.st_gid &&
      chown(staging.c_str(), static_cast<uid_t>(-1), replaced.st_gid) != 0 &&
      errno != EPERM) {
    return StagingError(target, std::strerror(errno));
  }
  if (chmod(staging.c_str(), 0700 | (replaced.st_mode & S_ISGID)) != 0) {
    return StagingError(target, std::strerror(errno));
  }
  return staging;
}

arrow::Status KeepModes(const std::string& target, const std::string& staging) {
  struct stat replaced;
  if (stat(target.c_str(), &replaced) != 0) return arrow::Status::OK();
  std::error_code error;
  for (fs::recursive_directory_iterator entry(staging, error), end;
       !error && entry != end; entry.increment(error)) {
    const fs::path name = entry->path().lexically_relative(staging);
    struct stat old;
    struct stat now;
    if (lstat((target / name).c_str(), &old) != 0) continue;
    if (lstat(entry->path().c_str(), &now) != 0) continue;
    if ((old.st_mode & S_IFMT) != (now.st_mode & S_IFMT)) continue;
    ARROW_RETURN_NOT_OK(TakeOver(old, entry->path().string()));
  }
  if (error) return StagingError(staging, error.message());
  return TakeOver(replaced, staging);  // last: it may not be writable
}

}  // namespace xshards
