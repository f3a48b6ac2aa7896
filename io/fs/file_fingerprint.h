// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/io/interfaces.h>
#include <arrow/status.h>

#include "io/fs/file_listing.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// Record size, mtime and a sampled hash of local files, by which it can be checked later
/// whether a file was only appended to. The same on every host. Remote files keep the
/// listed size and get no hash: objects are replaced, not appended to.
arrow::Status TakeFingerprints(std::vector<InputFile>* files);

/// Record in a split the fingerprint of its file.
void NoteFileState(const InputFile& file, Split* split);

/// Whether a file may have been appended to: text may, a file with a footer may not.
enum class MayGrow : uint8_t { kYes, kNo };

/// IOError if the bytes recorded in a split's fingerprint have changed in the opened
/// file: records may have moved. Appending is fine where a file may grow, if the
/// beginning, the end and some samples between are unchanged. A file of the same size
/// must have the same mtime, which is not known for all remote files.
arrow::Status CheckUnchanged(const Split& split, arrow::io::RandomAccessFile& file,
                             MayGrow may_grow = MayGrow::kYes);

}  // namespace xshards::io
