// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include <arrow/util/key_value_metadata.h>

#include "io/csv/convert/time_columns.h"
#include "io/csv/parse/value_kinds.h"
#include "io/csv/plan/footer.h"
#include "io/csv/plan/header.h"
#include "io/csv/plan/numbered_lines.h"
#include "io/csv/plan/split_planner.h"
#include "io/csv/plan/type_inference.h"
#include "io/csv/scan_options.h"
#include "io/fs/file_fingerprint.h"
#include "io/fs/file_listing.h"
#include "io/fs/file_system.h"
#include "io/options/option_codec.h"
#include "io/options/quoted_names.h"
#include "io/options/type_names.h"
#include "io/readers.h"
#include "io/scan/hive_scan.h"
#include "io/text/text_splits.h"
#include "xshards/plan/result_store.h"

namespace xshards::io {
namespace {

// Metadata of fields that python/xshards/interop/field_metadata.py reads: that a column
// is a level of the index, with the level's name; a label that is not text; and a dtype,
// here that of a column without rows.
constexpr char kIndexMark[] = "pandas.index";
constexpr char kLabelMark[] = "pandas.label";
constexpr char kDtypeMark[] = "pandas.dtype";

// Files are scanned for record starts in parts of at least this size, enough of them to
// keep all cores busy until the end.
constexpr int64_t kMinSegmentBytes = 1LL << 20;
constexpr int64_t kSegmentsPerCore = 4;

std::vector<std::string> Missing(const std::vector<std::string>& wanted,
                                 const std::vector<std::string>& there) {
  const std::set<std::string> known(there.begin(), there.end());
  std::vector<std::string> missing;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(missing),
               [&](const std::string& name) { return !known.contains(name); });
  return missing;
}

arrow::Status CheckSameColumns(const std::string& first_path,
                               const std::vector<std::string>& first,
                               const std::string& path,
                               const std::vector<std::string>& columns) {
  const auto missing = Missing(first, columns);
  const auto extra = Missing(columns, first);
  if (missing.empty() && extra.empty()) return arrow::Status::OK();
  return arrow::Status::Invalid(
      "Expected the same columns in all files; '", path, "' differs from '", first_path,
      "': missing ", QuotedNames(missing), ", additional ", QuotedNames(extra));
}

// The metadata of a column whose label is the number in its name.
std::string NumberedLabel(const std::string& name) {
  std::string mark = "[\"";
  mark.append(name).append("\", ").append(name).append("]");
  return mark;
}

/// Plans a scan of CSV files.
class CsvPlanner {
 public:
  CsvPlanner(const CsvOptions& options, RunPlan run, arrow::StopToken stop,
             arrow::MemoryPool* pool)
      : options_(options), run_(std::move(run)), stop_(std::move(stop)), pool_(pool) {}

