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

/// True for a path and for "file:///...": reading in small pieces costs no more than in
/// large ones.
bool IsLocal(std::string_view path);

/// The folders and the name of a file: of a URI, what is behind its host, unescaped and
/// without the query; a path is all of it.
std::string BarePath(const std::string& path);

/// Find the file system of a path or URI. Local paths become absolute. Libraries for
/// remote systems are loaded on first use; IOError says what one needs where it is not
/// there (hdfs:// needs Hadoop's library and a JVM).
arrow::Result<Location> Locate(const std::string& path);

/// True where files are objects, that appear when they are complete, and folders are no
/// more than parts of their names: S3 and its like.
bool HasObjects(const arrow::fs::FileSystem& file_system);

/// Write `path`, found below `base`, as the whole path or URI that Locate() takes.
arrow::Result<std::string> PathBelow(const std::string& base, const Location& location,
                                     const std::string& path);

/// Open a file for reading at any position. IOError names the file.
arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenFile(
    const std::string& path);

/// Take the credentials out of the URIs in a text: "s3://key:secret@bucket" becomes
/// "s3://bucket".
XSHARDS_EXPORT std::string WithoutSecrets(std::string_view text);

/// Add the name of a file to what went wrong with it, keeping the kind of error. Shows no
/// credentials.
arrow::Status WithPath(const arrow::Status& status, std::string_view what,
                       const std::string& path);

}  // namespace xshards::io
