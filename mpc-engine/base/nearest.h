// SPDX-License-Identifier: Apache-2.0
// What somebody meant who misspelt a word: for messages about configuration. Any thread.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace tkdc {

// The one of `known` that a slip or two away is `word`: a letter too much, too few, another one, or
// two that changed places (optimal string alignment). Empty: none is that near, or two are.
std::string nearest(std::string_view word, const std::set<std::string>& known);

}  // namespace tkdc
