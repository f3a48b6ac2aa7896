// SPDX-License-Identifier: Apache-2.0
#include "python/src/status_exception.h"

#include <cerrno>
#include <string>

#include <arrow/python/common.h>
#include <arrow/util/io_util.h>

#include "io/file_system.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

const char* OsErrorClass(const arrow::Status& status) {
  switch (arrow::internal::ErrnoFromStatus(status)) {
    case ENOENT:
      return "XShardsFileNotFoundError";
    case EACCES:
    case EPERM:
      return "XShardsPermissionError";
    default:
      return "XShardsOSError";
  }
}

const char* ErrorClass(const arrow::Status& status) {
  switch (status.code()) {
    case arrow::StatusCode::Invalid:
      return "XShardsValueError";
    case arrow::StatusCode::KeyError:
      return "XShardsKeyError";
    case arrow::StatusCode::TypeError:
      return "XShardsTypeError";
    case arrow::StatusCode::CapacityError:
      return "XShardsOverflowError";
    case arrow::StatusCode::IndexError:
      return "XShardsIndexError";
    case arrow::StatusCode::IOError:
      return OsErrorClass(status);
    case arrow::StatusCode::AlreadyExists:
      return "XShardsFileExistsError";
    case arrow::StatusCode::OutOfMemory:
      return "XShardsMemoryError";
    case arrow::StatusCode::NotImplemented:
      return "XShardsNotImplementedError";
    case arrow::StatusCode::Cancelled:
      return "XShardsCancelledError";
    default:
      return "XShardsRuntimeError";
  }
}

}  // namespace

py::str MessageText(std::string_view message) {
  // It ends up in logs and notebooks.
  const std::string shown = io::WithoutSecrets(message);
  return py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(
      shown.data(), static_cast<py::ssize_t>(shown.size()), "replace"));
}

void Unwrap(const arrow::Status& status) {
  if (status.ok()) return;
  if (arrow::py::IsPyError(status)) {
    arrow::py::RestorePyError(status);
  } else {
    const py::object type =
        py::module_::import("xshards.errors").attr(ErrorClass(status));
    PyErr_SetObject(type.ptr(), MessageText(status.message()).ptr());
  }
  throw py::error_already_set();
}

arrow::Status ToStatus(py::error_already_set& error) {
  error.restore();
  return arrow::py::ConvertPyError();
}

}  // namespace xshards::python
