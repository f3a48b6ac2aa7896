// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/status.h>

#include "io/fs/file_listing.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// Note of local files, as they are now, their size, when they were modified, and a hash
/// of some of their bytes, which tells later whether a file has only grown. The same on
/// every host. Of remote files the size stays the one listed, and there is no hash:
/// objects are replaced, not appended to.
arrow::Status TakeFingerprints(std::vector<InputFile>* files);

/// Note in a split what tells whether its file is still the one that was listed.
void NoteFileState(const InputFile& file, Split* split);

/// IOError where the bytes that a split's file, opened, had when they were noted are
/// there no longer: records are not where they were. What was appended since is no
/// matter, if the beginning, the end, and a few pieces between are as they were. A file
/// of the same size must have the same time, which is not known of all remote files.
arrow::Status CheckUnchanged(const Split& split, arrow::io::RandomAccessFile& file);

}  // namespace xshards::io
