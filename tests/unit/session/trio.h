// SPDX-License-Identifier: Apache-2.0
// Three meshes in one process, on ports that the kernel chooses.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <functional>
#include <optional>
#include <set>
#include <thread>

#include "memory_store.h"
#include "session/mesh.h"

namespace tkdc {

inline Bytes key_bytes(const SecretBuffer& key) { return {key.data(), key.data() + key.size()}; }

class Trio {
 public:
  explicit Trio(int lanes) {
    EXPECT_GE(sodium_init(), 0);
    for (int p = 0; p < 3; ++p) {
      auto made = make_certificate("party " + std::to_string(p));
      EXPECT_TRUE(made.ok());
      certificates_[p] = std::move(*made);
    }
    for (int p = 0; p < 3; ++p) {
      MeshOptions& o = options_[p];
      o.installation.fill(0x11);
      o.protocols = {{"rep3", 7}};
      o.party = p;
      o.lanes = lanes;
      o.wire_format = 42;
      o.cohort_limit = 256;
      o.listen_address = "127.0.0.1:0";
      o.certificate_pem = certificates_[p].certificate_pem;
      o.private_key_pem = certificates_[p].private_key_pem;
      for (int other = 0; other < 3; ++other)
        if (other != p) o.peers.push_back({other, "127.0.0.1:1", certificates_[other].sha256});
      o.log = [this](const std::string& line) {
        std::lock_guard lock(mutex_);
        log_ += line + "\n";
      };
    }
  }

  MeshOptions& options(int party) { return options_[party]; }
  MemoryStore& store(int party) { return store_[party]; }
  Mesh& mesh(int party) { return *mesh_[party]; }

  void create(int timeout_ms) {
    for (int p = 0; p < 3; ++p) {
      if (mesh_[p]) continue;
      options_[p].establish_timeout_ms = timeout_ms;
      auto made = Mesh::create(options_[p], store_[p]);
      ASSERT_TRUE(made.ok()) << made.error().message;
      mesh_[p] = std::move(*made);
    }
    for (int p = 0; p < 3; ++p)
      for (int other = 0; other < 3; ++other)
        if (other != p)
          mesh_[p]->set_peer_address(other, "127.0.0.1:" + std::to_string(mesh_[other]->port()));
  }

  std::array<std::optional<Session>, 3> establish(int timeout_ms = 8'000) {
    create(timeout_ms);
    std::array<std::optional<Session>, 3> sessions;
    std::string errors[3];
    std::vector<std::thread> threads;
    for (int p = 0; p < 3; ++p)
      threads.emplace_back([&, p] {
        auto made = mesh_[p]->establish();
        if (made.ok())
          sessions[p] = std::move(*made);
        else
          errors[p] = "party " + std::to_string(p) + ": " + made.error().message + "\n";
      });
    for (std::thread& thread : threads) thread.join();
    errors_ = errors[0] + errors[1] + errors[2];
    return sessions;
  }

  void restart(int party) { mesh_[party].reset(); }

  const std::string& errors() const { return errors_; }
  std::string log() {
    std::lock_guard lock(mutex_);
    return log_;
  }

 private:
  Certificate certificates_[3];
  MeshOptions options_[3];
  MemoryStore store_[3];
  std::mutex mutex_;
  std::string log_;
  std::string errors_;
  std::unique_ptr<Mesh> mesh_[3];
};

}  // namespace tkdc
