// SPDX-License-Identifier: Apache-2.0
// A page of keys as an agent passes it on: what is taken for one is in order, and written again it
// is the same octets.
#include <algorithm>

#include "fuzz.h"
#include "service/wire/key_list.h"

using tkdc::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tkdc::ByteSpan octets(data, size);
  const auto page = tkdc::decode_key_list(octets);
  if (!page) {
    require(!page.error().message.empty());
    return 0;
  }
  for (std::size_t i = 1; i < page->keys.size(); ++i)
    require(page->keys[i - 1].id < page->keys[i].id);
  require(!page->more || !page->keys.empty());
  require(std::ranges::equal(tkdc::encode(*page), octets));
  return 0;
}
