// SPDX-License-Identifier: Apache-2.0
// `tkdc join`: reads the other members' introductions, has the administrator confirm each by the
// fingerprint that was read to him, and writes this member's configuration.
//
// A fingerprint is asked for and not shown: what is shown is copied, not compared. Confirmed
// introductions stay in the folder, so that a later run asks only for what is new. Nothing is
// written before all is confirmed, no secret is written at all, and no file is overwritten but a
// confirmed introduction by a newer one, and the unit's drop-in (tools/setup/unit_drop_in.h).
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include "base/hardening.h"
#include "base/output_file.h"
#include "base/utc_time.h"
#include "tools/cli/commands.h"
#include "tools/cli/printable.h"
#include "tools/setup/configuration.h"
#include "tools/setup/host_name.h"
#include "tools/setup/member.h"
#include "tools/setup/unit_drop_in.h"

namespace tkdc::cli {
namespace {

using setup::Introduction;
using setup::IntroductionFile;

struct JoinOptions {
  std::string folder, listen, out;
  std::vector<std::string> confirmed, files;
  bool forget_former = false;
};

// The members of this installation as this folder is to know them.
struct Members {
  IntroductionFile own;
  std::vector<IntroductionFile> known;   // confirmed by an earlier run
  std::vector<IntroductionFile> fresh;   // to be confirmed
  std::vector<IntroductionFile> former;  // of those that change their keys
};

std::string made(const IntroductionFile& file) {
  return "made " + format_utc_spaced(file.introduction.made_s);
}

Result<void> refuse_own_name(const IntroductionFile& own, const IntroductionFile& file) {
  if (file.introduction.name() != own.introduction.name()) return {};
  return fail(file.path + " (" + made(file) + ") introduces " + own.introduction.name() +
              ", which is this folder's own member, but with other contents than " + own.path +
              " (" + made(own) + "): it is of before the keys were made anew, or of a stranger");
}

// `file` takes the place of what is known of its member.
Result<void> take(Members& members, IntroductionFile file) {
  const auto name = [](const IntroductionFile& one) { return one.introduction.name(); };
  const auto before = std::ranges::find(members.known, file.introduction.name(), name);
  if (before != members.known.end()) {
    if (before->text == file.text) return {};
    if (before->introduction.made_s >= file.introduction.made_s)
      return fail(file.path + " (" + made(file) + ") is older than what was confirmed of " +
                  file.introduction.name() + " before (" + made(*before) + "): " + before->path);
    std::cout << file.introduction.name() << " was confirmed before; this one is newer, "
              << (before->introduction.identity == file.introduction.identity
                      ? "signed by the same identity"
                      : "and signed by ANOTHER identity: ask why")
              << "\n";
    // What it was stays good until it is forgotten.
    std::erase_if(members.former, [&](const IntroductionFile& one) {
      return one.introduction.name() == file.introduction.name();
    });
    members.former.push_back(std::move(*before));
    members.known.erase(before);
  }
  members.fresh.push_back(std::move(file));
  return {};
}

Result<Members> read_members(const JoinOptions& options) {
  auto own = setup::read_member(options.folder);
  if (!own) return own.error();
  auto known = setup::read_confirmed(options.folder);
  if (!known) return known.error();
  auto former = options.forget_former
                    ? Result<std::vector<IntroductionFile>>(std::vector<IntroductionFile>())
                    : setup::read_former(options.folder);
  if (!former) return former.error();
  Members members{std::move(*own), std::move(*known), {}, std::move(*former)};
  const bool agent = members.own.introduction.agent() != nullptr;
  for (const std::string& path : options.files) {
    auto file = setup::read_introduction(path);
    if (!file) return file.error();
    if (file->text == members.own.text) continue;
    if (Result<void> other = refuse_own_name(members.own, *file); !other) return other.error();
    if (agent && file->introduction.agent() != nullptr) {
      std::cout << printable(path) << ": passed over, an agent knows the servers only\n";
      continue;
    }
    if (Result<void> taken = take(members, std::move(*file)); !taken) return taken.error();
  }
  return members;
}

Result<setup::Roster> roster_of(const Members& members) {
  std::vector<IntroductionFile> all = members.known;
  all.insert(all.end(), members.fresh.begin(), members.fresh.end());
  all.push_back(members.own);
  auto roster = setup::make_roster(all);
  if (!roster) return roster;
  if (roster->agents.empty())
    return fail("no agent's introduction is among them: nobody could ask this server for anything");
  if (Result<void> former = add_former(*roster, members.former); !former) return former.error();
  return roster;
}

void show(const Introduction& introduction) {
  std::cout << "\n" << introduction.name() << " on " << introduction.host;
  if (const setup::ServerPart* server = introduction.server()) {
    std::cout << ", ports " << server->control_port << " and " << server->data_port;
    if (server->approver) std::cout << ", approver " << server->approver->name;
  } else {
    std::cout << ", an agent of role " << introduction.agent()->role;
  }
  std::cout << ", made " << format_utc_spaced(introduction.made_s) << "\n";
}

Error not_confirmed(const IntroductionFile& file, const std::string& why) {
  return fail(file.path + " is not confirmed: " + why + ". Have the administrator of " +
              file.introduction.name() +
              " read you its fingerprint from his own screen; where the file has another one, "
              "somebody else made it, and it must not be used");
}

// Each --confirm is of one file, each file has one.
Result<void> check_given(const JoinOptions& options, const Members& members) {
  for (const IntroductionFile& file : members.fresh)
    if (std::ranges::none_of(options.confirmed, [&file](const std::string& typed) {
          return setup::is_fingerprint(typed, file.text);
        }))
      return not_confirmed(file, "no --confirm has its fingerprint");
  for (const std::string& typed : options.confirmed) {
    auto is_of = [&typed](const IntroductionFile& file) {
      return setup::is_fingerprint(typed, file.text);
    };
    if (std::ranges::none_of(members.fresh, is_of) && std::ranges::none_of(members.known, is_of) &&
        !is_of(members.own))
      return fail("--confirm " + typed + ": none of the introductions has this fingerprint");
  }
  return {};
}

Result<void> ask(const Members& members) {
  for (const IntroductionFile& file : members.fresh) {
    show(file.introduction);
    std::cout << "Fingerprint, as its administrator reads it to you: " << std::flush;
    std::string typed;
    if (!std::getline(std::cin, typed)) return not_confirmed(file, "none was typed");
    if (!setup::is_fingerprint(typed, file.text))
      return not_confirmed(file, "another fingerprint was typed");
    std::cout << "Confirmed.\n";
  }
  return {};
}

Result<void> confirm(const JoinOptions& options, const Members& members) {
  std::cout << "This is " << members.own.introduction.name() << ". Its own fingerprint, which you "
            << "read to the others:\n\n  " << setup::fingerprint(members.own.text) << "\n";
  for (const IntroductionFile& file : members.known)
    std::cout << "\n" << file.introduction.name() << " was confirmed before.\n";
  return options.confirmed.empty() ? ask(members) : check_given(options, members);
}

Result<std::string> configuration(const JoinOptions& options, const Members& members,
                                  const setup::Roster& roster) {
  const Introduction& own = members.own.introduction;
  const setup::Layout layout = setup::layout_of(options.folder);
  if (own.agent() != nullptr) return agent_toml(roster, own, layout);
  std::string listen = setup::listen_host(own.host);
  if (options.listen == "0.0.0.0" || options.listen == "::") {
    listen = options.listen;
  } else if (!options.listen.empty()) {
    auto host = setup::canonical_host(options.listen);
    if (!host || !setup::is_address(*host))
      return fail("--listen " + options.listen + ": an address of this machine, 0.0.0.0 or ::");
    listen = *host;
  }
  return server_toml(roster, own.server()->party, listen, layout);
}

// Where the configuration is a unit's, and this is root.
Result<void> tell_systemd(const std::string& path) {
  const std::filesystem::path folder =
      std::filesystem::absolute(path).lexically_normal().parent_path();
  if (::geteuid() != 0 || folder.parent_path() != "/etc/tkdc" ||
      ::access("/run/systemd/system", F_OK) != 0)
    return {};
  auto facts = setup::unit_facts(path);
  auto text = facts ? setup::drop_in_text(*facts) : Result<std::string>(facts.error());
  const Result<void> written =
      text ? setup::write_drop_in(setup::drop_in_path(facts->unit), *text) : text.error();
  if (!written)
    return fail("the configuration is written, but its unit was not told: " +
                written.error().message + ". Then: tkdc unit --config " + path);
  std::cout << "\nTold systemd its credentials and whom it may talk to:\n"
            << setup::drop_in_path(facts->unit) << "\n";
  return {};
}

void print_next(const JoinOptions& options, const Members& members, const std::string& path) {
  const bool server = members.own.introduction.server() != nullptr;
  const std::string daemon = server ? "tkdc-server" : "tkdc-agent";
  const std::string unit =
      std::filesystem::absolute(options.folder + "/.").lexically_normal().parent_path().filename();
  const std::string in_use = options.folder + (server ? "/tkdc.toml" : "/agent.toml");
  const bool first = options.out.empty();
  std::cout << "\nWrote " << path << ". Next:\n\n";
  if (!first)
    std::cout << "  diff " << in_use << " " << path << "    # carry over what is your own\n  mv "
              << path << " " << in_use << "\n";
  std::cout << "  chown -R " << daemon << ": " << options.folder << "\n  runuser -u " << daemon
            << " -- " << daemon << " --config " << in_use << " --check-config\n";
  if (first)
    std::cout << "  systemctl enable --now " << daemon << "@" << unit << "\n";
  else
    std::cout << "  tkdc unit --config " << in_use << " && systemctl daemon-reload\n"
              << "  systemctl restart " << daemon << "@" << unit
              << "    # when all servers are in session\n";
}

Result<void> join(const JoinOptions& options) {
  auto members = read_members(options);
  if (!members) return members.error();
  auto roster = roster_of(*members);
  if (!roster) return roster.error();
  auto text = configuration(options, *members, *roster);
  if (!text) return text.error();
  const bool server = members->own.introduction.server() != nullptr;
  const std::string path =
      !options.out.empty() ? options.out : options.folder + (server ? "/tkdc.toml" : "/agent.toml");
  auto file = OutputFile::create(path);
  if (!file) return fail(file.error().message + " (--out NEW, then carry your own settings over)");
  if (Result<void> confirmed = confirm(options, *members); !confirmed) return confirmed;
  if (options.forget_former)
    if (Result<void> gone = setup::forget_former(options.folder); !gone) return gone;
  for (const IntroductionFile& fresh : members->fresh)
    if (Result<void> kept = keep_confirmed(options.folder, fresh); !kept) return kept;
  auto written = file->finish({reinterpret_cast<const std::uint8_t*>(text->data()), text->size()});
  if (!written) return written;
  const bool in_use = options.out.empty();  // else it is to be compared with the one in use first
  const Result<void> told = in_use ? tell_systemd(path) : Result<void>();
  print_next(options, *members, path);
  return told;
}

}  // namespace

void add_join(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<JoinOptions>();
  CLI::App* command = app.add_subcommand(
      "join", "confirm the other members' introductions and write this member's configuration");
  command->add_option("--folder", options->folder, "this member's, of `tkdc init`")->required();
  command->add_option("--listen", options->listen,
                      "where a server listens, unless on the address that it was made with");
  command->add_option("--out", options->out, "the configuration, unless tkdc.toml or agent.toml");
  command
      ->add_option("--confirm", options->confirmed,
                   "a fingerprint that was read to you, instead of typing it; once for each")
      ->allow_extra_args(false);
  command->add_flag("--forget-former", options->forget_former,
                    "members that have renewed their keys are known by the new ones alone");
  command->add_option("files", options->files, "the other members' introductions");
  command->callback([options, &exit_status] {
    forbid_dumps();
    const Result<void> done = join(*options);
    if (!done) std::cerr << "tkdc join: " << printable(done.error().message) << "\n";
    exit_status = done ? 0 : 1;
  });
}

}  // namespace tkdc::cli
