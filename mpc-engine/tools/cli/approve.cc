// SPDX-License-Identifier: Apache-2.0
// `tkdc approver`: an administrator's own key for approvals.
// `tkdc approve`: shows a request of an export, or for dropped keys, has the administrator's server
// check it, signs it.
#include <algorithm>
#include <iostream>
#include <memory>

#include "base/hardening.h"
#include "base/hex.h"
#include "base/output_file.h"
#include "base/secret_file.h"
#include "base/utc_time.h"
#include "service/export/approver_key.h"
#include "service/export/give_back.h"
#include "service/export/request.h"
#include "service/server/config.h"
#include "service/server/local_socket.h"
#include "tools/cli/commands.h"
#include "tools/cli/passphrase.h"
#include "tools/cli/printable.h"
#include "tools/cli/stopped_store.h"

namespace tkdc::cli {
namespace {

constexpr std::size_t kShownPrincipals = 20;

struct ApproveOptions {
  std::string config, key, out, request;
};

void show_principals(const ExportRequest& request) {
  std::string last;
  std::size_t principals = 0;
  for (const ExportKey& key : request.keys) {
    if (key.principal == last) continue;
    last = key.principal;
    if (++principals <= kShownPrincipals) std::cout << "  " << printable(last) << "\n";
  }
  if (principals > kShownPrincipals) std::cout << "  ... the request's file lists them all\n";
}

bool lists_krbtgt(const ExportRequest& request) {
  const std::string krbtgt = "krbtgt/" + request.realm + "@" + request.realm;
  return std::ranges::find(request.keys, krbtgt, &ExportKey::principal) != request.keys.end();
}

// What is to be compared stands last, where no name can push it off the screen.
void show(const ExportRequest& request, const Digest& digest, const ServerConfig& config) {
  show_principals(request);
  // Those that three servers have drawn stay there.
  if (config.parties == 2 && lists_krbtgt(request))
    std::cout
        << "krbtgt's keys leave, too: whoever gets them opens all tickets that were\nrecorded "
           "before, and makes tickets. Once it has left the realm changes them.\n";
  std::cout << "keys         " << request.keys.size() << "\nrealm        "
            << printable(request.realm) << "\ninstallation " << to_hex(request.installation)
            << "\nexpires      "
            << format_utc_spaced(static_cast<std::int64_t>(request.expires_at_s))
            << "\nWhoever has the recipient's secret key gets these keys. Compare request and "
               "recipient\nwith what the one who asks reads to you from his own screen.\n"
            << "request      " << short_digest(digest) << "\nrecipient    "
            << short_digest(request.recipient) << "\n"
            << std::flush;
}

Result<void> make_key(const std::string& out) {
  auto passphrase = read_new_passphrase("Passphrase for the new key");
  if (!passphrase) return passphrase.error();
  if (passphrase->size() < kMinPassphraseBytes)
    return fail("at least " + std::to_string(kMinPassphraseBytes) + " octets of passphrase");
  auto file = OutputFile::create(out);
  if (!file) return file.error();
  const SecretBuffer seed = draw_approver_seed();
  auto locked = lock_approver_seed(seed, *passphrase);
  if (!locked) return locked.error();
  if (auto written = file->finish(*locked); !written) return written;
  std::cout << "Into the tkdc.toml of every server, with your name and your server's number; "
               "then restart them:\n\n[[approvers]]\nname = \"NAME\"\nparty = N\npublic_key = \""
            << to_hex(approver_public_key(seed)) << "\"\n";
  return {};
}

Result<SecretBuffer> open_key(const std::string& path) {
  auto locked = read_secret_file(path, kMaxApproverKeyBytes);
  if (!locked) return locked.error();
  auto passphrase = read_passphrase("Passphrase of " + path + " to approve this: ");
  if (!passphrase) return passphrase.error();
  auto seed = unlock_approver_seed(*locked, *passphrase);
  if (!seed) return fail(path + ": " + seed.error().message);
  return seed;
}

void show(const GiveBackRequest& request, const Digest& digest) {
  ExportRequest keys;
  for (const WantedKey& one : request.keys) keys.keys.push_back(one.key);
  show_principals(keys);
  std::cout << "keys         " << request.keys.size() << "\nrealm        "
            << printable(request.realm) << "\ninstallation " << to_hex(request.installation)
            << "\nexpires      "
            << format_utc_spaced(static_cast<std::int64_t>(request.expires_at_s))
            << "\nThese keys were removed, and will be in use again: whoever knew such a password, "
               "or has\nsuch a keytab or ticket, can use it. Compare the request with what the one "
               "who asks reads\nto you from his own screen.\n"
            << "request      " << short_digest(digest) << "\n"
            << std::flush;
}

// Signs it, if this administrator's server finds it good.
Result<void> sign(const ApproveOptions& options, const ServerConfig& config, LocalOp op,
                  std::string text, const Digest& digest) {
  auto seed = open_key(options.key);
  if (!seed) return seed.error();
  auto file = OutputFile::create(options.out);
  if (!file) return file.error();
  const std::string approval = encode(approve(digest, *seed));
  LocalAsk ask{op, std::move(text), {approval}};
  auto answer = ask_server(local_socket_path(config.store_path), ask);
  if (!answer) return answer.error();
  auto written =
      file->finish({reinterpret_cast<const std::uint8_t*>(approval.data()), approval.size()});
  if (!written) return written;
  std::cout << printable({reinterpret_cast<const char*>(answer->data()), answer->size()})
            << "\nApproved: " << options.out << "\n";
  return {};
}

Result<void> approve_request(const ApproveOptions& options) {
  auto config = load_server_config(options.config);
  if (!config) return config.error();
  auto text = read_text_file(options.request, kMaxExportRequestBytes);
  if (!text) return text.error();
  if (is_give_back_request(*text)) {
    if (auto three = only_of_three(*config, "it keeps no dropped keys"); !three) return three;
    auto wanted = decode_give_back_request(*text);
    if (!wanted) return fail(options.request + ": " + wanted.error().message);
    const Digest digest = give_back_digest(*text);
    show(*wanted, digest);
    return sign(options, *config, LocalOp::kGiveBackApproval, std::move(*text), digest);
  }
  auto request = decode_export_request(*text);
  if (!request) return fail(options.request + ": " + request.error().message);
  const Digest digest = request_digest(*text);
  show(*request, digest, *config);
  return sign(options, *config, LocalOp::kApproval, std::move(*text), digest);
}

int outcome(const char* command, const Result<void>& done) {
  if (!done) std::cerr << command << ": " << printable(done.error().message) << "\n";
  return done ? 0 : 1;
}

}  // namespace

void add_approver(CLI::App& app, int& exit_status) {
  auto out = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("approver", "make an administrator's key for approvals");
  command->add_option("--out", *out, "the key's file")->required();
  command->callback([out, &exit_status] {
    forbid_dumps();
    exit_status = outcome("tkdc approver", make_key(*out));
  });
}

void add_approve(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<ApproveOptions>();
  CLI::App* command =
      app.add_subcommand("approve", "as a server's administrator, agree to a request for keys");
  command->add_option("--config", options->config, "the server's tkdc.toml")->required();
  command->add_option("--key", options->key, "your key, of `tkdc approver`")->required();
  command->add_option("--out", options->out, "the approval's file")->required();
  command->add_option("request", options->request, "the request's file")->required();
  command->callback([options, &exit_status] {
    forbid_dumps();
    exit_status = outcome("tkdc approve", approve_request(*options));
  });
}

}  // namespace tkdc::cli
