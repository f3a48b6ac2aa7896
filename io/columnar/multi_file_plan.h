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

/// What a file says about itself.
struct TypedFile {
  std::shared_ptr<arrow::Schema> schema;  // in the engine's types
  std::vector<Group> groups;
  std::set<std::string> encodable = {};  // text whose dictionaries are worth keeping
  bool can_cut_groups = false;  // some rows of a group can be read without the others
};

/// The option of a scan that says how many parts each group is cut into, if that is not
/// one; its splits then count parts, not groups.
inline constexpr char kGroupParts[] = "group_parts";

/// Plan the reading of files that know their own schema: list them, `inspect` each, widen
/// their schemas to one (columns that a file lacks are missing values in it) unless one
/// was asked for, cut them into splits. TypeError names two files whose columns have no
/// common type, or a file whose column does not cast.
arrow::Result<XShards> ReadTypedFiles(
    const std::string& format, std::shared_ptr<Context> context, const Paths& paths,
    const ParquetOptions& options,
    const std::function<arrow::Result<TypedFile>(const InputFile& file)>& inspect);

}  // namespace xshards::io
