// SPDX-License-Identifier: Apache-2.0
#include "io/write/staged_remote_output.h"

#include <algorithm>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include <arrow/io/interfaces.h>
#include <arrow/util/parallel.h>

#include "xshards/catch_exceptions.h"
#include "xshards/output/output_directory.h"
#include "xshards/output/part_name.h"

namespace xshards::io {
namespace {

// Readers skip names with this prefix; so do Spark and Arrow datasets.
constexpr std::string_view kStaging = "_xshards-tmp-";

std::string MakeId() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::random_device random;
  std::string id;
  for (int i = 0; i < 12; ++i) id += kDigits[random() % 16];
  return id;
}

// The folders of a name, with a trailing slash; empty if it has none.
std::string FoldersOf(const std::string& name) {
  return name.substr(0, name.rfind('/') + 1);
}

// The first folder of a name; empty if it has none.
std::string FirstFolder(const std::string& name) {
  const size_t slash = name.find('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

// Requests wait for the network, not for a core: many run at a time, on Arrow's I/O
// threads.
template <typename Function>
arrow::Status ForEach(size_t count, const Function& function) {
  return arrow::internal::ParallelFor(
      static_cast<int>(count),
      [&](int i) -> arrow::Status {
        return CatchExceptions("Writing to remote storage",
                               [&] { return function(static_cast<size_t>(i)); });
      },
      arrow::io::default_io_context().executor());
}

}  // namespace

RemoteOutput::RemoteOutput(std::string uri, Location location, WriteMode mode,
                           std::string id)
    : uri_(std::move(uri)),
      location_(std::move(location)),
      mode_(mode),
      id_(std::move(id)),
      staging_(location_.path + "/" + std::string(kStaging) + id_) {}

RemoteOutput::~RemoteOutput() {
  if (!has_staged_) return;
  // A destructor cannot report failures.
  const auto ignored = CatchExceptions(
      "Clearing up", [this] { return location_.file_system->DeleteDir(staging_); });
}

arrow::Result<std::unique_ptr<RemoteOutput>> RemoteOutput::Make(const std::string& uri,
                                                                Location location,
                                                                WriteMode mode) {
  while (location.path.ends_with('/')) location.path.pop_back();
  const auto info = location.file_system->GetFileInfo(location.path);
  if (!info.ok()) return WithPath(info.status(), "Cannot write to", uri);
  if (info->IsFile()) {
    return WithPath(arrow::Status::IOError("expected a directory, but it is a file"),
                    "Cannot write to", uri);
  }
  std::unique_ptr<RemoteOutput> output(
      new RemoteOutput(uri, std::move(location), mode, MakeId()));
  ARROW_ASSIGN_OR_RAISE(output->staging_uri_,
                        PathBelow(uri, output->location_, output->staging_));
  if (mode == WriteMode::kError) {
    ARROW_ASSIGN_OR_RAISE(const auto names, output->ListOutput());
    ARROW_RETURN_NOT_OK(output->CheckEmpty(names));
  }
  return output;
}

std::string RemoteOutput::StagedPath(const std::string& name) {
  has_staged_ = true;
  const size_t query = std::min(staging_uri_.find('?'), staging_uri_.size());
  return staging_uri_.substr(0, query) + "/" + name + staging_uri_.substr(query);
}

arrow::Status RemoteOutput::ClearStaging() {
  if (!has_staged_) return arrow::Status::OK();
  return WithPath(
      location_.file_system->DeleteDirContents(staging_, /*missing_dir_ok=*/true),
      "Cannot write to", uri_);
}

arrow::Result<std::vector<std::string>> RemoteOutput::ListBelow(
    const std::string& folder) const {
  arrow::fs::FileSelector selector;
  selector.base_dir = folder;
  selector.recursive = true;
  selector.allow_not_found = true;
  const auto listed = location_.file_system->GetFileInfo(selector);
  if (!listed.ok()) return WithPath(listed.status(), "Could not list", uri_);
  std::vector<std::string> names;
  for (const auto& info : *listed) {
    if (info.IsFile()) names.push_back(info.path().substr(folder.size() + 1));
  }
  std::sort(names.begin(), names.end());
  return names;
}

arrow::Result<std::vector<std::string>> RemoteOutput::ListStaged() const {
  return ListBelow(staging_);
}

// Files staged by other jobs, running or killed, are not output.
arrow::Result<std::vector<std::string>> RemoteOutput::ListOutput() const {
  ARROW_ASSIGN_OR_RAISE(auto names, ListBelow(location_.path));
  std::erase_if(names,
                [](const std::string& name) { return name.starts_with(kStaging); });
  return names;
}

arrow::Status RemoteOutput::CheckEmpty(const std::vector<std::string>& names) const {
  if (names.empty()) return arrow::Status::OK();
  return WithPath(arrow::Status::IOError("the directory is not empty; choose another, or "
                                         "pass mode='overwrite' or 'append'"),
                  "Cannot write to", uri_);
}

arrow::Result<std::vector<std::string>> RemoteOutput::Publish(
    const std::vector<std::string>& names) {
  ARROW_ASSIGN_OR_RAISE(const auto before, ListOutput());
  if (mode_ == WriteMode::kError) ARROW_RETURN_NOT_OK(CheckEmpty(before));
  int64_t first = 0;
  if (mode_ == WriteMode::kAppend) {
    for (const auto& name : before) {
      first = std::max(first, PartNumber(name.substr(FoldersOf(name).size())) + 1);
    }
  }
  std::vector<std::string> shown;
  for (const auto& name : names) {
    const std::string folders = FoldersOf(name);
    const std::string file = name.substr(folders.size());
    shown.push_back(folders + RenumberPart(file, first + PartNumber(file), id_));
  }
  ARROW_RETURN_NOT_OK(Show(names, shown));
  if (mode_ == WriteMode::kOverwrite) ARROW_RETURN_NOT_OK(Remove(before, shown));
  std::vector<std::string> uris;
  for (const auto& name : shown) {
    ARROW_ASSIGN_OR_RAISE(auto uri,
                          PathBelow(uri_, location_, location_.path + "/" + name));
    uris.push_back(WithoutSecrets(uri));
  }
  return uris;
}

arrow::Status RemoteOutput::Show(const std::vector<std::string>& names,
                                 const std::vector<std::string>& shown) {
  auto& file_system = *location_.file_system;
  const bool has_objects = HasObjects(file_system);
  auto status = ForEach(names.size(), [&](size_t i) {
    const std::string from = staging_ + "/" + names[i];
    const std::string to = location_.path + "/" + shown[i];
    if (has_objects) return file_system.CopyFile(from, to);
    ARROW_RETURN_NOT_OK(
        file_system.CreateDir(location_.path + "/" + FoldersOf(shown[i])));
    return file_system.Move(from, to);
  });
  if (status.ok()) return status;
  // Also those that seem to have failed: the response may have been lost.
  const auto undone = ForEach(shown.size(), [&](size_t i) {
    const std::string path = location_.path + "/" + shown[i];
    ARROW_ASSIGN_OR_RAISE(const auto info, file_system.GetFileInfo(path));
    return info.IsFile() ? file_system.DeleteFile(path) : arrow::Status::OK();
  });
  const std::string also =
      undone.ok() ? "" : "; files with '-" + id_ + "' in their names may be left";
  return WithPath(status.WithMessage(status.message(), also), "Cannot write to", uri_);
}

arrow::Status RemoteOutput::Remove(const std::vector<std::string>& names,
                                   const std::vector<std::string>& kept) {
  std::set<std::string> kept_folders;
  for (const auto& name : kept) kept_folders.insert(FirstFolder(name));
  std::set<std::string> folders;  // folders in which nothing is kept
  std::vector<std::string> files;
  for (const auto& name : names) {
    const std::string folder = FirstFolder(name);
    if (folder.empty() || kept_folders.contains(folder)) {
      files.push_back(location_.path + "/" + name);
    } else {
      folders.insert(location_.path + "/" + folder);
    }
  }
  auto status = ForEach(files.size(), [&](size_t i) {
    return location_.file_system->DeleteFile(files[i]);
  });
  for (const auto& folder : folders) status &= location_.file_system->DeleteDir(folder);
  if (status.ok()) return status;
  return WithPath(
      status.WithMessage(
          "the new files are complete, with '-", id_,
          "' in their names, but not all old files could be removed: ", status.message()),
      "Overwriting", uri_);
}

arrow::Result<std::unique_ptr<JobOutput>> MakeOutput(const std::string& path,
                                                     WriteMode mode) {
  if (!IsUri(path)) return OutputDirectory::Make(path, mode);
  ARROW_ASSIGN_OR_RAISE(auto location, Locate(path));
  if (location.is_local) return OutputDirectory::Make(location.path, mode);
  return RemoteOutput::Make(path, std::move(location), mode);
}

}  // namespace xshards::io
