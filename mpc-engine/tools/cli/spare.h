// SPDX-License-Identifier: Apache-2.0
// Whether this host is a spare KDC, whose agent beside kadmind is not to run: as systemd is told.
//
// Called by `tkdc status`. Nothing is asked of systemd, its links are looked at.
#pragma once

#include <string>

namespace tkdc::cli {

// krb5kdc is started with the host; kadmind and this agent, which stands beside it, are not.
// `folder`: where an administrator's links to units are.
bool is_of_a_spare(const std::string& agent, const std::string& folder = "/etc/systemd/system");

}  // namespace tkdc::cli
