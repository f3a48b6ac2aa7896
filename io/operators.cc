// SPDX-License-Identifier: Apache-2.0
#include "io/operators.h"

#include "io/csv_cuts.h"
#include "io/csv_scan.h"
#include "io/csv_types.h"
#include "io/csv_writer.h"
#include "io/file_writer.h"
#include "io/ipc_scan.h"
#include "io/ipc_writer.h"
#include "io/json_cuts.h"
#include "io/json_scan.h"
#include "io/json_types.h"
#include "io/json_writer.h"
#include "io/misfit_place.h"
#include "io/orc_scan.h"
#include "io/pandas_note.h"
#include "io/parquet_scan.h"
#include "io/parquet_writer.h"
#include "io/remote_output.h"

namespace xshards::io {

void AddOperators(OperatorTable& table) {
  table.SetScan("csv", MakeCsvScan());
  table.SetScan(kCsvCutsFormat, MakeCsvCutsScan());
  table.SetScan(kCsvKindsFormat, MakeCsvKindsScan());
  table.SetTypeFinder("csv", FindCsvTypes, DescribeCsvPlace);
  table.SetScan("json", MakeJsonScan());
  table.SetScan(kJsonCutsFormat, MakeJsonCutsScan());
  table.SetScan(kJsonShapesFormat, MakeJsonShapesScan());
  table.SetTypeFinder("json", FindJsonTypes, DescribeJsonPlace);
  table.SetScan("parquet", MakeParquetScan());
  table.SetScan("ipc", MakeIpcScan());
  table.SetScan("orc", MakeOrcScan());
  table.SetWriter("csv", MakeWriter(OpenCsvWriter));
  table.SetWriter("json", MakeWriter(OpenJsonWriter));
  table.SetWriter("parquet", MakeWriter(WithPandasNote(OpenParquetWriter)));
  table.SetWriter("ipc", MakeWriter(WithPandasNote(OpenIpcWriter)));
  table.SetOutput(MakeOutput);
}

}  // namespace xshards::io
