// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "io/csv_dialect.h"
#include "io/csv_header.h"
#include "io/csv_rows.h"
#include "io/csv_scan.h"
#include "io/csv_types.h"
#include "io/csv_values.h"
#include "io/file_listing.h"
#include "io/file_system.h"
#include "io/parallel_for.h"
#include "io/quoted_names.h"
#include "io/readers.h"
#include "io/text_input.h"
#include "io/text_splits.h"
#include "io/type_names.h"

namespace xshards::io {
namespace {

constexpr int64_t kSampleBytes = 64LL << 10;

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

/// Plans the reading of CSV files.
class CsvPlanner {
 public:
  CsvPlanner(const CsvOptions& options, arrow::MemoryPool* pool)
      : options_(options), values_(options), pool_(pool) {}

  arrow::Result<ScanNode> Plan(const std::vector<InputFile>& files, int cores) {
    scan_.format = "csv";
    scan_.options = options_.ToMap();
    const int64_t total =
        std::accumulate(files.begin(), files.end(), int64_t{0},
                        [](int64_t sum, const InputFile& f) { return sum + f.size; });
    const int64_t target_bytes = options_.split.TargetBytes(total, cores);
    std::vector<int64_t> data_begins;
    for (const auto& file : files) {
      ARROW_ASSIGN_OR_RAISE(const int64_t data_begin, AddFile(file, files[0].path));
      data_begins.push_back(data_begin);
    }
    // Files are read through for where their records start.
    std::vector<std::vector<Split>> splits(files.size());
    ARROW_RETURN_NOT_OK(ParallelFor(files.size(), cores, [&](size_t i) {
      return PlanCsvSplits(files[i], data_begins[i], target_bytes, options_, pool_)
          .Value(&splits[i]);
    }));
    for (auto& some : splits) {
      std::move(some.begin(), some.end(), std::back_inserter(scan_.splits));
    }
    DropEmptySplits(&scan_.splits);
    ARROW_RETURN_NOT_OK(InferSchema());
    return std::move(scan_);
  }

 private:
  // Take a file's columns; returns where its rows begin.
  arrow::Result<int64_t> AddFile(const InputFile& file, const std::string& first_path) {
    ARROW_ASSIGN_OR_RAISE(auto header,
                          ReadCsvHeader(file.path, file.size, options_, pool_));
    if (columns_.empty()) columns_ = header.names;
    ARROW_RETURN_NOT_OK(CheckSameColumns(first_path, columns_, file.path, header.names));
    SetFileColumns(file.path, header.names, &scan_.options);
    return header.data_begin;
  }

  arrow::Status InferSchema() {
    std::vector<std::string> used = columns_;
    if (options_.usecols.has_value()) {
      const auto missing = Missing(*options_.usecols, columns_);
      if (!missing.empty()) {
        return arrow::Status::KeyError(
            "usecols names columns that the files do not have: ", QuotedNames(missing),
            "; they have ", QuotedNames(columns_));
      }
      const std::set<std::string> wanted(options_.usecols->begin(),
                                         options_.usecols->end());
      std::erase_if(used, [&](const auto& name) { return !wanted.contains(name); });
    }
    std::map<std::string, CsvKinds> kinds;  // of the columns to infer
    for (const auto& name : used) {
      if (!options_.dtype.contains(name)) kinds[name] = 0;
    }
    for (size_t i = 0; i < scan_.splits.size(); ++i) {
      const auto rows = Sample(scan_.splits[i], &kinds);
      if (!rows.ok()) {
        return WithPath(rows.status(), "Could not infer the types of",
                        scan_.splits[i].path);
      }
      // Rows behind the first nrows are not read, so they have no say in the types.
      if (options_.nrows.has_value() && *rows >= *options_.nrows) {
        scan_.splits.resize(i + 1);
      }
    }
    ARROW_RETURN_NOT_OK(SettleProvisionalText(&kinds));
    scan_.guessed = !kinds.empty();
    scan_.found = std::make_shared<SchemaCell>();
    arrow::FieldVector fields;
    for (const auto& name : used) {
      std::shared_ptr<arrow::DataType> type;
      if (const auto asked = options_.dtype.find(name); asked != options_.dtype.end()) {
        ARROW_ASSIGN_OR_RAISE(type, TypeFromName(asked->second));
      } else {
        type = TypeOf(kinds[name]);
      }
      fields.push_back(arrow::field(name, std::move(type)));
    }
    scan_.schema = arrow::schema(std::move(fields));
    return arrow::Status::OK();
  }

  // Text that numbers behind the samples would make numbers: as it takes all values, no
  // misfit would tell.
  arrow::Status SettleProvisionalText(std::map<std::string, CsvKinds>* kinds) {
    std::vector<std::string> columns;
    for (const auto& [name, seen] : *kinds) {
      if (IsProvisionalText(seen)) columns.push_back(name);
    }
    if (columns.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto all, FindCsvKinds(scan_, columns, pool_));
    for (size_t i = 0; i < columns.size(); ++i) (*kinds)[columns[i]] |= all[i];
    return arrow::Status::OK();
  }

  // Add the kinds of values in the first rows of a split; returns how many rows these
  // are.
  arrow::Result<int64_t> Sample(const Split& split,
                                std::map<std::string, CsvKinds>* kinds) {
    ARROW_ASSIGN_OR_RAISE(const auto file_columns,
                          GetFileColumns(split.path, scan_.options));
    ARROW_ASSIGN_OR_RAISE(auto input, TextInput::Open(split.path, ToTextFormat(options_),
                                                      split.begin, split.end, pool_));
    TextBlocks blocks(std::move(input), kSampleBytes, pool_);
    CsvRows rows(options_);
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const auto block, blocks.Next());
      rows.Find(block.mutable_text(), block.buffer->size(), block.is_last,
                static_cast<int64_t>(file_columns.size()));
      if (rows.num_rows() == 0 && !block.is_last && !rows.too_long()) continue;
      const int64_t num_rows =
          std::min(rows.num_rows(), options_.nrows.value_or(rows.num_rows()));
      for (size_t i = 0; i < file_columns.size(); ++i) {
        const auto known = kinds->find(file_columns[i]);
        if (known == kinds->end()) continue;
        known->second |= values_.KindsOf(rows, static_cast<int64_t>(i), num_rows);
      }
      return num_rows;
    }
  }

  const CsvOptions& options_;
  const CsvValues values_;
  arrow::MemoryPool* const pool_;
  std::vector<std::string> columns_;  // of the first file
  ScanNode scan_;
};

}  // namespace

arrow::Result<XShards> ReadCsv(std::shared_ptr<Context> context, const Paths& paths,
                               const CsvOptions& options) {
  ARROW_RETURN_NOT_OK(options.Validate());
  ARROW_ASSIGN_OR_RAISE(const auto files, ListFiles(paths.values));
  CsvPlanner planner(options, context->memory_pool());
  ARROW_ASSIGN_OR_RAISE(auto scan, planner.Plan(files, context->cores()));
  XShards shards(std::move(context), MakeNode(std::move(scan)));
  return options.nrows.has_value() ? shards.Head(*options.nrows) : shards;
}

}  // namespace xshards::io
