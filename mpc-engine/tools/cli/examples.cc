// SPDX-License-Identifier: Apache-2.0
// What `--help` of each command ends with: one way to use it. Commands that are programs of their
// own have theirs there (other_programs.cc).
#include <algorithm>

#include "tools/cli/commands.h"

namespace tkdc::cli {
namespace {

struct Example {
  const char* command;
  const char* what;
  const char* words;  // behind "tkdc"
};

constexpr Example kExamples[] = {
    {"approve", "agree to an export, as server 0's administrator",
     "approve --config /etc/tkdc/server0/tkdc.toml --key my.key --out approval-0 request"},
    {"approver", "make your key for approvals, on your own machine", "approver --out my.key"},
    {"audit show", "what was done with a user's keys",
     "audit show --principal alice@EXAMPLE.TEST /var/lib/tkdc/server0/audit.jsonl"},
    {"audit verify", "server 0's log, beside a copy of server 1's",
     "audit verify /var/lib/tkdc/server0/audit.jsonl --against server1.jsonl"},
    {"backup key", "make the key; backup.key stays off the servers",
     "backup key --out backup.key --public backup.pub"},
    {"backup make", "a backup now, while the server serves",
     "backup make --config /etc/tkdc/server0/tkdc.toml"},
    {"backup copy", "those that the host of backup.copy lacks",
     "backup copy --config /etc/tkdc/server0/tkdc.toml"},
    {"backup verify", "whether a backup can be restored", "backup verify --key backup.key FILE"},
    {"backup list", "what lies in a folder, and what is stale",
     "backup list /var/lib/tkdc/server0/backups"},
    {"backup prune", "keep the newest 14", "backup prune --keep 14 /var/lib/tkdc/server0/backups"},
    {"doctor", "what is wrong on this host, and what to do", "doctor --failures-only"},
    {"epochs raise", "of a stopped server, to the epoch that its message names",
     "epochs --config /etc/tkdc/server0/tkdc.toml raise --to 1000 --now"},
    {"epochs begin-anew", "of all three stopped servers, one after the other",
     "epochs --config /etc/tkdc/server0/tkdc.toml begin-anew --era 1 --now"},
    {"garbling plan", "what 500 logins in 10 minutes need",
     "garbling plan --logins 500 --minutes 10 --config /etc/tkdc/server0/tkdc.toml"},
    {"give-back", "dropped keys may be in use again, as two administrators have agreed",
     "give-back --config /etc/tkdc/server0/tkdc.toml "
     "--approval approval-0 --approval approval-1 request"},
    {"hand-over", "a server's shares, once two administrators have agreed",
     "hand-over --config /etc/tkdc/server0/tkdc.toml --out shares-0 "
     "--approval approval-0 --approval approval-1 request"},
    {"init", "server 0 of a new realm, on its own host",
     "init --party 0 --out /etc/tkdc/server0 --host 10.0.1.5 --realm EXAMPLE.TEST"},
    {"join", "take what the other members say of themselves",
     "join --folder /etc/tkdc/server0 server1.introduction server2.introduction"},
    {"keys", "of how many keys server 0 has shares", "keys /var/lib/tkdc/server0/store"},
    {"refresh", "new shares of all keys", "refresh --config /etc/tkdc/server0/tkdc.toml"},
    {"release", "after its cause was found", "release --config /etc/tkdc/server0/tkdc.toml"},
    {"renew", "make the next certificate and CURVE key", "renew --folder /etc/tkdc/server0"},
    {"repair", "agree, on server 0, that a new host becomes server 2",
     "repair --config /etc/tkdc/server0/tkdc.toml approve --server 2 --certificate SHA256"},
    {"restore", "a stopped server's store",
     "restore FILE --key backup.key --into /etc/tkdc/server0"},
    {"revoke", "tickets of the last two hours",
     "revoke --config /etc/tkdc/server0/tkdc.toml --sealed-between 2h now"},
    {"rotate krbtgt", "a new version; tickets of before stay good until they end",
     "rotate krbtgt --now"},
    {"shares", "check all shares beside the other servers'",
     "shares --config /etc/tkdc/server0/tkdc.toml audit"},
    {"status", "how all are; on a server's host how that one is, every 10 seconds",
     "status\n  tkdc status --config /etc/tkdc/server0/tkdc.toml --watch 10"},
    {"store rekey", "a stopped server's store under new keys",
     "store rekey --config /etc/tkdc/server0/tkdc.toml"},
    {"store agree", "keep what three restored stores have in common",
     "store agree --config /etc/tkdc/server0/tkdc.toml list-0 list-1 list-2"},
    {"store list", "what a restored store holds, for the two others",
     "store list --config /etc/tkdc/server0/tkdc.toml --out list-0"},
    {"store recovery", "another key that opens a stopped server's store",
     "store recovery --config /etc/tkdc/server0/tkdc.toml --out RECOVERY.KEY"},
    {"tables plan", "what 1,000 logins of a morning need in a realm on two servers",
     "tables plan --logins 1000 --config /etc/tkdc/server0/tkdc.toml"},
    {"unit", "look at what server 0's unit would be told",
     "unit --config /etc/tkdc/server0/tkdc.toml --out -"},
};

CLI::App* command_of(CLI::App& app, std::string_view words) {
  CLI::App* at = &app;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    at = at->get_subcommand(std::string(words.substr(0, end)));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return at;
}

}  // namespace

void add_examples(CLI::App& app) {
  for (const Example& example : kExamples)
    command_of(app, example.command)
        ->footer(std::string("Example: ") + example.what + "\n  tkdc " + example.words);
}

}  // namespace tkdc::cli
