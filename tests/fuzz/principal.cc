// SPDX-License-Identifier: Apache-2.0
// Principals' names as an admin agent gives them when it binds a key. The class decides what may
// be done with the key, so no name may pass for another class's.
#include <string_view>

#include "fuzz.h"
#include "service/admit/policy.h"

using tkdc::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using enum tkdc::KeyClass;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto read = tkdc::classify_principal(text);
  if (!read) {
    require(!read.error().message.empty());
    return 0;
  }
  require(!text.starts_with("K/M@"));
  if (*read == kKrbtgt) {
    const std::string realm = text.substr(text.size() / 2 + 4);
    require(text == "krbtgt/" + realm + "@" + realm);
  }
  require(*read != kCrossRealm || text.starts_with("krbtgt/"));
  require(*read != kKadmin || text.starts_with("kadmin/"));
  require(*read != kIprop || text.starts_with("kiprop/"));
  if (text.find('\\') != std::string::npos) return 0;
  // Without escapes every / before the first @ ends a component.
  const std::string_view name = std::string_view(text).substr(0, text.find('@'));
  require((*read == kUser) == (name.find('/') == std::string_view::npos));
  return 0;
}
