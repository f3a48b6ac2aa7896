// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/status.h>

#include "io/scan/scan_extent.h"
#include "io/tfrecord/options.h"

namespace xshards::io {

/// What a scan of TFRecord files knows.
struct TfRecordScanOptions {
  TfRecordOptions tfrecord{};  // less columns and schema, which a ScanNode has itself
  ScanExtent extent = ScanExtent::kWhole;  // of a scan for types

  arrow::Status Validate() const { return tfrecord.Validate(); }

  template <typename Options, typename Visit>
  static void VisitMembers(Options& options, const Visit& visit) {
    TfRecordOptions::VisitMembers(options.tfrecord, visit);
    visit("extent", options.extent);
  }
};

}  // namespace xshards::io
