// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrow/util/cancel.h>

#include "xshards/context.h"
#include "xshards/plan/inferred_types.h"

namespace xshards::io {

/// Run plans on the context's threads while another plan is being made: looking at files
/// is work like any other, with its memory, threads and stop. No action of the user's, so
/// it leaves no profile. The context must outlive what is returned.
RunPlan MakeProbe(Context& context, const arrow::StopToken& stop);

}  // namespace xshards::io
