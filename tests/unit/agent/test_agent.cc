// SPDX-License-Identifier: Apache-2.0
#include "test_agent.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>

#include "support/scratch.h"

namespace tkdc::agent {

TempFolder::TempFolder() : path_(test::make_scratch("agent")) {}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

TestAgent::TestAgent(FakeServers& servers, Options options)
    : socket_(folder_ / "agent.sock"), status_socket_(folder_ / "status.sock"),
      operations_log_(folder_ / "operations.jsonl") {
  AgentConfig config;
  randombytes_buf(installation_.data(), installation_.size());
  if (options.installation) installation_ = *options.installation;
  config.installation = installation_;
  config.name = "agent-test";
  config.role = options.role;
  config.socket_path = socket_;
  config.status_socket_path = status_socket_;
  config.operations_log = operations_log_;
  config.max_pending = options.max_pending;
  char public_key[41];
  if (zmq_curve_keypair(public_key, reinterpret_cast<char*>(config.curve_secret_key.data())) != 0)
    throw zmq::error_t();
  for (std::size_t party = 0; party < 3; ++party)
    config.servers.push_back({servers.addresses()[party], servers.public_keys()[party]});
  auto agent = Agent::create(std::move(config));
  if (!agent) throw std::runtime_error(agent.error().message);
  agent_ = std::move(agent).value();
  thread_ = std::thread([this] { EXPECT_TRUE(agent_->run().ok()); });
}

TestAgent::~TestAgent() { stop(); }

void TestAgent::stop() {
  if (!thread_.joinable()) return;
  agent_->stop();
  thread_.join();
  agent_.reset();
}

SecretVector TestReply::bytes() const {
  Reader r(body);
  ByteSpan piece = r.bytes(TKDC_WIRE_BODY_MAX_BYTES);
  EXPECT_TRUE(r.complete());
  return {piece.begin(), piece.end()};
}

TestClient::TestClient(const std::string& socket) {
  fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket.copy(address.sun_path, sizeof address.sun_path - 1);
  if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("cannot connect to " + socket);
}

TestClient::~TestClient() { close(); }

void TestClient::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void TestClient::send_raw(ByteSpan octets) {
  while (!octets.empty()) {
    ssize_t n = ::send(fd_, octets.data(), octets.size(), MSG_NOSIGNAL);
    if (n <= 0) {
      broken_ = true;
      return;
    }
    octets = octets.subspan(std::size_t(n));
  }
}

std::uint64_t TestClient::send(std::uint8_t op, ByteSpan body, std::uint32_t deadline_ms) {
  tkdc_wire_header header{op, 0, ++last_id_, static_cast<std::uint32_t>(body.size()), deadline_ms};
  SecretVector frame(TKDC_WIRE_HEADER_BYTES);
  tkdc_wire_put_header(frame.data(), &header);
  frame.insert(frame.end(), body.begin(), body.end());
  send_raw(frame);
  return last_id_;
}

std::optional<TestReply> TestClient::receive(int timeout_ms) {
  auto end = Clock::now() + std::chrono::milliseconds(timeout_ms);
  while (true) {
    TestReply reply;
    if (in_.size() >= TKDC_WIRE_HEADER_BYTES) {
      EXPECT_TRUE(tkdc_wire_get_header(in_.data(), &reply.header));
      std::size_t bytes = TKDC_WIRE_HEADER_BYTES + reply.header.body_bytes;
      if (in_.size() >= bytes) {
        reply.body.assign(in_.begin() + TKDC_WIRE_HEADER_BYTES,
                          in_.begin() + std::ptrdiff_t(bytes));
        in_.erase(in_.begin(), in_.begin() + std::ptrdiff_t(bytes));
        return reply;
      }
    }
    auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd item{fd_, POLLIN, 0};
    if (closed_ || left <= 0 || ::poll(&item, 1, int(left)) <= 0) return std::nullopt;
    std::uint8_t buffer[16384];
    ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
    if (n <= 0)
      closed_ = true;
    else
      in_.insert(in_.end(), buffer, buffer + n);
  }
}

TestReply TestClient::call(std::uint8_t op, ByteSpan body, std::uint32_t deadline_ms) {
  std::uint64_t id = send(op, body, deadline_ms);
  auto reply = receive(int(deadline_ms) + 3'000);
  if (!reply) throw std::runtime_error("no reply");
  EXPECT_EQ(reply->header.id, id);
  EXPECT_EQ(reply->header.op, op);
  return *reply;
}

KeyRef test_key(const TestAgent& agent) {
  KeyRef key;
  key.id.fill(0x11);
  key.installation = agent.installation();
  key.principal.fill(0x33);
  key.kvno = 2;
  key.enctype = 18;
  return key;
}

SecretVector use_body(const KeyRef& key, std::uint32_t usage, ByteSpan data) {
  SecretVector body;
  SecretWriter w(body);
  put_key(w, key);
  w.u32(usage);
  w.bytes(data);
  return body;
}

SecretVector verify_body(const KeyRef& key, std::uint32_t usage, ByteSpan data, ByteSpan checksum) {
  SecretVector body = use_body(key, usage, data);
  SecretWriter(body).bytes(checksum);
  return body;
}

SecretVector bind_body(const KeyRef& key, const std::string& principal) {
  SecretVector body = key_body(key);
  SecretWriter(body).text(principal);
  return body;
}

SecretVector key_body(const KeyRef& key) {
  SecretVector body;
  SecretWriter w(body);
  put_key(w, key);
  return body;
}

SecretVector equal_body(const KeyRef& key, const KeyId& staged) {
  SecretVector body = key_body(key);
  SecretWriter(body).raw(staged);
  return body;
}

SecretVector stage_body(tkdc_wire_origin origin, ByteSpan key) {
  SecretVector body;
  SecretWriter w(body);
  w.u8(origin);
  w.u32(2);
  w.u32(18);
  w.bytes(key);
  return body;
}

SecretVector octets_of(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace tkdc::agent
