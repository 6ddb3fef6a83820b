// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/commands.h"

namespace tkdc::cli {

std::string security_meaning(const std::string& security, std::size_t parties) {
  if (security == "malicious" && parties == 2)
    return "either server may be read and changed: it learns no key and can only stop the service";
  if (security == "malicious")
    return "one server may be read and changed: it learns no key and can only stop the service";
  if (security == "unknown") return "no server says which mode it runs in";
  return "protects keys from whoever reads one server (disk, memory, traffic), not from one server "
         "whose program was changed";
}

void add_commands(CLI::App& app, int& exit_status) {
  using Add = void (*)(CLI::App&, int&);
  static constexpr Add kCommands[] = {
      add_approve, add_approver, add_audit,  add_backup,   add_bench,     add_circuit,
      add_doctor,  add_epochs,   add_export, add_garbling, add_give_back, add_hand_over,
      add_import,  add_init,     add_join,   add_keys,     add_reconcile, add_refresh,
      add_release, add_renew,    add_repair, add_restore,  add_revoke,    add_rotate,
      add_shares,  add_status,   add_store,  add_tables,   add_top,       add_unit};
  for (Add add : kCommands) add(app, exit_status);
  add_examples(app);
}

}  // namespace tkdc::cli
