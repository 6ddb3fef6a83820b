// SPDX-License-Identifier: Apache-2.0
// Whether the servers hold the key that the realm's tickets are sealed under, as the database names
// it. An older dump that was loaded names one that is gone: then nobody logs in, while agents and
// servers are well.
//
// Called by `tkdc status` on a KDC's host. It asks tkdc-reconcile, which reads the database as
// kadmin.local does; who may not read that is told nothing.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

namespace tkdc::cli {

// What is wrong with a krbtgt without its key, of which `keys` says which in words; and what to do.
std::string krbtgt_is_dead(const std::string& keys);
inline constexpr const char* kKrbtgtRemedy =
    "load the newest dump, or draw a new key: tkdc rotate krbtgt --now; tkdc reconcile names all "
    "that is dead";
inline constexpr const char* kKrbtgtPlain =
    "krbtgt's newest key is in the database itself, and no server holds it: who reads the database "
    "or a backup of it makes any ticket; tkdc rotate krbtgt --now draws a new one at the servers, "
    "and tkdc import takes all other keys along";

// Sets `krbtgt_held` where that is known. Where it is not so, `database_error` if the key is gone,
// and `database_warning` if the database itself has it: then everybody logs in, and who reads the
// database can make any ticket. `database_error` too where another module than ktkdc opens the
// database although kdc.conf names ktkdc.
class KrbtgtLook {
 public:
  // `document`: an agent's. Where something else is wrong already, nothing is asked. Each question
  // opens the database and its master key, which no process is to hold for long: a good answer
  // stands for a minute.
  void at(nlohmann::json& document);

 private:
  std::string good_;
  std::chrono::steady_clock::time_point good_until_{};
};

// The same by what tkdc-reconcile --krbtgt --json ended with and printed.
void take_krbtgt(nlohmann::json& document, int status, const std::string& said);

}  // namespace tkdc::cli
