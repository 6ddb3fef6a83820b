// SPDX-License-Identifier: Apache-2.0
// The protocols in which the deviation tests let a party deviate.
#pragma once

#include <span>
#include <string_view>

#include "trial.h"

namespace tkdc::test {

std::span<const CheckedProtocol> checked_protocols();
const CheckedProtocol& checked_protocol(std::string_view name);  // one of them

}  // namespace tkdc::test
