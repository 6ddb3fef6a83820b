// SPDX-License-Identifier: Apache-2.0
#include "tools/setup/roster.h"

#include <algorithm>

#include "base/hex.h"
#include "base/utc_time.h"

namespace tkdc::setup {
namespace {

std::string who(const IntroductionFile& one) {
  return one.path + " (" + one.introduction.name() + ")";
}

Error differ(const IntroductionFile& a, const IntroductionFile& b, const std::string& what,
             const std::string& in_a, const std::string& in_b) {
  return fail(who(a) + " and " + who(b) + " are of different " + what + ": " + in_a + " and " +
              in_b);
}

Result<void> check_alike(const IntroductionFile& a, const IntroductionFile& b) {
  const Introduction &x = a.introduction, &y = b.introduction;
  if (x.installation != y.installation)
    return differ(a, b, "installations", to_hex(x.installation), to_hex(y.installation));
  if (x.realm != y.realm) return differ(a, b, "realms", x.realm, y.realm);
  if (x.security != y.security)
    return differ(a, b, "security modes", security_name(x.security), security_name(y.security));
  if (x.servers != y.servers)
    return differ(a, b, "numbers of servers", std::to_string(x.servers), std::to_string(y.servers));
  if (x.server() != nullptr && y.server() != nullptr && x.server()->lanes != y.server()->lanes)
    return differ(a, b, "numbers of lanes", std::to_string(x.server()->lanes),
                  std::to_string(y.server()->lanes));
  return {};
}

// One member twice: of before and after its keys were made anew, or a name that two chose.
Error twice(const IntroductionFile& a, const IntroductionFile& b) {
  const bool a_older = a.introduction.made_s < b.introduction.made_s;
  const IntroductionFile &older = a_older ? a : b, &newer = a_older ? b : a;
  return fail(a.path + " and " + b.path + " both introduce " + a.introduction.name() + "; " +
              older.path + ", made " + format_utc_spaced(older.introduction.made_s) +
              ", is the older one. Leave out the one that its administrator does not stand by (" +
              newer.path + " was made " + format_utc_spaced(newer.introduction.made_s) + ")");
}

Error shared(const IntroductionFile& a, const IntroductionFile& b, const std::string& what) {
  return fail(who(a) + " and " + who(b) + " have the same " + what +
              ": each has its own; whoever copied a folder runs `tkdc init` again instead");
}

Result<void> check_servers_apart(const IntroductionFile& a, const IntroductionFile& b) {
  const ServerPart &x = *a.introduction.server(), &y = *b.introduction.server();
  if (a.introduction.host == b.introduction.host)
    return fail(who(a) + " and " + who(b) + " are both on " + a.introduction.host +
                ": one host for each server, or who has that host has the keys");
  if (x.certificate_sha256 == y.certificate_sha256) return shared(a, b, "certificate");
  if (x.approver && y.approver && x.approver->name == y.approver->name)
    return fail(who(a) + " and " + who(b) + " both name the approver " + x.approver->name);
  if (x.approver && y.approver && x.approver->public_key == y.approver->public_key)
    return shared(a, b, "approver's key");
  return {};
}

Result<void> check_pair(const IntroductionFile& a, const IntroductionFile& b) {
  if (Result<void> alike = check_alike(a, b); !alike) return alike;
  const Introduction &x = a.introduction, &y = b.introduction;
  if (x.name() == y.name()) return twice(a, b);
  if (x.identity == y.identity) return shared(a, b, "identity");
  if (x.curve_public_key == y.curve_public_key) return shared(a, b, "CURVE key");
  if (x.server() != nullptr && y.server() != nullptr) return check_servers_apart(a, b);
  return {};
}

}  // namespace

Result<Roster> make_roster(const std::vector<IntroductionFile>& all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (Result<void> checked = check_pair(all[j], all[i]); !checked) return checked.error();
  Roster roster;
  const std::size_t servers =
      all.empty() ? 3 : static_cast<std::size_t>(all.front().introduction.servers);
  roster.servers.resize(servers);
  bool there[3] = {};
  for (const IntroductionFile& one : all) {
    const ServerPart* server = one.introduction.server();
    if (server == nullptr) {
      roster.agents.push_back(one.introduction);
      continue;
    }
    there[server->party] = true;
    roster.servers[static_cast<std::size_t>(server->party)] = one.introduction;
  }
  for (std::size_t party = 0; party < servers; ++party)
    if (!there[party])
      return fail("the introduction of server " + std::to_string(party) +
                  " is missing: " + (servers == 2 ? "both" : "all three") + " servers' are needed");
  std::ranges::sort(roster.agents, {}, [](const Introduction& one) { return one.name(); });
  return roster;
}

Result<void> add_former(Roster& roster, const std::vector<IntroductionFile>& former) {
  std::vector<const Introduction*> all;
  for (const Introduction& one : roster.servers) all.push_back(&one);
  for (const Introduction& one : roster.agents) all.push_back(&one);
  for (const IntroductionFile& file : former)
    for (const Introduction* one : all) {
      const bool own = one->name() == file.introduction.name();
      if (own && one->identity == file.introduction.identity &&
          one->made_s > file.introduction.made_s)
        roster.former.emplace(one->name(), file.introduction);
      if (!own && one->curve_public_key == file.introduction.curve_public_key)
        return fail(file.path + " has the CURVE key of " + one->name() +
                    ": remove it, it was never made by `tkdc renew`");
    }
  return {};
}

}  // namespace tkdc::setup
