// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <pybind11/pybind11.h>

#include "learn/ps/client.h"
#include "learn/ps/server.h"

namespace xshards::python {

// Waits of the parameter server, for seconds (which may be infinite), without the GIL.
// All but StepWhile look for Ctrl-C ten times a second.

/// Update the weights once all gradients have arrived.
learn::StepReport Step(learn::ParameterServer& server, double timeout);
/// Wait until all gradients have arrived, without an update.
learn::StepReport AwaitGradients(learn::ParameterServer& server, double timeout);
/// Step until the 8 bytes of `word` are not `seen` any more: a message is pending.
/// Raises ValueError if `word` has fewer.
learn::StepReport StepWhile(learn::ParameterServer& server, const pybind11::buffer& word,
                            uint64_t seen, double seconds, double patience);
/// Wait until a replica's last gradient is consumed.
learn::WaitOutcome Wait(learn::ReplicaClient& client, double timeout);

}  // namespace xshards::python