  arrow::Result<ScanNode> Plan(const std::vector<InputFile>& files, int cores) {
    scan_.format = "csv";
    CsvScanOptions found{.csv = options_};
    found.csv.skip_lines.clear();  // each split gets its own
    const int64_t total =
        std::accumulate(files.begin(), files.end(), int64_t{0},
                        [](int64_t sum, const InputFile& f) { return sum + f.size; });
    const CsvCutting cutting{
        .target_bytes = options_.split.TargetBytes(total, cores, options_.nrows),
        .segment_bytes = std::max(kMinSegmentBytes, total / (kSegmentsPerCore * cores)),
        .stop = stop_};
    std::vector<CsvText> texts;
    for (const auto& file : files) {
      ARROW_ASSIGN_OR_RAISE(const CsvLine first, AddFile(file, files[0].path, &found));
      texts.push_back({.file = file, .data_begin = first.position});
      auto lines =
          CutNumberedLines(file, first, cutting.target_bytes, options_, stop_, pool_);
      if (!lines.ok()) return WithPath(lines.status(), "Could not split", file.path);
      SetSplitLines(file.path, *lines, options_.skip_lines, &found);
      for (const CsvLine& line : *lines) {
        if (line.position > first.position) texts.back().starts.push_back(line.position);
      }
    }
    ARROW_ASSIGN_OR_RAISE(scan_.splits,
                          CutCsvFiles(texts, cutting, found.csv, run_, pool_));
    ARROW_RETURN_NOT_OK(DropFooters(stop_, pool_, &found, &scan_.splits));
    DropEmptySplits(&scan_.splits);
    // Rows after the first nrows are not read, so they affect neither type inference nor
    // errors. A single split needs no cut.
    if (options_.nrows.has_value() && scan_.splits.size() > 1) {
      ARROW_RETURN_NOT_OK(
          KeepFirstCsvRows(*options_.nrows, stop_, pool_, found, &scan_.splits));
    }
    scan_.options = MakeOptions(std::move(found));
    ARROW_ASSIGN_OR_RAISE(auto folders, HiveFields(files));
    std::erase_if(folders, [&](const auto& field) { return HasColumn(field->name()); });
    for (const auto& field : folders) folder_columns_.push_back(field->name());
    ARROW_RETURN_NOT_OK(InferSchema());
    if (options_.usecols.has_value()) {
      const auto& wanted = *options_.usecols;
      std::erase_if(folders, [&](const auto& field) {
        return std::find(wanted.begin(), wanted.end(), field->name()) == wanted.end();
      });
    }
    AddHiveFields(folders, &scan_);
    return std::move(scan_);
  }

 private:
  // Take a file's columns; returns where its rows begin.
  arrow::Result<CsvLine> AddFile(const InputFile& file, const std::string& first_path,
                                 CsvScanOptions* found) {
    ARROW_ASSIGN_OR_RAISE(auto header,
                          ReadCsvHeader(file.path, file.size, options_, stop_, pool_));
    if (columns_.empty()) {
      columns_ = header.names;
      num_leading_ = header.num_leading;
    }
    ARROW_RETURN_NOT_OK(CheckSameColumns(first_path, columns_, file.path, header.names));
    found->AddColumns(file.path, header.names);
    const CsvLine first{.position = header.data_begin, .line = header.first_line};
    ARROW_RETURN_NOT_OK(CheckUsedNames(file, first, options_, stop_, pool_));
    return first;
  }

  bool HasColumn(const std::string& name) const {
    return std::find(columns_.begin(), columns_.end(), name) != columns_.end();
  }

  arrow::Status InferSchema() {
    // The index comes last, where it is not shown.
    std::vector<std::string> used = columns_;
    std::rotate(used.begin(), used.begin() + num_leading_, used.end());
    if (options_.usecols.has_value()) {
      auto known = columns_;
      known.insert(known.end(), folder_columns_.begin(), folder_columns_.end());
      const auto missing = Missing(*options_.usecols, known);
      if (!missing.empty()) {
        return arrow::Status::KeyError(
            "usecols has columns that the files do not have: ", QuotedNames(missing),
            "; they have ", QuotedNames(known));
      }
      const std::set<std::string> wanted(options_.usecols->begin(),
                                         options_.usecols->end());
      used.erase(std::remove_if(used.begin(), used.end() - num_leading_,
                                [&](const auto& name) { return !wanted.contains(name); }),
                 used.end() - num_leading_);
    }
    std::vector<std::string> inferred;
    for (const auto& name : used) {
      if (!options_.dtype.contains(name)) inferred.push_back(name);
    }
    std::vector<CsvKinds> kinds(inferred.size());
    if (!inferred.empty()) {
      // The first rows of every split.
      ARROW_ASSIGN_OR_RAISE(kinds,
                            FindCsvKinds(scan_, inferred, ScanExtent::kSample, run_));
    }
    ARROW_RETURN_NOT_OK(SettleProvisionalText(inferred, &kinds));
    scan_.inferred = !kinds.empty();
    arrow::FieldVector fields;
    size_t next_inferred = 0;
    const bool is_numbered = !options_.has_header() && options_.names.empty();
    for (const auto& name : used) {
      auto metadata = std::make_shared<arrow::KeyValueMetadata>();
      // Columns without names are numbered.
      if (is_numbered) metadata->Append(kLabelMark, NumberedLabel(name));
      auto field = arrow::field(name, arrow::large_utf8());
      if (const auto asked = options_.dtype.find(name); asked != options_.dtype.end()) {
        ARROW_ASSIGN_OR_RAISE(auto type, TypeFromName(asked->second));
        field = field->WithType(type);
      } else {
        const CsvKinds seen = kinds[next_inferred++];
        if (seen == 0) metadata->Append(kDtypeMark, "object");
        const auto times = TimesOf(name, options_);
        field = times.has_value() && seen != 0 ? TimeFieldOf(*times, seen, field)
                                               : FieldOf(seen, field);
      }
      if (metadata->size() > 0) field = field->WithMergedMetadata(std::move(metadata));
      fields.push_back(std::move(field));
    }
    for (int64_t level = 0; level < num_leading_; ++level) {
      auto& field = fields[fields.size() - static_cast<size_t>(num_leading_ - level)];
      field = field->WithMergedMetadata(arrow::key_value_metadata(
          {{kIndexMark, "[" + std::to_string(level) + ", null]"}}));
    }
    scan_.schema = arrow::schema(std::move(fields));
    return arrow::Status::OK();
  }

