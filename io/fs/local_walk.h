// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

namespace xshards::io {

/// A regular file found in a local folder.
struct LocalFile {
  std::string path;
  int64_t size = 0;
  int64_t modified = 0;  // in nanoseconds since 1970
};

/// Find the files in a local folder, and if `recursive` in all folders below it, whose
/// path below it `keep` accepts. Symbolic links are followed, but a folder inside itself
/// is not entered again, so each of its files is found once.
///
/// IOError names what is neither a folder nor a regular file: a dangling link, a FIFO, a
/// socket, a device. Opening one could block forever.
arrow::Result<std::vector<LocalFile>> WalkLocal(
    const std::string& folder, bool recursive,
    const std::function<bool(std::string_view below)>& keep);

/// What a file that is neither regular nor a folder is called: "a FIFO".
std::string_view FileKindName(uint32_t mode);

}  // namespace xshards::io
