// SPDX-License-Identifier: Apache-2.0
#include "io/fs/file_listing.h"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string_view>
#include <utility>

#include <arrow/filesystem/filesystem.h>
#include <arrow/util/io_util.h>

#include "io/fs/file_system.h"
#include "io/fs/glob.h"
#include "io/fs/local_walk.h"

namespace xshards::io {
namespace {

using KeepFile = std::function<bool(std::string_view below)>;

/// A "no such file" error that becomes Python's FileNotFoundError.
arrow::Status NotFound(const char* expected, const std::string& path) {
  return arrow::Status::IOError(expected, path, "'")
      .WithDetail(arrow::internal::StatusDetailFromErrno(ENOENT));
}

int64_t ModifiedAt(const arrow::fs::FileInfo& info) {
  return info.mtime() == arrow::fs::kNoTime ? -1
                                            : info.mtime().time_since_epoch().count();
}

// The part of a listed path below the folder that was listed.
std::string_view Below(std::string_view folder, std::string_view path) {
  if (path.starts_with(folder)) path.remove_prefix(folder.size());
  while (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

// A folder _k=1 is not hidden: it holds the rows of one value of column _k.
bool IsHidden(std::string_view path) {
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const bool is_folder = slash != std::string_view::npos;
    const std::string_view name = path.substr(0, slash);
    const bool is_value = is_folder && name.find('=') != std::string_view::npos;
    if (name.starts_with('.') || (name.starts_with('_') && !is_value)) return true;
    path.remove_prefix(is_folder ? slash + 1 : path.size());
  }
  return false;
}

void SortByPath(std::vector<InputFile>* files) {
  std::sort(files->begin(), files->end(),
            [](const InputFile& a, const InputFile& b) { return a.path < b.path; });
}

arrow::Result<std::vector<InputFile>> ListLocal(const std::string& base,
                                                const std::string& folder, bool recursive,
                                                const KeepFile& keep) {
  auto found = WalkLocal(folder, recursive, keep);
  if (!found.ok()) return WithPath(found.status(), "Could not list", base);
  std::vector<InputFile> files;
  for (auto& file : *found) {
    files.push_back({.path = file.path,
                     .size = file.size,
                     .below = std::string(Below(folder, file.path)),
                     .modified = file.modified});
  }
  SortByPath(&files);
  return files;
}

arrow::Result<std::vector<InputFile>> ListBelow(const std::string& base,
                                                const Location& location, bool recursive,
                                                const KeepFile& keep) {
  if (location.is_local) return ListLocal(base, location.path, recursive, keep);
  arrow::fs::FileSelector selector;
  selector.base_dir = location.path;
  selector.recursive = recursive;
  auto listed = location.file_system->GetFileInfo(selector);
  if (!listed.ok()) return WithPath(listed.status(), "Could not list", base);
  std::vector<InputFile> files;
  for (const auto& info : *listed) {
    if (!info.IsFile() || !keep(Below(location.path, info.path()))) continue;
    ARROW_ASSIGN_OR_RAISE(auto path, PathBelow(base, location, info.path()));
    files.push_back({.path = std::move(path),
                     .size = info.size(),
                     .below = std::string(Below(location.path, info.path())),
                     .modified = ModifiedAt(info)});
  }
  SortByPath(&files);
  return files;
}

// A pattern is listed from the deepest folder that has no wildcard.
arrow::Result<std::vector<InputFile>> ListPattern(const std::string& path) {
  const size_t scheme = IsUri(path) ? path.find("://") + 3 : 0;
  const size_t wildcard = path.find_first_of("*?[", scheme);
  const size_t slash = path.rfind('/', wildcard);
  const bool has_folder = slash != std::string::npos && slash >= scheme;
  std::string base = has_folder ? path.substr(0, std::max<size_t>(slash, 1)) : ".";
  std::string pattern = has_folder ? path.substr(slash + 1) : path;
  if (scheme > 0) {
    // In a URI, '?' starts the query, which belongs to the file system.
    const size_t query = pattern.find('?');
    if (query != std::string::npos) {
      base += pattern.substr(query);
      pattern.resize(query);
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto location, Locate(base));
  const auto info = location.file_system->GetFileInfo(location.path);
  if (!info.ok()) return WithPath(info.status(), "Could not look up", path);
  std::vector<InputFile> files;
  if (info->IsDirectory()) {
    const bool recursive = pattern.find('/') != std::string::npos || pattern == "**";
    ARROW_ASSIGN_OR_RAISE(
        files, ListBelow(base, location, recursive, [&](std::string_view name) {
          return MatchPath(pattern, name);
        }));
  }
  if (files.empty()) {
    return NotFound("Expected files that match the pattern, found none: '", path);
  }
  return files;
}

arrow::Result<std::vector<InputFile>> ListOne(const std::string& path) {
  // The query of a URI is not a wildcard; a name that exists is taken literally.
  const std::string plain = IsUri(path) ? path.substr(0, path.find('?')) : path;
  if (IsUri(path) && HasWildcard(plain)) return ListPattern(path);
  ARROW_ASSIGN_OR_RAISE(const auto location, Locate(path));
  auto found = location.file_system->GetFileInfo(location.path);
  if (!found.ok()) return WithPath(found.status(), "Could not look up", path);
  switch (found->type()) {
    case arrow::fs::FileType::File: {
      return std::vector<InputFile>{{.path = location.is_local ? location.path : path,
                                     .size = found->size(),
                                     .modified = ModifiedAt(*found)}};
    }
    case arrow::fs::FileType::Directory: {
      ARROW_ASSIGN_OR_RAISE(
          auto files, ListBelow(path, location, /*recursive=*/true,
                                [](std::string_view name) { return !IsHidden(name); }));
      if (files.empty()) {
        return NotFound(
            "Expected a folder with data files (names that start with '.' or '_' are "
            "skipped), found none in '",
            path);
      }
      return files;
    }
    case arrow::fs::FileType::NotFound:
      if (HasWildcard(plain)) return ListPattern(path);
      return NotFound("Expected a file, a folder or a pattern, found nothing at '", path);
    case arrow::fs::FileType::Unknown:
      break;
  }
  return arrow::Status::IOError("Expected a regular file or a folder at '", path, "'");
}

}  // namespace

arrow::Result<std::vector<InputFile>> ListFiles(const std::vector<std::string>& paths) {
  if (paths.empty())
    return arrow::Status::Invalid("Expected at least one path, got none");
  std::vector<InputFile> files;
  for (const auto& path : paths) {
    ARROW_ASSIGN_OR_RAISE(auto found, ListOne(path));
    std::move(found.begin(), found.end(), std::back_inserter(files));
  }
  return files;
}

}  // namespace xshards::io
