// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <arrow/result.h>

namespace xshards::io {

/// A file to read: an absolute path or a URI, and its size in bytes.
struct InputFile {
  std::string path;
  int64_t size = 0;
  std::string below = {};    // its path relative to the listed folder, if any
  int64_t modified = -1;     // in nanoseconds since 1970; -1: not known
  uint64_t fingerprint = 0;  // see TakeFingerprints; 0: not taken
};

/// The files that paths refer to. Each path is a file, a folder (all files below it
/// except those whose name, or whose folder's name, starts with `.` or `_`), a pattern
/// with `*`, `?`, `[...]` or `**`, or a URI of any of these. Paths keep their order; the
/// files of a folder or pattern are sorted by name.
///
/// IOError names the path and says what was expected: for a missing file, a folder
/// without files, a pattern that matches nothing.
arrow::Result<std::vector<InputFile>> ListFiles(const std::vector<std::string>& paths);

}  // namespace xshards::io
