// SPDX-License-Identifier: Apache-2.0
#include "session/mesh.h"

#include "session/attempt.h"
#include "session/calling.h"

namespace tkdc {
namespace {

Result<void> check_options(const MeshOptions& options) {
  if (options.party < 0 || options.party > 2) return fail("session: party must be 0, 1 or 2");
  if (options.lanes < 1 || options.lanes > kMaxLanes)
    return fail("session: lanes must be between 1 and " + std::to_string(kMaxLanes));
  bool seen[3] = {};
  seen[options.party] = true;
  for (const MeshPeer& peer : options.peers) {
    if (peer.party < 0 || peer.party > 2 || seen[peer.party])
      return fail("session: the peers must be the other two parties, each once");
    seen[peer.party] = true;
  }
  if (options.peers.size() != 2) return fail("session: there must be two peers");
  if (options.peers[0].pin == options.peers[1].pin)
    return fail("session: both peers have the same certificate");
  return {};
}

}  // namespace

Mesh::Mesh(MeshOptions options, Entries& entries)
    : options_(std::move(options)), entries_(entries),
      ledger_(entries, options_.epochs_per_day, options_.advice) {}

Mesh::~Mesh() { stop(); }

Result<std::unique_ptr<Mesh>> Mesh::create(MeshOptions options, Entries& entries) {
  auto checked = check_options(options);
  if (!checked.ok()) return checked.error();
  if (auto opened = open_network(options); !opened.ok()) return opened.error();
  std::unique_ptr<Mesh> mesh(new Mesh(std::move(options), entries));
  auto acceptor = hear_calls(mesh->options_, mesh->peer((mesh->options_.party + 2) % 3),
                             [m = mesh.get()](const Hello& hello) { m->on_offer(hello); });
  if (!acceptor.ok()) return acceptor.error();
  mesh->acceptor_ = std::move(*acceptor);
  return mesh;
}

const MeshPeer& Mesh::peer(int party) const {
  return options_.peers[options_.peers[0].party == party ? 0 : 1];
}

void Mesh::set_peer_address(int party, const std::string& address) {
  options_.peers[options_.peers[0].party == party ? 0 : 1].address = address;
}

void Mesh::stop() {
  std::lock_guard lock(mutex_);
  stopping_ = true;
  if (breaker_) breaker_->trip("this server is stopping");
}

// What comes to party 0 answers its own attempt, or is of an earlier one.
void Mesh::on_offer(const Hello& hello) {
  if (options_.party == 0) return;
  std::lock_guard lock(mutex_);
  if (breaker_ && nonce_in_use_ && *nonce_in_use_ != hello.nonce)
    breaker_->trip("party " + std::to_string((options_.party + 2) % 3) +
                   " asks for new connections");
}

std::shared_ptr<LinkBreaker> Mesh::new_breaker() {
  std::lock_guard lock(mutex_);
  breaker_ = std::make_shared<LinkBreaker>();
  nonce_in_use_.reset();
  if (stopping_) breaker_->trip("this server is stopping");
  return breaker_;
}

void Mesh::expect_nonce(const std::array<std::uint8_t, 32>& nonce) {
  std::lock_guard lock(mutex_);
  nonce_in_use_ = nonce;
}

Result<Session> Mesh::establish() {
  AttemptInputs inputs{options_,
                       peer((options_.party + 2) % 3),
                       peer((options_.party + 1) % 3),
                       *acceptor_,
                       entries_,
                       ledger_,
                       new_breaker(),
                       [this](const auto& nonce) { expect_nonce(nonce); }};
  return attempt_session(std::move(inputs));
}

}  // namespace tkdc
