// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "xshards/export.h"
#include "xshards/memory/private_mapping.h"
#include "xshards/memory/segment.h"

namespace xshards {

/// A column whose buffers are in memory segments, each in any of them: a column that a
/// function returns unchanged stays in the segment it came from.
struct XSHARDS_EXPORT ArrayReference {
  struct Buffer {
    bool present = false;              // the array has such a buffer
    std::shared_ptr<Segment> segment;  // nullptr if it has no bytes
    Segment::Range range;
  };

  int64_t length = 0;
  int64_t null_count = 0;
  int64_t offset = 0;
  std::vector<Buffer> buffers;
  std::vector<ArrayReference> children;
  std::vector<ArrayReference> dictionary;  // one or none

  /// Build the column, zero copy; it keeps the segments' mappings alive.
  arrow::Result<std::shared_ptr<arrow::Array>> Read(
      const std::shared_ptr<arrow::DataType>& type) const;
};

/// Refer to a column all of whose bytes are in one segment; `mapping` maps the segment.
XSHARDS_EXPORT ArrayReference ReferWithin(const arrow::ArrayData& column,
                                          const std::shared_ptr<Segment>& segment,
                                          const arrow::Buffer& mapping);

/// Which columns of a batch can be passed by reference: most of their bytes are unchanged
/// bytes of segments in `memory`, and the batch uses enough of each segment to justify
/// keeping the segment alive.
XSHARDS_EXPORT std::vector<bool> FindReferences(const arrow::RecordBatch& batch,
                                                const PrivateMemory& memory);

/// Returns the segment that this output is written to; creates it on first use.
using OwnSegment = std::function<arrow::Result<std::shared_ptr<Segment>>()>;

/// Refer to a column that FindReferences found. Its few bytes that are in no segment, or
/// changed, are appended to the output's segment.
XSHARDS_EXPORT arrow::Result<ArrayReference> Refer(const arrow::ArrayData& column,
                                                   const PrivateMemory& memory,
                                                   const OwnSegment& own);

}  // namespace xshards
