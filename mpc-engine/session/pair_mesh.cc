// SPDX-License-Identifier: Apache-2.0
#include "session/pair_mesh.h"

#include "session/calling.h"
#include "session/pair_attempt.h"

namespace tkdc {
namespace {

Result<void> check_pair_options(const MeshOptions& options) {
  if (options.party < 0 || options.party > 1) return fail("session: of two, party must be 0 or 1");
  if (options.lanes < 1 || options.lanes > kMaxLanes)
    return fail("session: lanes must be between 1 and " + std::to_string(kMaxLanes));
  if (options.peers.size() != 1 || options.peers[0].party != 1 - options.party)
    return fail("session: of two, the one peer must be the other party");
  if (options.security != Security::kMalicious)
    return fail("session: two parties compute in malicious mode only");
  if (options.protocols.size() != 1 || options.protocols[0].name != kPairProtocol)
    return fail("session: two parties have one protocol, \"" + std::string(kPairProtocol) + "\"");
  return {};
}

}  // namespace

PairMesh::PairMesh(MeshOptions options, Entries& entries)
    : options_(std::move(options)), ledger_(entries, options_.epochs_per_day, options_.advice),
      entries_(entries) {}

PairMesh::~PairMesh() { stop(); }

Result<std::unique_ptr<PairMesh>> PairMesh::create(MeshOptions options, Entries& entries) {
  if (auto checked = check_pair_options(options); !checked.ok()) return checked.error();
  options.representation = Representation::kBytes;
  if (auto opened = open_network(options); !opened.ok()) return opened.error();
  std::unique_ptr<PairMesh> mesh(new PairMesh(std::move(options), entries));
  if (mesh->options_.party == 0) return mesh;
  auto acceptor = hear_calls(mesh->options_, mesh->options_.peers[0],
                             [m = mesh.get()](const Hello& hello) { m->on_offer(hello); });
  if (!acceptor.ok()) return acceptor.error();
  mesh->acceptor_ = std::move(*acceptor);
  return mesh;
}

void PairMesh::end_session(const std::string& reason) {
  if (breaker_) breaker_->trip(reason);
  for (const auto& end : ends_) end(reason);
}

void PairMesh::stop() {
  std::lock_guard lock(mutex_);
  stopping_ = true;
  end_session("this server is stopping");
}

void PairMesh::on_offer(const Hello& hello) {
  std::lock_guard lock(mutex_);
  if (nonce_in_use_ && *nonce_in_use_ != hello.nonce)
    end_session("party 0 asks for new connections");
}

std::shared_ptr<LinkBreaker> PairMesh::new_breaker() {
  std::lock_guard lock(mutex_);
  breaker_ = std::make_shared<LinkBreaker>();
  ends_.clear();
  nonce_in_use_.reset();
  if (stopping_) breaker_->trip("this server is stopping");
  return breaker_;
}

void PairMesh::expect_nonce(const std::array<std::uint8_t, 32>& nonce) {
  std::lock_guard lock(mutex_);
  nonce_in_use_ = nonce;
}

Result<void> PairMesh::watch(const Session& session) {
  std::lock_guard lock(mutex_);
  if (breaker_->tripped()) return fail("session: " + breaker_->reason());
  for (const LaneLink& lane : session.lanes) {
    ends_.push_back(lane.streams->to_next->breaker());
    ends_.push_back(lane.streams->from_next->breaker());
  }
  return {};
}

Result<Session> PairMesh::establish() {
  auto session = attempt_pair_session({options_, acceptor_.get(), entries_, new_breaker(),
                                       [this](const auto& nonce) { expect_nonce(nonce); }});
  if (!session.ok()) return session;
  if (auto watched = watch(*session); !watched.ok()) return watched.error();
  return session;
}

}  // namespace tkdc
