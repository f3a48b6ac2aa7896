// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/io/interfaces.h>
#include <arrow/status.h>

#include "io/file_listing.h"
#include "xshards/plan.h"

namespace xshards::io {

/// Note in a split what tells whether its file is still the one that was listed.
void NoteFileState(const InputFile& file, Split* split);

/// IOError where a split's file, opened, is of another size or was modified since that
/// was noted: records are no longer where they were. The time is not known of all remote
/// files.
arrow::Status CheckUnchanged(const Split& split, arrow::io::RandomAccessFile& file);

}  // namespace xshards::io
