// SPDX-License-Identifier: Apache-2.0
#include "io/tfrecord/split_planner.h"

#include "io/fs/file_system.h"
#include "io/scan/file_cuts.h"
#include "io/tfrecord/framing.h"

namespace xshards::io {
namespace {

arrow::Result<std::vector<int64_t>> FindTfRecordCuts(const Split& split,
                                                     const CutOptions& options,
                                                     OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(auto file, OpenFile(split.path));
  return FindTfRecordStarts(*file, split.end, options.target_bytes, context.stop,
                            &context.metrics->bytes_read);
}

}  // namespace

OpenNode MakeTfRecordCutsScan() { return MakeCutsScan(FindTfRecordCuts); }

arrow::Result<std::vector<Split>> CutTfRecordFiles(const std::vector<InputFile>& files,
                                                   int64_t target_bytes,
                                                   const TfRecordOptions& options,
                                                   const RunPlan& run) {
  TextFormat format;
  format.compression = options.compression;
  return CutFiles(
      files, {.target_bytes = target_bytes}, kTfRecordCutsFormat,
      [&](const InputFile& file) { return !IsSequential(file.path, format); }, run);
}

}  // namespace xshards::io
