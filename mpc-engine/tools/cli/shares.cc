// SPDX-License-Identifier: Apache-2.0
// `tkdc shares`: on a server's host, has the three servers audit the MACs on their shares, or deal
// them to keys that have none, and shows how far they are. `tkdc refresh`: has them, or two
// servers, replace all shares by new ones of the same keys. The server does the work
// (service/job/share_work.h), and goes on with it when this program is ended.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "base/machine.h"
#include "base/progress_line.h"
#include "base/utc_time.h"
#include "service/server/config.h"
#include "service/server/local_socket.h"
#include "service/store/refresh_table.h"
#include "tools/cli/ask_status.h"
#include "tools/cli/commands.h"
#include "tools/cli/printable.h"
#include "tools/cli/refreshed_backups.h"
#include "tools/cli/stopped_store.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;

constexpr int kLookEveryMs = 500;
constexpr int kGood = 0, kFailed = 1, kFound = 2;

struct SharesOptions {
  std::string config, task;
  bool background = false, undo = false, prune = false;
};

Result<json> ask(const std::string& socket, const std::string& word) {
  auto answer = ask_server(socket, {LocalOp::kShares, word, {}});
  if (!answer) return answer.error();
  json state = json::parse(answer->begin(), answer->end(), nullptr, false);
  if (!state.is_object()) return fail("the server's answer is not understood");
  return state;
}

std::uint64_t count(const json& state, const char* name) {
  auto it = state.find(name);
  return it != state.end() && it->is_number_unsigned() ? it->get<std::uint64_t>() : 0;
}

bool is_set(const json& state, const char* name) {
  auto it = state.find(name);
  return it != state.end() && it->is_boolean() && it->get<bool>();
}

std::string text(const json& state, const char* name) {
  auto it = state.find(name);
  return it != state.end() && it->is_string() ? printable(it->get<std::string>()) : "";
}

std::string progress(const json& state) {
  return std::to_string(count(state, "looked_at")) + " of " + std::to_string(count(state, "keys")) +
         " keys";
}

json part(const json& state, const char* name) {
  auto it = state.find(name);
  return it != state.end() && it->is_object() ? *it : json::object();
}

std::string last_audit(const json& state) {
  const json audit = part(state, "last_audit");
  if (audit.empty()) return "never";
  return format_utc(static_cast<std::int64_t>(count(audit, "at"))) + ", " +
         std::to_string(count(audit, "audited")) + " keys, " +
         std::to_string(count(audit, "failed")) + " failed, " +
         std::to_string(count(audit, "without")) + " without MACs";
}

void show_macs(const json& state) {
  for (const auto& [label, name] :
       {std::pair("dealt            ", "dealt"), std::pair("audited          ", "audited"),
        std::pair("keys without     ", "without"), std::pair("of these stale   ", "stale"),
        std::pair("failed           ", "failed"), std::pair("alarms           ", "alarms")})
    std::cout << label << count(state, name) << "\n";
  if (auto named = state.find("alarms_named"); named != state.end() && named->is_array())
    for (const json& one : *named)
      if (one.is_string()) std::cout << "  " << printable(one.get<std::string>()) << "\n";
}

void show(const json& state, bool of_two) {
  const std::uint64_t at = count(state, "refreshed_at");
  std::cout << "refreshed        "
            << (at == 0 ? "never"
                        : format_utc(static_cast<std::int64_t>(at)) + ", refresh epoch " +
                              std::to_string(count(state, "refresh_epoch")))
            << "\n";
  if (!of_two) std::cout << "last audit       " << last_audit(state) << "\n";
  if (!of_two)
    std::cout << "MACs on shares   " << (is_set(state, "macs") ? "in use" : "not in this session")
              << "\n";
  if (const std::string task = text(state, "task"); !task.empty())
    std::cout << "last work        " << task
              << (is_set(state, "running")  ? ", at work: " + progress(state)
                  : is_set(state, "wanted") ? ", waits for a session"
                                            : ", " + progress(state))
              << "\n";
  if (!of_two) show_macs(state);
  if (const std::uint64_t since = count(state, "refreshing_since"); since != 0)
    std::cout << "under way since  " << format_utc(static_cast<std::int64_t>(since))
              << ": of use against what was stolen before\n";
  if (const std::string trouble = text(state, "trouble"); !trouble.empty())
    std::cout << "trouble          " << trouble << "\n";
}

// Whether it has come to its end.
Result<json> wait_for_end(const std::string& socket, json state, std::uint64_t finished) {
  ProgressLine line;
  while (count(state, "finished") == finished || is_set(state, "wanted")) {
    line.show(count(state, "looked_at"), count(state, "keys"), "keys");
    ::usleep(kLookEveryMs * 1000);
    auto next = ask(socket, "status");
    if (!next) return next;
    state = std::move(*next);
  }
  return state;
}

