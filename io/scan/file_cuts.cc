// SPDX-License-Identifier: Apache-2.0
#include "io/scan/file_cuts.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>

#include "io/fs/file_system.h"
#include "io/options/option_codec.h"
#include "io/text/text_splits.h"

namespace xshards::io {
namespace {

constexpr int64_t kEndOfFile = -1;  // after the starts of each file

arrow::Result<std::vector<int64_t>> StartsOf(const FindStarts& find, const ScanNode& scan,
                                             const Split& split,
                                             OperatorContext& context) {
  ARROW_ASSIGN_OR_RAISE(const auto options, OptionsOf<CutOptions>(scan.options));
  auto starts = find(split, *options, context);
  if (!starts.ok()) return WithPath(starts.status(), "Could not split", split.path);
  return starts;
}

}  // namespace

arrow::Status CutOptions::Validate() const {
  if (target_bytes >= 1) return arrow::Status::OK();
  return arrow::Status::Invalid("target_bytes must be 1 or more, got ", target_bytes);
}

OpenNode MakeCutsScan(FindStarts find) {
  return MakeScan([find = std::move(find)](const ScanNode& scan, const Split& split,
                                           const std::shared_ptr<arrow::Schema>& schema,
                                           OperatorContext& context) {
    return MakeOneBatch(
        schema, [find, &scan, &split, &context]() -> arrow::Result<arrow::ArrayVector> {
          ARROW_ASSIGN_OR_RAISE(const auto starts, StartsOf(find, scan, split, context));
          arrow::Int64Builder builder(context.pool);
          ARROW_RETURN_NOT_OK(builder.AppendValues(starts));
          ARROW_RETURN_NOT_OK(builder.Append(kEndOfFile));
          ARROW_ASSIGN_OR_RAISE(auto array, builder.Finish());
          return arrow::ArrayVector{std::move(array)};
        });
  });
}

arrow::Result<std::vector<Split>> CutFiles(
    const std::vector<InputFile>& files, const CutOptions& options, const char* format,
    const std::function<bool(const InputFile& file)>& can_cut, const RunPlan& run) {
  ScanNode probe{.format = format};
  probe.options = MakeOptions(options);
  probe.schema = arrow::schema({arrow::field("start", arrow::int64())});
  const auto is_cut = [&](const InputFile& file) {
    return file.size > options.target_bytes && can_cut(file);
  };
  for (const auto& file : files) {
    if (!is_cut(file)) continue;
    probe.splits.push_back(
        {.path = file.path, .begin = 0, .end = file.size, .num_bytes = file.size});
  }
  std::vector<int64_t> found;  // of all files that are split
  if (!probe.splits.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto batches, run(MakeNode(std::move(probe))));
    for (const auto& batch : batches) {
      const auto& starts = static_cast<const arrow::Int64Array&>(*batch->column(0));
      found.insert(found.end(), starts.raw_values(),
                   starts.raw_values() + starts.length());
    }
  }
  std::vector<Split> splits;
  auto next = found.begin();
  for (const auto& file : files) {
    std::vector<int64_t> starts;
    if (is_cut(file)) {
      const auto end = std::find(next, found.end(), kEndOfFile);
      starts.assign(next, end);
      next = end == found.end() ? end : std::next(end);
    }
    auto pieces = CutAt(file, 0, starts);
    std::move(pieces.begin(), pieces.end(), std::back_inserter(splits));
  }
  return splits;
}

}  // namespace xshards::io
