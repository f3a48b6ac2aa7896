// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <arrow/result.h>

namespace xshards {

/// Follow symbolic links at the end of a path, also to a target that does not exist.
arrow::Result<std::string> FollowLinks(const std::string& path);

/// Create a directory beside `target` that will take its place, with a name that no other
/// process uses. If there is a target, it is private and belongs to the target's group;
/// files created in it inherit the group where those of the target do. If there is none,
/// it has the permissions of a new directory: those that the umask allows.
arrow::Result<std::string> MakeStaging(const std::string& target);

/// Give `staging`, and all in it that `target` has under the same name, the permissions
/// and as far as allowed the owner that they have there. Does nothing without a target.
arrow::Status KeepModes(const std::string& target, const std::string& staging);

}  // namespace xshards
