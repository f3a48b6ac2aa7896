// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "io/options/quoted_names.h"
#include "io/text/bad_lines.h"
#include "io/text/text_compression.h"
#include "io/text/text_encoding.h"
#include "python/src/convert/pyarrow_caster.h"
#include "python/src/convert/status_exception.h"
#include "xshards/output/job_output.h"

namespace xshards::python {

// Enumerations go by their names.
inline void FromName(const std::string& name, io::BadLines& to) {
  to = Unwrap(io::BadLinesFromName(name));
}
inline void FromName(const std::string& name, WriteMode& to) {
  to = Unwrap(WriteModeFromName(name));
}
inline void FromName(const std::string& name, io::TextEncoding& to) {
  to = Unwrap(io::TextEncodingFromName(name));
}
inline void FromName(const std::string& name, io::TextCompression& to) {
  to = Unwrap(io::TextCompressionFromName(name));
}

template <typename T>
void SetOption(const pybind11::handle& from, T& to) {
  if constexpr (std::is_enum_v<T>) {
    FromName(from.cast<std::string>(), to);
  } else {
    to = from.cast<T>();
  }
}
template <typename T>
void SetOption(const pybind11::handle& from, std::optional<T>& to) {
  to.reset();
  if (!from.is_none()) SetOption(from, to.emplace());
}
inline void SetOption(const pybind11::handle& from, std::shared_ptr<arrow::Schema>& to) {
  to = from.is_none() ? nullptr : from.cast<std::shared_ptr<arrow::Schema>>();
}

/// Options by the names of their members; those that the dict lacks have their defaults.
/// Raises an error that names an unknown key and lists the known ones.
template <typename Options>
Options OptionsFrom(const pybind11::dict& from, const std::string& owner) {
  Options options;
  std::vector<std::string> known;
  Options::VisitMembers(options, [&](const char* name, auto& member) {
    known.emplace_back(name);
    if (from.contains(name)) SetOption(from[name], member);
  });
  for (const auto& item : from) {
    Unwrap(io::CheckOptionName(item.first.cast<std::string>(), known, owner));
  }
  return options;
}

}  // namespace xshards::python
