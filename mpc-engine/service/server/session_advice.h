// SPDX-License-Identifier: Apache-2.0
// What an administrator is told beside the error when the servers come to no session: which
// part of tkdc.toml, which command, which section of docs/operations.md.
#pragma once

#include "session/advice.h"

namespace tkdc {

SessionAdvice session_advice(int parties = 3);

}  // namespace tkdc
