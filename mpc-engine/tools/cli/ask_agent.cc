// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/ask_agent.h"

#include "base/strict_toml.h"
#include "client.h"
#include "wire.h"

namespace tkdc::cli {
namespace {

constexpr unsigned kStatusTimeoutMs = 5'000;

}  // namespace

Result<std::string> socket_of(const std::string& config) {
  StrictToml file;
  if (auto loaded = file.load(config); !loaded) return loaded.error();
  const std::string socket = file.table("agent").text("socket", "");
  if (socket.empty()) return fail(config + ": agent.socket is missing");
  return file.resolve(socket);
}

Result<std::string> ask_agent(const std::string& socket) {
  if (socket.size() >= sizeof(tkdc_client{}.path))
    return fail("the socket's path is too long: " + socket);
  tkdc_client client{};
  tkdc_client_init(&client, socket.c_str(), TKDC_ROLE_ADMIN);
  tkdc_request request{};
  request.op = TKDC_OP_STATUS;
  tkdc_reply reply{};
  tkdc_client_call(&client, &request, kStatusTimeoutMs, &reply);
  tkdc_client_close(&client);
  tkdc_span body{};
  bool good = reply.status == TKDC_STATUS_OK && tkdc_reply_bytes(&reply, &body);
  std::string text = good ? std::string(reinterpret_cast<const char*>(body.data), body.len)
                          : std::string(reinterpret_cast<const char*>(reply.body.data),
                                        reply.body.data != nullptr ? reply.body.len : 0);
  tkdc_reply_free(&reply);
  if (!good) return fail(text.empty() ? "the agent's answer is malformed" : text);
  return text;
}

}  // namespace tkdc::cli
