// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arrow/status.h>

#include "io/csv/options.h"
#include "io/scan/scan_extent.h"
#include "xshards/plan/plan.h"

namespace xshards::io {

/// The lines to leave out of a split, by number.
struct CsvSplitLines {
  int64_t first_line = 0;                              // the number of the split's first
  std::vector<std::pair<int64_t, int64_t>> skipped{};  // runs: the first, the last

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    visit("first_line", options.first_line);
    visit("skipped", options.skipped);
  }
};

/// What a scan of CSV files knows: how to read them, and what planning found in them.
struct CsvScanOptions {
  CsvOptions csv{};  // without skip_lines, of which each split has its own
  /// The columns of each file, in its order: once for all files, and again, by path, for
  /// those whose order differs from the first one's.
  std::vector<std::string> columns{};
  std::map<std::string, std::vector<std::string>> own_columns{};
  /// By path and begin of a split. Each split holds only its own skipped lines to
  /// bound its size.
  std::map<std::pair<std::string, int64_t>, CsvSplitLines> lines{};
  /// Where the data of files ends that can only be read from the start, by path.
  std::map<std::string, int64_t> text_ends{};
  ScanExtent extent = ScanExtent::kWhole;  // of a scan for types

  /// Take the columns of the next file.
  void AddColumns(const std::string& path, const std::vector<std::string>& names);
  /// Take the lines to leave out of a split, ascending.
  void AddLines(const std::string& path, int64_t begin, int64_t first_line,
                std::span<const int64_t> skipped);

  const std::vector<std::string>& ColumnsOf(const std::string& path) const;
  /// The options for a split, with its lines to leave out; and the number of its first
  /// line, or nothing where there are none.
  CsvOptions OptionsFor(const Split& split) const;
  std::optional<int64_t> FirstLineOf(const Split& split) const;

  arrow::Status Validate() const { return csv.Validate(); }

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    CsvOptions::VisitMembers(options.csv, visit);
    visit("columns", options.columns);
    visit("own_columns", options.own_columns);
    visit("lines", options.lines);
    visit("text_ends", options.text_ends);
    visit("extent", options.extent);
  }
};

/// What a scan for places to cut CSV files at knows.
struct CsvCutOptions {
  char sep = ',';
  char quotechar = '"';
  int64_t target_bytes = 1;
  std::map<std::string, int64_t> data_begins{};  // of files, by path

  arrow::Status Validate() const;

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    visit("sep", options.sep);
    visit("quotechar", options.quotechar);
    visit("target_bytes", options.target_bytes);
    visit("data_begins", options.data_begins);
  }
};

}  // namespace xshards::io
