// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/backup_words.h"

#include <iostream>

#include "base/hex.h"
#include "base/utc_time.h"
#include "tools/cli/printable.h"

namespace tkdc::cli {

int say_failure(const char* command, const Error& error, int status) {
  std::cerr << command << ": " << printable(error.message) << "\n";
  return status;
}

std::string state_of(const BackupHead& head) { return to_hex(ByteSpan(head.inventory).first(8)); }

std::string short_digest(const BackupHead& head) {
  return to_hex(ByteSpan(head.body_digest).first(8));
}

void show_head(const BackupHead& head) {
  std::cout << "installation     " << to_hex(head.installation) << "\nserver           "
            << head.party << "\nmade             "
            << format_utc(static_cast<std::int64_t>(head.made_at_s)) << "\nrefresh epoch    "
            << head.refresh_epoch << "\ngeneration       " << head.generation
            << "\nera              " << head.era << "\nstate            " << state_of(head)
            << "\nkeys             " << head.records << "\nfor the key      "
            << to_hex(head.recipient) << "\ndigest           " << to_hex(head.body_digest) << "\n";
}

}  // namespace tkdc::cli
