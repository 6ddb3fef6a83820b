// SPDX-License-Identifier: Apache-2.0
// An agent in a thread of the test, and a client that can misbehave.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "agent/agent.h"
#include "fake_servers.h"

namespace tkdc::agent {

// A folder that goes away with the test.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

class TestAgent {
 public:
  struct Options {
    tkdc_wire_role role = TKDC_ROLE_ADMIN;
    std::size_t max_pending = 8192;
    std::optional<InstallationId> installation = std::nullopt;  // else of one that is drawn
  };
  explicit TestAgent(FakeServers& servers) : TestAgent(servers, Options{}) {}
  TestAgent(FakeServers& servers, Options options);
  ~TestAgent();

  void stop();
  const std::string& socket() const { return socket_; }
  const std::string& status_socket() const { return status_socket_; }
  const std::string& operations_log() const { return operations_log_; }
  const InstallationId& installation() const { return installation_; }

 private:
  TempFolder folder_;
  std::string socket_, status_socket_;
  std::string operations_log_;
  InstallationId installation_{};
  std::unique_ptr<Agent> agent_;
  std::thread thread_;
};

struct TestReply {
  tkdc_wire_header header{};
  SecretVector body;
  tkdc_status status() const { return static_cast<tkdc_status>(header.status); }
  // Of a body that is u32 length and octets.
  SecretVector bytes() const;
  std::string text() const { return {body.begin(), body.end()}; }
};

class TestClient {
 public:
  explicit TestClient(const std::string& socket);
  ~TestClient();

  // Whole frames; returns the request id.
  std::uint64_t send(std::uint8_t op, ByteSpan body, std::uint32_t deadline_ms = 5'000);
  void send_raw(ByteSpan octets);
  // Nothing: the time is over, or the connection was closed (then closed()).
  std::optional<TestReply> receive(int timeout_ms = 8'000);
  TestReply call(std::uint8_t op, ByteSpan body, std::uint32_t deadline_ms = 5'000);
  bool closed() const { return closed_; }
  // A send has failed: the agent has disconnected this client.
  bool broken() const { return broken_; }
  void close();

 private:
  int fd_ = -1;
  std::atomic<bool> broken_{false};
  bool closed_ = false;
  std::uint64_t last_id_ = 0;
  SecretVector in_;
};

// Bodies in wire.h's format.
KeyRef test_key(const TestAgent& agent);
SecretVector use_body(const KeyRef& key, std::uint32_t usage, ByteSpan data);
SecretVector verify_body(const KeyRef& key, std::uint32_t usage, ByteSpan data, ByteSpan checksum);
SecretVector bind_body(const KeyRef& key, const std::string& principal);
SecretVector key_body(const KeyRef& key);
SecretVector equal_body(const KeyRef& key, const KeyId& staged);
SecretVector stage_body(tkdc_wire_origin origin, ByteSpan key);
SecretVector octets_of(const std::string& text);

}  // namespace tkdc::agent
