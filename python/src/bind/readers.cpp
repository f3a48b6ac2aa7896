// SPDX-License-Identifier: Apache-2.0
#include "io/readers.h"

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "io/csv/parse/time_format.h"
#include "io/fs/file_system.h"
#include "io/json/document_reader.h"
#include "python/src/bind/options.h"
#include "python/src/bindings.h"
#include "python/src/convert/gil.h"
#include "python/src/convert/pyarrow_caster.h"
#include "python/src/convert/status_exception.h"
#include "python/src/run/action.h"

namespace xshards::python {

namespace py = pybind11;

namespace {

/// Bind a reader; looking at many files takes a while, so it can be interrupted.
template <typename Options, typename Read>
void Bind(py::module_& module, const char* name, Read read) {
  module.def(name, [=](const std::shared_ptr<Context>& context,
                       std::vector<std::string> paths, const py::dict& options) {
    return RunAction(
        *context, py::none(),
        [&,
         converted = OptionsFrom<Options>(options, name)](const arrow::StopToken& stop) {
          const io::Paths given(std::move(paths));
          // CSV, JSON and TFRecord files are scanned to cut them, which can be stopped.
          if constexpr (std::is_invocable_v<Read, std::shared_ptr<Context>, io::Paths,
                                            Options, arrow::StopToken>) {
            return read(context, given, converted, stop);
          } else {
            return read(context, given, converted);
          }
        });
  });
}

/// The rows, whether columns have keys, the labels of rows or None, and the header; None
/// for a document that is left to pandas.
py::object ReadDocument(const std::string& path, const std::string& orient) {
  const auto layout = Unwrap(io::JsonOrientFromName(orient));
  const auto read = [&] {
    const ReleaseGil released;
    return io::ReadJsonDocument(path, layout, arrow::default_memory_pool());
  };
  const auto document = Unwrap(read());
  if (!document.has_value()) return py::none();
  return py::make_tuple(document->rows, document->has_keys, document->index,
                        document->header);
}

}  // namespace

void BindReaders(py::module_& module) {
  module.def("can_read_xz", io::CanReadXz);
  module.def("check_secrets_quoted",
             [](const std::string& path) { Unwrap(io::CheckSecretsQuoted(path)); });
  module.def("without_secrets",
             [](const std::string& text) { return MessageText(text); });
  Bind<io::CsvOptions>(module, "read_csv", io::ReadCsv);
  Bind<io::CsvOptions>(module, "count_csv_lines", io::CountCsvLines);
  module.def("reads_time_format", [](const std::string& format) {
    return io::TimeFormat::Make(format).has_value();
  });
  Bind<io::JsonOptions>(module, "read_json", io::ReadJson);
  module.def("holds_json_columns",
             [](const std::shared_ptr<Context>& context, const std::string& path) {
               return RunAction(*context, py::none(), [&](const arrow::StopToken& stop) {
                 return io::HoldsJsonColumns(*context, path, stop);
               });
             });
  // Runs in worker processes, which have no Context.
  module.def("read_json_document", ReadDocument);
  Bind<io::ParquetOptions>(module, "read_parquet", io::ReadParquet);
  Bind<io::ParquetOptions>(module, "read_ipc", io::ReadIpc);
  Bind<io::ParquetOptions>(module, "read_orc", io::ReadOrc);
  Bind<io::TfRecordOptions>(module, "read_tfrecord", io::ReadTfRecord);
}

}  // namespace xshards::python
