// SPDX-License-Identifier: Apache-2.0
// What a daemon says of other members' former keys while it still takes them (`tkdc renew`): until
// they are forgotten, whoever stole one is taken for its owner. In the journal when it starts, and
// in `tkdc status`. Public.
#pragma once

#include <string>
#include <vector>

namespace tkdc
{

// `whose`: members by name; where there are none there is nothing to say. `service`: who runs the
// daemon. `configuration`: the file that names the keys.
std::string former_keys_warning(const std::vector<std::string> &whose, const std::string &service,
                                const std::string &configuration);

} // namespace tkdc
