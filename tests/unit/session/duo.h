// SPDX-License-Identifier: Apache-2.0
// The meshes of a realm on two servers in one process; party 1 is on a port that the kernel
// chooses.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <mutex>
#include <optional>

#include "memory_store.h"
#include "session/pair_mesh.h"

namespace tkdc {

class Duo {
 public:
  explicit Duo(int lanes = 1) {
    EXPECT_GE(sodium_init(), 0);
    for (Certificate& one : certificates_) one = make_certificate("one of two").value();
    for (int party : {0, 1}) options_[party] = options_of(party, lanes);
  }

  MeshOptions& options(int party) { return options_[party]; }
  MemoryStore& store(int party) { return store_[party]; }
  PairMesh& mesh(int party) { return *mesh_[party]; }
  void restart(int party) { mesh_[party].reset(); }
  const std::string& error(int party) const { return errors_[party]; }
  std::string errors() const { return errors_[0] + errors_[1]; }
  std::string log() {
    std::lock_guard lock(mutex_);
    return log_;
  }

  void create(int timeout_ms) {
    for (int party : {1, 0}) {
      if (mesh_[party]) continue;
      options_[party].establish_timeout_ms = timeout_ms;
      auto made = PairMesh::create(options_[party], store_[party]);
      ASSERT_TRUE(made.ok()) << made.error().message;
      mesh_[party] = std::move(*made);
    }
    if (!elsewhere) mesh_[0]->set_peer_address(address());
  }
  std::string address() { return "127.0.0.1:" + std::to_string(mesh_[1]->port()); }

  std::array<std::optional<Session>, 2> establish(int timeout_ms = 8'000) {
    create(timeout_ms);
    auto other = std::async(std::launch::async, [this] { return attempt(0); });
    std::array<std::optional<Session>, 2> sessions{std::nullopt, attempt(1)};
    sessions[0] = other.get();
    return sessions;
  }
  std::optional<Session> attempt(int party) {
    auto made = mesh_[party]->establish();
    errors_[party] = made.ok() ? "" : made.error().message + "\n";
    return made.ok() ? std::optional(std::move(*made)) : std::nullopt;
  }

  bool elsewhere = false;  // party 0 calls the address in its options

 private:
  MeshOptions options_of(int party, int lanes) {
    MeshOptions out;
    out.installation.fill(0x22);
    out.protocols = {{std::string(kPairProtocol), 5}};
    out.security = Security::kMalicious;
    out.party = party;
    out.lanes = lanes;
    out.wire_format = 42;
    out.listen_address = "127.0.0.1:0";
    out.certificate_pem = certificates_[party].certificate_pem;
    out.private_key_pem = certificates_[party].private_key_pem;
    out.peers = {{1 - party, "127.0.0.1:1", certificates_[1 - party].sha256}};
    out.log = [this](const std::string& line) {
      std::lock_guard lock(mutex_);
      log_ += line + "\n";
    };
    return out;
  }

  Certificate certificates_[2];
  MeshOptions options_[2];
  MemoryStore store_[2];
  std::mutex mutex_;
  std::string log_, errors_[2];
  std::unique_ptr<PairMesh> mesh_[2];
};

}  // namespace tkdc
