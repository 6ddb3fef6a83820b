// SPDX-License-Identifier: Apache-2.0
// `tkdc repair`: on the hosts of the two servers that are left, approves the server that comes in
// the place of one that is lost; on the new one's, accepts. The three servers then do it by
// themselves (service/job/share_repair.cc); this program also says how far they are.
#include <iostream>
#include <memory>

#include <nlohmann/json.hpp>

#include "service/server/config.h"
#include "service/server/local_socket.h"
#include "tools/cli/ask_status.h"
#include "tools/cli/commands.h"
#include "tools/cli/printable.h"
#include "tools/cli/stopped_store.h"

namespace tkdc::cli {
namespace {

using nlohmann::json;

struct RepairOptions {
  std::string config, task, certificate;
  int server = -1;
};

std::string shown(const json& state, const char* name) {
  auto it = state.find(name);
  if (it == state.end()) return "";
  return printable(it->is_string() ? it->get<std::string>() : it->dump());
}

void show_repair(const json& state) {
  std::cout << "this is server   " << shown(state, "party") << "\n"
            << "certificate      " << shown(state, "certificate") << "\n"
            << "keys             " << shown(state, "keys") << "\n";
  if (auto order = state.find("order"); order != state.end() && order->is_object())
    std::cout << "repair of server " << shown(*order, "party") << "\n"
              << "by certificate   " << shown(*order, "certificate") << "\n";
  else
    std::cout << "repair           none is asked for here\n";
  if (shown(state, "under_way") == "true") std::cout << "session          for the repair\n";
  if (state.contains("of"))
    std::cout << "last repair      " << shown(state, "looked_at") << " of " << shown(state, "of")
              << " keys" << (shown(state, "running") == "true" ? ", at work" : "") << "\n";
  if (state.contains("trouble"))
    std::cout
        << "trouble          " << shown(state, "trouble")
        << "\nwhat to do       mend that where it is, then restart this server: it begins anew "
           "then\n";
}

Result<std::string> words_of(const RepairOptions& options) {
  const bool approves = options.task == "approve", accepts = options.task == "accept";
  if ((approves || accepts) && options.certificate.empty())
    return fail(
        "--certificate: the SHA-256 of the new server's, as `tkdc repair status` shows it on its "
        "host and its administrator reads it to you");
  if (approves && options.server < 0) return fail("--server: which of the three is lost");
  std::string words = options.task;
  if (approves) words += " " + std::to_string(options.server);
  if (approves || accepts) words += " " + options.certificate;
  return words;
}

Result<int> repair(const RepairOptions& options) {
  auto words = words_of(options);
  if (!words) return words.error();
  auto file = server_config(options.config);
  if (!file) return file.error();
  auto config = load_server_config(*file);
  if (!config) return config.error();
  if (auto three = only_of_three(*config, "neither can be rebuilt from the other"); !three)
    return three.error();
  auto answer = ask_server(local_socket_path(config->store_path), {LocalOp::kRepair, *words, {}});
  if (!answer) return answer.error();
  json state = json::parse(answer->begin(), answer->end(), nullptr, false);
  if (!state.is_object()) return fail("the server's answer is not understood");
  show_repair(state);
  return state.contains("trouble") ? 1 : 0;
}

}  // namespace

void add_repair(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<RepairOptions>();
  CLI::App* command = app.add_subcommand(
      "repair", "have a new server get a lost one's store from the two that are left");
  command->add_option("--config", options->config,
                      "the server's tkdc.toml; else the only one below /etc/tkdc");
  command->add_option("task", options->task, "approve, accept, cancel or status")
      ->required()
      ->check(CLI::IsMember({"approve", "accept", "cancel", "status"}));
  command->add_option("--server", options->server, "approve: which server is lost")
      ->check(CLI::Range(0, 2));
  command->add_option("--certificate", options->certificate,
                      "approve and accept: SHA-256 of the new server's certificate");
  command->callback([options, &exit_status] {
    auto done = repair(*options);
    if (!done) std::cerr << "tkdc repair: " << printable(done.error().message) << "\n";
    exit_status = done ? *done : 1;
  });
}

}  // namespace tkdc::cli
