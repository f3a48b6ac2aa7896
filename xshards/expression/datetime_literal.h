// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include <arrow/result.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

namespace xshards {

/// Parse text that is compared with times of a type: a date, year first, that may end
/// after any part ("2013", "2013-2", "2013/02/01", "20130201"), then hours, minutes and
/// so on. Local time of the type's zone, unless it ends in an offset ("Z", "+01:00"). The
/// result has a finer unit than the type if the text needs one, and a coarser one than
/// nanoseconds if it is out of their range. Text that is empty or "NaT" is missing;
/// TypeError names the text and the expected format.
arrow::Result<std::shared_ptr<arrow::Scalar>> ReadTimeText(
    std::string_view text, const arrow::TimestampType& type);

}  // namespace xshards
