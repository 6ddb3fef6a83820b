// SPDX-License-Identifier: Apache-2.0
// `tkdc hand-over`: has a server encrypt its shares of the keys of an approved request to the
// recipient. `tkdc give-back`: tells a server that dropped keys may be in use again. Nothing in
// them is secret: the server's answer can be opened by the recipient alone.
#include <iostream>
#include <memory>

#include "base/output_file.h"
#include "base/secret_file.h"
#include "service/export/approval.h"
#include "service/export/request.h"
#include "service/server/config.h"
#include "service/server/local_socket.h"
#include "tools/cli/commands.h"
#include "tools/cli/printable.h"

namespace tkdc::cli {
namespace {

struct HandOverOptions {
  std::string config, out, request;
  std::vector<std::string> approvals;
};

Result<LocalAsk> read_ask(LocalOp op, const HandOverOptions& options) {
  LocalAsk ask;
  ask.op = op;
  auto text = read_text_file(options.request, kMaxExportRequestBytes);
  if (!text) return text.error();
  ask.request = std::move(*text);
  for (const std::string& path : options.approvals) {
    auto approval = read_text_file(path, kMaxApprovalBytes);
    if (!approval) return approval.error();
    ask.approvals.push_back(std::move(*approval));
  }
  return ask;
}

Result<void> hand_over(const HandOverOptions& options) {
  auto config = load_server_config(options.config);
  if (!config) return config.error();
  auto ask = read_ask(LocalOp::kHandOver, options);
  if (!ask) return ask.error();
  // Before the server is asked, which answers once.
  auto file = OutputFile::create(options.out);
  if (!file) return file.error();
  auto answer = ask_server(local_socket_path(config->store_path), *ask);
  if (!answer) return answer.error();
  if (auto written = file->finish(*answer); !written)
    return fail(written.error().message + "; the request is used up: make a new one");
  std::cout << "Shares of server " << config->party << ", for the recipient alone: " << options.out
            << "\n";
  return {};
}

Result<void> give_back(const HandOverOptions& options) {
  auto config = load_server_config(options.config);
  if (!config) return config.error();
  auto ask = read_ask(LocalOp::kGiveBack, options);
  if (!ask) return ask.error();
  auto answer = ask_server(local_socket_path(config->store_path), *ask);
  if (!answer) return answer.error();
  std::cout << "Server " << config->party << ": "
            << printable({reinterpret_cast<const char*>(answer->data()), answer->size()}) << "\n";
  return {};
}

std::shared_ptr<HandOverOptions> add(CLI::App& app, const std::string& word, const char* what,
                                     int& exit_status,
                                     Result<void> (*run)(const HandOverOptions&)) {
  auto options = std::make_shared<HandOverOptions>();
  CLI::App* command = app.add_subcommand(word, what);
  command->add_option("--config", options->config, "the server's tkdc.toml")->required();
  command->add_option("--approval", options->approvals, "an approval's file; give two")
      ->required()
      ->allow_extra_args(false);
  command->add_option("request", options->request, "the request's file")->required();
  command->callback([options, word, run, &exit_status] {
    auto done = run(*options);
    if (!done) std::cerr << "tkdc " << word << ": " << printable(done.error().message) << "\n";
    exit_status = done ? 0 : 1;
  });
  return options;
}

}  // namespace

void add_hand_over(CLI::App& app, int& exit_status) {
  const auto options = add(
      app, "hand-over", "have a server encrypt its shares to the recipient of an approved request",
      exit_status, hand_over);
  app.get_subcommand("hand-over")
      ->add_option("--out", options->out, "the shares' file")
      ->required();
}

void add_give_back(CLI::App& app, int& exit_status) {
  add(app, "give-back", "tell a server that two administrators want dropped keys in use again",
      exit_status, give_back);
}

}  // namespace tkdc::cli
