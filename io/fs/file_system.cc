// SPDX-License-Identifier: Apache-2.0
#include "io/fs/file_system.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <mutex>
#include <system_error>

#include <arrow/config.h>
#include <arrow/filesystem/localfs.h>
#include <arrow/util/config.h>
#include <arrow/util/uri.h>

namespace xshards::io {
namespace {

// Arrow's S3 support is a separate library in the folder of libarrow. Loading it is the
// only process-wide effect of this folder; it happens once, with the first s3:// path.
arrow::Status LoadS3() {
  static std::once_flag loaded;
  static arrow::Status status;
  std::call_once(loaded, [] {
    Dl_info info;
    if (dladdr(reinterpret_cast<const void*>(&arrow::GetBuildInfo), &info) == 0 ||
        info.dli_fname == nullptr) {
      status = arrow::Status::IOError(
          "s3:// needs libarrow_s3 from the folder of libarrow, but libarrow "
          "could not be found");
      return;
    }
    const auto library = std::filesystem::path(info.dli_fname).parent_path() /
                         ("libarrow_s3.so." ARROW_SO_VERSION);
    status = arrow::fs::LoadFileSystemFactories(library.c_str());
  });
  return status;
}

// The AWS library must be shut down before its static objects are destroyed. They are
// created with the first S3 file system, so this is registered after it: handlers run in
// reverse order.
void FinalizeS3AtExit() {
  static std::once_flag registered;
  std::call_once(registered, [] { std::atexit([] { arrow::fs::EnsureFinalized(); }); });
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

arrow::Result<Location> LocateUri(const std::string& uri) {
  if (uri.starts_with("s3://")) {
    ARROW_RETURN_NOT_OK(WithPath(LoadS3(), "Could not load S3 support for", uri));
  }
  Location location{
      .file_system = nullptr, .path = {}, .is_local = uri.starts_with("file://")};
  auto file_system = arrow::fs::FileSystemFromUri(uri, &location.path);
  if (uri.starts_with("s3://")) FinalizeS3AtExit();
  if (!file_system.ok()) {
    if (uri.starts_with("hdfs://") || uri.starts_with("viewfs://")) {
      return arrow::Status::IOError(
          "hdfs:// needs Hadoop's library (libhdfs.so, found through HADOOP_HOME or "
          "ARROW_LIBHDFS_DIR) and a JVM (JAVA_HOME), and CLASSPATH set to `hadoop "
          "classpath --glob`; could not open '",
          WithoutSecrets(uri), "': ", FirstLine(file_system.status().message()));
    }
    return WithPath(file_system.status(), "Could not find a file system for", uri);
  }
  location.file_system = file_system.MoveValueUnsafe();
  return location;
}

// Everything that RFC 3986 reserves, except the slashes between path components.
std::string EscapePath(const std::string& path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
        (byte >= '0' && byte <= '9') ||
        std::string_view("/-._~").find(c) != std::string_view::npos) {
      escaped += c;
    } else {
      escaped += '%';
      escaped += kHex[byte >> 4];
      escaped += kHex[byte & 15];
    }
  }
  return escaped;
}

}  // namespace

bool IsUri(std::string_view path) {
  const size_t colon = path.find("://");
  return colon != std::string_view::npos && colon > 0 &&
         path.substr(0, colon).find('/') == std::string_view::npos;
}

bool IsLocal(std::string_view path) { return !IsUri(path) || path.starts_with("file:"); }

std::string BarePath(const std::string& path) {
  if (!IsUri(path)) return path;
  const size_t begin = path.find('/', path.find("://") + 3);
  if (begin == std::string::npos) return "";
  return arrow::util::UriUnescape(
      std::string_view(path).substr(begin, path.find('?', begin) - begin));
}

arrow::Result<Location> Locate(const std::string& path) {
  if (path.empty()) return arrow::Status::Invalid("Expected a path, got an empty string");
  ARROW_RETURN_NOT_OK(CheckSecretsQuoted(path));
  if (IsUri(path)) return LocateUri(path);
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  if (error) {
    return arrow::Status::IOError("Could not make '", path,
                                  "' absolute: ", error.message());
  }
  return Location{.file_system = std::make_shared<arrow::fs::LocalFileSystem>(),
                  .path = absolute.lexically_normal().string(),
                  .is_local = true};
}

bool HasObjects(const arrow::fs::FileSystem& file_system) {
  const std::string type = file_system.type_name();
  return type == "s3" || type == "gcs" || type == "abfs";
}

arrow::Result<std::string> PathBelow(const std::string& base, const Location& location,
                                     const std::string& path) {
  if (location.is_local) return path;
  const size_t question = base.find('?');
  const std::string query = question == std::string::npos ? "" : base.substr(question);
  std::string head = base.substr(0, question);
  while (head.ends_with('/')) head.pop_back();
  std::string tail = location.path;
  while (tail.ends_with('/')) tail.pop_back();
  for (const auto& end : {tail, EscapePath(tail)}) {
    if (head.ends_with(end)) {
      return head.substr(0, head.size() - end.size()) + EscapePath(path) + query;
    }
  }
  return arrow::Status::IOError("Could not write '", path, "', found below '", base,
                                "', as a URI");
}

arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenFile(
    const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(auto location, Locate(path));
  auto file = location.file_system->OpenInputFile(location.path);
  if (!file.ok()) return WithPath(file.status(), "Could not open", path);
  return file;
}

}  // namespace xshards::io
