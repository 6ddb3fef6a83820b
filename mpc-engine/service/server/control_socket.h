// SPDX-License-Identifier: Apache-2.0
// The ROUTER socket of the control plane with everything that must be set
// before it binds: CURVE, the ZAP domain that is enforced, limits, heartbeats.
#pragma once

#include <string>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc {

// A zmq socket of `context`, bound to `endpoint`. The caller closes it.
Result<void*> open_control_socket(void* context, const std::string& endpoint,
                                  const SecretVector& curve_secret_key,
                                  std::size_t max_answers_waiting);

}  // namespace tkdc
