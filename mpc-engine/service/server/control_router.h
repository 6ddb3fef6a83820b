// SPDX-License-Identifier: Apache-2.0
// The ROUTER socket of the control plane with everything that must be set
// before it binds: CURVE, the ZAP domain that is enforced, limits, heartbeats.
#pragma once

#include <string>
#include <zmq.hpp>

#include "base/result.h"
#include "base/secret.h"

namespace tkdc {

// Bound to `endpoint`.
Result<zmq::socket_t> open_control_router(zmq::context_t& context, const std::string& endpoint,
                                          const SecretVector& curve_secret_key,
                                          std::size_t max_answers_waiting);

}  // namespace tkdc
