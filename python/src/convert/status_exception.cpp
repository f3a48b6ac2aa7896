// SPDX-License-Identifier: Apache-2.0
#include "python/src/convert/status_exception.h"

#include <cerrno>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <tuple>

#include <arrow/python/common.h>
#include <arrow/util/io_util.h>

#include "io/fs/file_system.h"
#include "io/text/parse_error.h"
#include "xshards/plan/inferred_types.h"

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

// A class of xshards.errors.
py::object ErrorClass(const char* name) {
  return py::module_::import("xshards.errors").attr(name);
}

const char* ErrorName(const arrow::Status& status) {
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

// The exceptions that pandas raises for such text.
py::object TextError(const io::TextFault& fault, const py::str& message) {
  switch (fault.kind()) {
    case io::TextFault::Kind::kMalformed:
      return ErrorClass("XShardsParserError")(message);
    case io::TextFault::Kind::kNoColumns:
      return ErrorClass("XShardsEmptyDataError")(message);
    case io::TextFault::Kind::kUndecodable:
      return ErrorClass("XShardsUnicodeDecodeError")(message, fault.encoding(),
                                                     py::bytes(fault.bytes()));
  }
  return ErrorClass("XShardsValueError")(message);
}

// The details of a worker's error that the parent needs to infer the types of all values
// again and to name the value: its text as in the file.
py::object TypeMismatchError(const TypeMismatchLocation& place, const py::str& message) {
  return ErrorClass("XShardsTypeMismatchError")(
      message, py::make_tuple(py::bytes(place.value()), py::bytes(place.column()),
                              py::bytes(place.path()), place.begin(), place.offset()));
}

// The Status that such an error was made from.
arrow::Status TypeMismatchOf(const py::object& error) {
  const auto [value, column, path, begin, offset] =
      error.attr("place")
          .cast<std::tuple<py::bytes, py::bytes, py::bytes, int64_t, int64_t>>();
  return TypeMismatchError(
      std::make_shared<TypeMismatchLocation>(value, column, path, begin, offset));
}

py::object ErrorOf(const arrow::Status& status) {
  const py::str message = MessageText(status.message());
  if (const auto* mismatch = TypeMismatchLocation::Of(status))
    return TypeMismatchError(*mismatch, message);
  const io::TextFault* const fault = io::TextFault::Of(status);
  return fault != nullptr ? TextError(*fault, message)
                          : ErrorClass(ErrorName(status))(message);
}

}  // namespace

py::str MessageText(std::string_view message) {
  // It is shown in logs and notebooks.
  const std::string shown = io::WithoutSecrets(message);
  return py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(
      shown.data(), static_cast<py::ssize_t>(shown.size()), "replace"));
}

void Unwrap(const arrow::Status& status) {
  if (status.ok()) return;
  if (arrow::py::IsPyError(status)) {
    arrow::py::RestorePyError(status);
  } else {
    const py::object error = ErrorOf(status);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  }
  throw py::error_already_set();
}

namespace {

/// The Python function that called the engine.
std::string Caller() {
  PyFrameObject* const frame = PyEval_GetFrame();
  if (frame == nullptr) return "XShards";
  const auto code = py::reinterpret_steal<py::object>(
      reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  return code.attr("co_qualname").cast<std::string>();
}

void SetError(const char* name, const char* message) {
  try {
    const std::string text = Caller() + ": " + message;
    PyErr_SetObject(ErrorClass(name).ptr(), MessageText(text).ptr());
  } catch (py::error_already_set& error) {
    error.restore();
  }
}

}  // namespace

void TranslateExceptions() {
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const py::error_already_set&) {
      throw;  // Python's own, and those below that pybind11 makes of its own
    } catch (const py::builtin_exception&) {
      throw;
    } catch (const std::bad_alloc&) {
      SetError("XShardsMemoryError", "the system has no more memory");
    } catch (const std::exception& error) {
      SetError("XShardsRuntimeError", error.what());
    }
  });
}

arrow::Status ToStatus(py::error_already_set& error) {
  if (error.matches(ErrorClass("XShardsTypeMismatchError")))
    return TypeMismatchOf(error.value());
  error.restore();
  return arrow::py::ConvertPyError();
}

}  // namespace xshards::python
