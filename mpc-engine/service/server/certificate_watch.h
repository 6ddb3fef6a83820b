// SPDX-License-Identifier: Apache-2.0
// What a server tells its administrator of its own certificate's end: 30 days ahead, and after it.
//
// The end stops nothing: peers know each other by the certificate's fingerprint, and the key that
// goes with it does not become worse on a day (docs/adr/0035). The main thread's; nothing is
// secret.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace tkdc {

// Empty while there is nothing to say.
std::string certificate_alarm(std::int64_t end_s, std::int64_t now_s);

// For `tkdc status`.
void tell_certificate(nlohmann::json& json, std::int64_t end_s, std::int64_t now_s);

}  // namespace tkdc
