// SPDX-License-Identifier: Apache-2.0
// Root works in a service's folder as the service's user, so that nothing in there leads it
// elsewhere and no file of root's comes to lie there.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace tkdc::cli {

struct Owner {
  uid_t uid = 0;
  gid_t gid = 0;
};

// From here on this process is that user, if it was root's.
Result<void> become(const Owner& owner);
// The folder's owner.
Result<void> become_owner_of(const std::string& folder);

// Whose a store is; where it is not there yet, whose the folder is that it comes to lie in. Error,
// for root: somebody else than this owner and root can write the configuration or the folder around
// the store. So he could name, or lay there, what is root's or another's.
Result<Owner> owner_of_store(const std::string& config, const std::string& store);

}  // namespace tkdc::cli
