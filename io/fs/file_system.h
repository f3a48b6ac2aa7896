// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <arrow/filesystem/filesystem.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include "xshards/export.h"

namespace xshards::io {

/// A file system and a path in its own terms.
struct Location {
  std::shared_ptr<arrow::fs::FileSystem> file_system;
  std::string path;
  bool is_local = true;
};

/// True for "s3://...", "file:///..." and the like.
bool IsUri(std::string_view path);

/// True for a path and for "file:///...": small reads cost no more than large ones.
bool IsLocal(std::string_view path);

/// The folders and the name of a file: of a URI the part after its host, unescaped and
/// without the query; a path is returned unchanged.
std::string BarePath(const std::string& path);

/// Find the file system of a path or URI. Local paths become absolute. Libraries for
/// remote systems are loaded on first use; IOError names the missing library (hdfs://
/// needs Hadoop's library and a JVM).
arrow::Result<Location> Locate(const std::string& path);

/// True for object stores such as S3: files appear when they are complete, and folders
/// are only prefixes of their names.
bool HasObjects(const arrow::fs::FileSystem& file_system);

/// The full path or URI, as Locate() takes it, of `path`, which was found below `base`.
arrow::Result<std::string> PathBelow(const std::string& base, const Location& location,
                                     const std::string& path);

/// Open a file for reading at any position. IOError names the file.
arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenFile(
    const std::string& path);

/// Take the credentials out of the URIs in a text: "s3://key:secret@bucket" becomes
/// "s3://bucket".
XSHARDS_EXPORT std::string WithoutSecrets(std::string_view text);

/// Invalid for a URI whose password holds a character that ends it: libraries would take
/// its rest for a path, and show it.
XSHARDS_EXPORT arrow::Status CheckSecretsQuoted(const std::string& path);

/// Add the name of a file to an error, keeping its code. Shows no credentials.
arrow::Status WithPath(const arrow::Status& status, std::string_view what,
                       const std::string& path);

}  // namespace xshards::io
