// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/status.h>

#include "io/json/options.h"
#include "io/scan/scan_extent.h"

namespace xshards::io {

/// What a scan of JSON files knows.
struct JsonScanOptions {
  JsonOptions json{};
  ScanExtent extent = ScanExtent::kWhole;  // of a scan for types

  arrow::Status Validate() const { return json.Validate(); }

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    JsonOptions::VisitMembers(options.json, visit);
    visit("extent", options.extent);
  }
};

}  // namespace xshards::io
