// SPDX-License-Identifier: Apache-2.0
// `tkdc revoke`: this server's administrator revokes a time of sealing for all three
// servers, or agrees that all revoked times end. Leaves a request beside the store
// (service/server/revoke_request.h) and waits until the server has taken it.
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <vector>

#include "base/unique_fd.h"
#include "base/utc_time.h"
#include "service/sealing/nonce.h"
#include "service/sealing/revocations.h"
#include "service/server/audit_files.h"
#include "service/server/config.h"
#include "service/server/revoke_request.h"
#include "tools/cli/commands.h"
#include "tools/cli/stopped_store.h"

namespace tkdc::cli {
namespace {

constexpr int kWaitMs = 15'000, kPollMs = 100;

struct RevokeOptions {
  std::string config;
  std::vector<std::string> between;
  bool lift = false, yes = false;
};

std::int64_t start_of(std::uint32_t unit) {
  return static_cast<std::int64_t>(kSealedAtOriginS + kSealedAtUnitS * unit);
}

Result<std::uint32_t> unit_of(std::int64_t s) {
  const auto origin = static_cast<std::int64_t>(kSealedAtOriginS);
  if (s < origin) return std::uint32_t{0};
  const auto unit = static_cast<std::uint64_t>(s - origin) / kSealedAtUnitS;
  if (unit >= SealWindows::kEnd) return fail(format_utc(s) + " is later than nonces can say");
  return static_cast<std::uint32_t>(unit);
}

Result<RevokeRequest> request_of(const RevokeOptions& options) {
  RevokeRequest request;
  request.lift = options.lift;
  if (options.lift) return request;
  const std::int64_t now_s = ::time(nullptr);
  auto from = parse_utc(options.between.at(0), now_s);
  if (!from) return from.error();
  auto to = parse_utc(options.between.at(1), now_s);
  if (!to) return to.error();
  if (*to < *from) return fail("the window ends before it begins");
  if (*to > now_s) return fail(format_utc(*to) + " has not come yet: the past can be revoked");
  auto first = unit_of(*from), last = unit_of(*to);
  if (!first) return first.error();
  if (!last) return last.error();
  request.window = {*first, *last};
  return request;
}

// A running server holds a lock on its store's folder.
bool server_runs(const std::string& store_path) {
  UniqueFd folder(::open(store_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder && ::flock(folder.get(), LOCK_SH | LOCK_NB) != 0;
}

bool was_taken(const std::string& store_path) {
  const std::string file = revoke_request_file(store_path);
  for (int waited = 0; waited < kWaitMs; waited += kPollMs) {
    if (::access(file.c_str(), F_OK) != 0) return true;
    ::usleep(kPollMs * 1000);
  }
  return false;
}

void tell(const RevokeRequest& request, bool runs) {
  const std::string when = runs ? ""
                                : "This server is not running; when it starts, before any "
                                  "session:\n";
  std::cout << when;
  if (request.lift) {
    std::cout << "This server agrees that all revoked windows end. They end when both others "
                 "have agreed too (tkdc revoke --lift there); `tkdc status` shows who has not.\n";
    return;
  }
  const SealWindow window = with_skew(request.window);
  std::cout << "Tickets of the own realm that were sealed from "
            << format_utc(start_of(window.from)) << " until " << format_utc(start_of(window.to + 1))
            << " are refused; the other two servers learn of it with the next operation, and keep "
               "it. Users log in anew. See `tkdc status`.\n";
}

// The time of a line that says that a ticket was sealed, in as many letters as `form` has; else
// nothing.
std::string when_sealed(const std::string& line, const std::string& form) {
  constexpr std::string_view kTime = "\"time\":\"", kUsage = "\"usage\":2}";
  const std::size_t at = line.find(kTime);
  if (at == std::string::npos || line.find("\"operation\":\"seal\"") == std::string::npos ||
      line.find(kUsage) == std::string::npos || line.find("\"result\":\"ok\"") == std::string::npos)
    return {};
  return line.substr(at + kTime.size(), form.size() - 1) + "Z";
}

// Tickets that this server's audit log says were sealed from `from` to `to`, in seconds; services'
// tickets, too, which a window does not touch, so that there may be fewer. None: it cannot be read.
std::optional<std::uint64_t> sealed_between(const std::string& audit_file, std::int64_t from,
                                            std::int64_t to) {
  const auto closed = closed_audit_files(audit_file);
  if (!closed) return std::nullopt;
  std::vector<std::string> paths;
  for (const ClosedAuditFile& file : *closed) paths.push_back(file.path);
  paths.push_back(audit_file);
  const std::string first = format_utc(from), last = format_utc(to);
  std::uint64_t count = 0;
  for (const std::string& path : paths) {
    AuditLines lines(path);
    for (std::string line; lines.next(line);) {
      const std::string time = when_sealed(line, first);
      if (time >= first && time <= last) ++count;
    }
    if (!lines.fault()) return std::nullopt;
  }
  return count;
}

std::string days_and_hours(std::int64_t seconds) {
  const std::int64_t hours = seconds / 3'600;
  if (hours >= 48) return std::to_string(seconds / 86'400) + " days";
  if (hours >= 2) return std::to_string(hours) + " hours";
  return std::to_string(seconds / 60) + " minutes";
}

// What it would do, for whoever meant 60m and typed 60d.
void preview(const RevokeRequest& request, const ServerConfig& config) {
  const SealWindow asked = request.window, window = with_skew(asked);
  const std::int64_t from = start_of(asked.from), to = start_of(asked.to + 1);
  const std::int64_t good = start_of(window.to + 1);
  std::cout << "asked:         " << format_utc(from) << " until " << format_utc(to) << ", "
            << days_and_hours(to - from) << "\n"
            << "with a margin: " << format_utc(start_of(window.from)) << " until "
            << format_utc(good) << ", since clocks may differ\n";
  if (const auto count = sealed_between(config.audit_file, start_of(window.from), good))
    std::cout << "tickets:       " << *count << " at most, by this server's audit log\n";
  else
    std::cout << "tickets:       unknown, the audit log cannot be read\n";
  const std::int64_t wait = good - ::time(nullptr);
  std::cout << "logins:        "
            << (wait > 0 ? "none is possible for " + std::to_string(wait) + " s, until " +
                               format_utc(good) + "; then everybody logs in anew"
                         : "at once; users with tickets of that time log in anew")
            << "\nto undo it:    all three administrators must agree (tkdc revoke --lift)\n";
}

bool confirmed(const RevokeOptions& options) {
  if (options.yes || options.lift) return true;
  if (::isatty(STDIN_FILENO) == 0) return false;
  std::cout << "Type revoke to do it: " << std::flush;
  std::string typed;
  std::getline(std::cin, typed);
  return typed == "revoke";
}

Result<void> revoke(const RevokeOptions& options) {
  auto config = load_server_config(options.config);
  if (!config) return config.error();
  if (auto three = only_of_three(*config,
                                 "no ticket there says when it was sealed; `tkdc rotate krbtgt "
                                 "--now --purge` on the KDC's host ends all tickets of before");
      !three)
    return three;
  auto request = request_of(options);
  if (!request) return request.error();
  if (!options.lift) preview(*request, *config);
  if (!confirmed(options)) return fail("nothing was revoked: it was not confirmed (--yes)");
  auto written = write_revoke_request(config->store_path, *request);
  if (!written.ok()) return written;
  const bool runs = server_runs(config->store_path);
  if (runs && !was_taken(config->store_path))
    return fail("the server has not taken " + revoke_request_file(config->store_path) +
                "; its journal says why");
  tell(*request, runs);
  return {};
}

int run_revoke(const RevokeOptions& options) {
  auto done = revoke(options);
  if (done.ok()) return 0;
  std::cerr << "tkdc revoke: " << done.error().message << "\n";
  return 1;
}

}  // namespace

void add_revoke(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<RevokeOptions>();
  CLI::App* command = app.add_subcommand(
      "revoke", "refuse the realm's tickets that were sealed in a window of time");
  command->add_option("--config", options->config, "the server's tkdc.toml")->required();
  CLI::Option* between =
      command
          ->add_option("--sealed-between", options->between,
                       "from and to: UTC like 2026-11-21T23:00:00Z, how long ago like 2h, or now")
          ->expected(2);
  CLI::Option* lift = command->add_flag("--lift", options->lift,
                                        "agree that all revoked windows end; all three must agree");
  lift->excludes(between);
  command->add_flag("--yes", options->yes, "do not ask before it is done");
  command->callback([options, between, lift, &exit_status] {
    if (between->count() + lift->count() == 0)
      throw CLI::RequiredError("--sealed-between or --lift");
    exit_status = run_revoke(*options);
  });
}

}  // namespace tkdc::cli
