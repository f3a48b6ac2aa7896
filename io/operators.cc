// SPDX-License-Identifier: Apache-2.0
#include "io/operators.h"

#include "io/csv/plan/split_planner.h"
#include "io/csv/plan/type_inference.h"
#include "io/csv/scan.h"
#include "io/csv/writer.h"
#include "io/ipc/scan.h"
#include "io/ipc/writer.h"
#include "io/json/scan.h"
#include "io/json/split_planner.h"
#include "io/json/type_inference.h"
#include "io/json/writer.h"
#include "io/orc/scan.h"
#include "io/parquet/scan.h"
#include "io/parquet/writer.h"
#include "io/tfrecord/feature_inference.h"
#include "io/tfrecord/scan.h"
#include "io/tfrecord/split_planner.h"
#include "io/tfrecord/writer.h"
#include "io/write/file_writer.h"
#include "io/write/pandas_metadata.h"
#include "io/write/staged_remote_output.h"

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
  table.SetScan("tfrecord", MakeTfRecordScan());
  table.SetScan(kTfRecordCutsFormat, MakeTfRecordCutsScan());
  table.SetScan(kTfRecordFeaturesFormat, MakeTfRecordFeaturesScan());
  table.SetTypeFinder("tfrecord", FindTfRecordTypes, DescribeTfRecordPlace);
  table.SetWriter("csv", MakeWriter(WithOptions(OpenCsvWriter)));
  table.SetWriter("json", MakeWriter(WithOptions(OpenJsonWriter)));
  table.SetWriter("parquet", MakeWriter(WithPandasNote(WithOptions(OpenParquetWriter))));
  table.SetWriter("ipc", MakeWriter(WithPandasNote(WithOptions(OpenIpcWriter))));
  table.SetWriter("tfrecord", MakeWriter(WithOptions(OpenTfRecordWriter)));
  table.SetOutput(MakeOutput);
}

}  // namespace xshards::io
