// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type.h>

#include "io/columnar/group_splits.h"
#include "io/columnar/options.h"
#include "io/fs/file_listing.h"
#include "io/readers.h"

namespace xshards::io {

/// The metadata of a file.
struct TypedFile {
  std::shared_ptr<arrow::Schema> schema;  // in the engine's types
  std::vector<Group> groups;
  std::set<std::string> encodable =
      {};                       // text columns whose dictionaries are worth keeping
  bool can_cut_groups = false;  // part of a group can be read without the rest
};

/// Plan a scan of files that contain their schema: list them, `inspect` each, widen their
/// schemas to a common one (columns that a file lacks are null) unless one was requested,
/// cut them into splits. TypeError names two files whose columns have no common type, or
/// a file whose column cannot be cast.
arrow::Result<XShards> ReadTypedFiles(
    const std::string& format, std::shared_ptr<Context> context, const Paths& paths,
    const ParquetOptions& options,
    const std::function<arrow::Result<TypedFile>(const InputFile& file)>& inspect);

}  // namespace xshards::io
