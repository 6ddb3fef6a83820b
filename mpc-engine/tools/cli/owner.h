// SPDX-License-Identifier: Apache-2.0
// Root works in a service's folder as the service's user, so that nothing in there leads it
// elsewhere and no file of root's comes to lie there.
#pragma once

#include <string>

#include "base/result.h"

namespace tkdc::cli {

// From here on this process is the owner of the folder, if it was root's.
Result<void> become_owner_of(const std::string& folder);

}  // namespace tkdc::cli
