// SPDX-License-Identifier: Apache-2.0
#include "io/output_file.h"

#include <random>
#include <unistd.h>
#include <utility>

#include "io/file_system.h"

namespace xshards::io {
namespace {

// Two writers of the same file, in any processes, must not meet.
std::string HiddenName(const std::string& path) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::random_device random;
  std::string suffix = std::to_string(getpid()) + "-";
  for (int i = 0; i < 8; ++i) suffix += kDigits[random() % 16];
  const size_t slash = path.rfind('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, name) + "." + path.substr(name) + ".tmp-" + suffix;
}

arrow::Status FillAndClose(const std::shared_ptr<arrow::io::OutputStream>& file,
                           const FillFile& fill) {
  ARROW_RETURN_NOT_OK(fill(file));
  return file->Close();
}

}  // namespace

arrow::Status WriteWholeFile(const std::string& path, const FillFile& fill) {
  ARROW_ASSIGN_OR_RAISE(const auto location, Locate(path));
  const std::string hidden = HiddenName(location.path);
  auto file = location.file_system->OpenOutputStream(hidden);
  if (!file.ok()) return WithPath(file.status(), "Could not write", path);
  auto status = FillAndClose(*file, fill);
  if (status.ok()) status = location.file_system->Move(hidden, location.path);
  if (status.ok()) return status;
  // The first error is the one to tell; the file is removed as well as it can be.
  if (!(*file)->closed() && !(*file)->Abort().ok()) {
    return WithPath(status, "Could not write (nor close)", path);
  }
  if (!location.file_system->DeleteFile(hidden).ok()) {
    return WithPath(status, "Could not write (nor remove '" + hidden + "')", path);
  }
  return WithPath(status, "Could not write", path);
}

}  // namespace xshards::io
