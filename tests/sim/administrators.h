// SPDX-License-Identifier: Apache-2.0
// What kadmin asks the administrators' agent: keys made, compared, exported once, bound, replaced
// by new versions and removed.
#pragma once

namespace tkdc::sim {

void start_administrators();
// One such thing. Somebody who waits to log in asks for it, too.
void manage();

}  // namespace tkdc::sim
