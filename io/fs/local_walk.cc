// SPDX-License-Identifier: Apache-2.0
#include "io/fs/local_walk.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include <arrow/util/io_util.h>

namespace xshards::io {
namespace {

namespace fs = std::filesystem;

using FolderId = std::pair<dev_t, ino_t>;

arrow::Status WithErrno(int code, const std::string& message) {
  return arrow::Status::IOError(message).WithDetail(
      arrow::internal::StatusDetailFromErrno(code));
}

class Walk {
 public:
  Walk(const std::string& folder, bool recursive,
       const std::function<bool(std::string_view)>& keep)
      : folder_(folder), recursive_(recursive), keep_(keep) {}

  arrow::Result<std::vector<LocalFile>> Run() && {
    struct stat info;
    if (stat(folder_.c_str(), &info) != 0) {
      return WithErrno(errno, std::strerror(errno));
    }
    ARROW_RETURN_NOT_OK(Enter(folder_, {info.st_dev, info.st_ino}));
    return std::move(files_);
  }

 private:
  arrow::Status Enter(const std::string& folder, FolderId id) {
    inside_.push_back(id);
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      ARROW_RETURN_NOT_OK(Visit(entry->path().string()));
    }
    inside_.pop_back();
    if (!error) return arrow::Status::OK();
    return WithErrno(error.value(), "'" + folder + "': " + error.message());
  }

  arrow::Status Visit(const std::string& path) {
    struct stat info;
    if (stat(path.c_str(), &info) != 0) return VisitUnreadable(path, errno);
    if (S_ISDIR(info.st_mode)) {
      const FolderId id(info.st_dev, info.st_ino);
      const bool entered = std::find(inside_.begin(), inside_.end(), id) != inside_.end();
      return recursive_ && !entered ? Enter(path, id) : arrow::Status::OK();
    }
    if (!keep_(Below(path))) return arrow::Status::OK();
    if (!S_ISREG(info.st_mode)) {
      return arrow::Status::IOError("Expected regular files, found ",
                                    FileKindName(info.st_mode), " at '", path, "'");
    }
    files_.push_back(
        {.path = path,
         .size = info.st_size,
         .modified = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec});
    return arrow::Status::OK();
  }

  arrow::Status VisitUnreadable(const std::string& path, int code) {
    if (!keep_(Below(path))) return arrow::Status::OK();
    struct stat link;
    const bool is_link = lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode);
    if (is_link && (code == ENOENT || code == ELOOP)) {
      return WithErrno(ENOENT,
                       "Expected a file, found a dangling link at '" + path + "'");
    }
    if (code == ENOENT) return arrow::Status::OK();  // removed since it was listed
    return WithErrno(code, "Could not look up '" + path + "': " + std::strerror(code));
  }

  std::string_view Below(const std::string& path) const {
    std::string_view below = path;
    below.remove_prefix(std::min(folder_.size(), below.size()));
    while (below.starts_with('/')) below.remove_prefix(1);
    return below;
  }

  const std::string& folder_;
  const bool recursive_;
  const std::function<bool(std::string_view)>& keep_;
  std::vector<FolderId> inside_;  // the folders from the first to the present one
  std::vector<LocalFile> files_;
};

}  // namespace

arrow::Result<std::vector<LocalFile>> WalkLocal(
    const std::string& folder, bool recursive,
    const std::function<bool(std::string_view below)>& keep) {
  return Walk(folder, recursive, keep).Run();
}

std::string_view FileKindName(uint32_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "something else";
}

}  // namespace xshards::io
