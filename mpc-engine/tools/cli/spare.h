// SPDX-License-Identifier: Apache-2.0
// Whether this host is a spare KDC, whose agent beside kadmind is not to run: as systemd is told.
//
// Called by `tkdc status` and tkdc-exporter. Nothing is asked of systemd, its links are looked at.
#pragma once

#include <set>
#include <string>

namespace tkdc::cli {

// Whether the unit is started with the host.
bool is_enabled(const std::string& unit, const std::string& folder);

// NAME of each TEMPLATE@NAME.service that is started with the host.
std::set<std::string> started_instances(const std::string& unit_template,
                                        const std::string& folder);

// krb5kdc is started with the host; kadmind and this agent, which stands beside it, are not.
// `folder`: where an administrator's links to units are.
bool is_of_a_spare(const std::string& agent, const std::string& folder = "/etc/systemd/system");

}  // namespace tkdc::cli
