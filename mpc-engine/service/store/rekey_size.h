// SPDX-License-Identifier: Apache-2.0
// How much work a change of a store's keys is, for those who show how far it is.
#pragma once

#include "service/store/store.h"

namespace tkdc {

// Of a store on disk: how many values Store::rewrite() will see.
Result<std::size_t> values_to_rewrite(Store& store);

}  // namespace tkdc
