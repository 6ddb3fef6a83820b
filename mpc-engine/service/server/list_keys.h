// SPDX-License-Identifier: Apache-2.0
// A page of the keys that this server has in use, or has dropped (service/wire/key_list.h). By the
// control thread: a page is short enough not to keep answers waiting.
#pragma once

#include "base/result.h"
#include "service/store/store.h"

namespace tkdc {

Result<Bytes> list_keys(Store& store, const KeyId& after);
Result<Bytes> list_dropped(Store& store, const KeyId& after);

}  // namespace tkdc