// Whether the refresh that has ended, of two servers, had begun when this one was asked for.
bool is_covered(const json& state, std::uint64_t asked_at) {
  const std::uint64_t since = count(state, "refreshed_at");
  if (since >= asked_at) return true;
  std::cout << "this refresh had begun before it was asked for, and is of use against what was "
               "stolen before "
            << format_utc(static_cast<std::int64_t>(since))
            << " alone. Another one follows by itself: see `tkdc shares status`\n";
  return false;
}

// What is found in this run counts, not what was before.
Result<int> work(const SharesOptions& options) {
  auto file = server_config(options.config);
  if (!file) return file.error();
  auto config = load_server_config(*file);
  if (!config) return config.error();
  const bool of_two = config->parties == 2;
  if (options.task == "audit" || options.task == "deal")
    if (auto three = only_of_three(*config, "what it stores is checked with each use"); !three)
      return three.error();
  if (of_two && options.prune)
    return fail(
        "--prune: with two servers backups of before go only when both servers have new ones: "
        "`tkdc backup make` at both after the refresh, then `tkdc backup prune`");
  const std::string socket = local_socket_path(config->store_path);
  auto before = ask(socket, "status");
  if (!before) return before.error();
  const std::uint64_t asked_at = wall_s();
  if (options.task == "status") {
    show(*before, of_two);
    const bool clean =
        count(*before, "alarms") == 0 && count(part(*before, "last_audit"), "failed") == 0;
    return clean ? kGood : kFound;
  }
  auto state = ask(socket, options.task);
  if (!state) return state.error();
  if (options.background) return kGood;
  state = wait_for_end(socket, std::move(*state), count(*before, "finished"));
  if (!state) return state.error();
  show(*state, of_two);
  if (!text(*state, "trouble").empty()) return kFailed;
  if (of_two && options.task == "refresh" && !is_covered(*state, asked_at)) return kFailed;
  // What has no MACs was not proved. Dealing has just given them to it.
  const bool proved = options.task != "audit" || count(*state, "without") == 0;
  if (!proved) std::cout << "keys without MACs were not proved: see `tkdc shares deal`\n";
  if (!proved || count(*state, "failed") != 0) return kFound;
  if (options.task != "refresh") return kGood;
  const auto epoch = static_cast<std::uint32_t>(count(*state, "refresh_epoch"));
  return settle_backups({*config, epoch, options.prune}) ? kGood : kFound;
}

// Of a stopped server, where no session has begun with the new shares.
Result<int> undo(const SharesOptions& options) {
  auto at = find_stopped_store(options.config);
  if (!at) return at.error();
  if (auto three = only_of_three(at->config, "its keys move one after the other"); !three)
    return three.error();
  if (auto owner = become_owner(*at); !owner) return owner.error();
  auto store = at->open();
  if (!store) return store.error();
  if (auto undone = (*store)->refresh()->undo_refresh(); !undone) return undone.error();
  std::cout << "the shares of before the last refresh serve again\n";
  return kGood;
}

int run_shares(const SharesOptions& options) {
  auto done = options.undo ? undo(options) : work(options);
  if (done) return *done;
  std::cerr << "tkdc shares: " << printable(done.error().message) << "\n";
  return kFailed;
}

}  // namespace

void add_shares(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<SharesOptions>();
  CLI::App* command = app.add_subcommand(
      "shares", "have the servers audit the MACs on their shares, or deal missing ones");
  command->add_option("--config", options->config,
                      "the server's tkdc.toml; else the only one below /etc/tkdc");
  command->add_option("task", options->task, "audit, deal or status")
      ->required()
      ->check(CLI::IsMember({"audit", "deal", "status"}));
  command->add_flag("--background", options->background, "do not wait for the end");
  command->callback([options, &exit_status] { exit_status = run_shares(*options); });
}

void add_refresh(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<SharesOptions>();
  options->task = "refresh";
  CLI::App* command = app.add_subcommand(
      "refresh", "have the servers replace all shares by new ones of the same keys");
  command->add_option("--config", options->config, "the server's tkdc.toml")->required();
  CLI::Option* background =
      command->add_flag("--background", options->background, "do not wait for the end");
  CLI::Option* undo =
      command->add_flag("--undo", options->undo,
                        "on a stopped server: back to the shares of before, which it keeps until a "
                        "session has begun with the new ones");
  command
      ->add_flag("--prune", options->prune,
                 "destroy this server's backups of before without a question")
      ->excludes(background)
      ->excludes(undo);
  command->callback([options, &exit_status] { exit_status = run_shares(*options); });
}

}  // namespace tkdc::cli
