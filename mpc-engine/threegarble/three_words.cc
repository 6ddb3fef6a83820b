// SPDX-License-Identifier: Apache-2.0
#include "threegarble/three_words.h"

namespace tkdc::threegarble {

Task<void> ThreeWords::say(std::uint8_t mine) {
  Bytes about = about_;
  about.insert(about.end(), words_.begin(), words_.end());
  FromBoth others = co_await lane_.agree(std::move(about), Bytes(1, mine));
  const auto me = static_cast<std::size_t>(lane_.party());
  words_[me] = mine;
  words_[(me + 1) % 3] = others.next[0];
  words_[(me + 2) % 3] = others.prev[0];
}

}  // namespace tkdc::threegarble