  // Text columns that numbers after the samples could turn into numbers: text accepts all
  // values, so no mismatch would be reported.
  arrow::Status SettleProvisionalText(const std::vector<std::string>& columns,
                                      std::vector<CsvKinds>* kinds) {
    std::vector<std::string> unsettled;
    std::vector<size_t> places;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (!IsProvisionalText((*kinds)[i]) || options_.times.contains(columns[i]))
        continue;
      unsettled.push_back(columns[i]);
      places.push_back(i);
    }
    if (unsettled.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto all,
                          FindCsvKinds(scan_, unsettled, ScanExtent::kWhole, run_));
    for (size_t i = 0; i < places.size(); ++i) (*kinds)[places[i]] |= all[i];
    return arrow::Status::OK();
  }

  const CsvOptions& options_;
  const RunPlan run_;
  const arrow::StopToken stop_;
  arrow::MemoryPool* const pool_;
  std::vector<std::string> columns_;         // of the first file
  std::vector<std::string> folder_columns_;  // named by folders
  int64_t num_leading_ = 0;                  // of these
  ScanNode scan_;
};

}  // namespace

arrow::Result<XShards> ReadCsv(std::shared_ptr<Context> context, const Paths& paths,
                               const CsvOptions& options, const arrow::StopToken& stop) {
  ARROW_RETURN_NOT_OK(options.Validate());
  ARROW_ASSIGN_OR_RAISE(auto files, ListFiles(paths.values));
  ARROW_RETURN_NOT_OK(TakeFingerprints(&files));
  CsvPlanner planner(options, context->MakeProbe(stop), stop, context->memory_pool());
  ARROW_ASSIGN_OR_RAISE(auto scan, planner.Plan(files, context->cores()));
  if (scan.inferred) scan.found = context->results().MakeId();
  XShards shards(std::move(context), MakeNode(std::move(scan)));
  return options.nrows.has_value() ? shards.Head(*options.nrows) : shards;
}

arrow::Result<int64_t> CountCsvLines(std::shared_ptr<Context> context, const Paths& paths,
                                     const CsvOptions& options,
                                     const arrow::StopToken& stop) {
  ARROW_RETURN_NOT_OK(options.Validate());
  ARROW_ASSIGN_OR_RAISE(const auto files, ListFiles(paths.values));
  int64_t most = 0;
  for (const auto& file : files) {
    const auto lines = CountLines(file, options, stop, context->memory_pool());
    if (!lines.ok()) return WithPath(lines.status(), "Could not read", file.path);
    most = std::max(most, *lines);
  }
  return most;
}

}  // namespace xshards::io
