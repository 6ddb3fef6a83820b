// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

#include "tkdc_commit.h"

namespace tkdc {

const char* const kVersionAndCommit = TKDC_VERSION " (" TKDC_COMMIT ")";

}  // namespace tkdc
