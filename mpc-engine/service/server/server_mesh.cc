// SPDX-License-Identifier: Apache-2.0
// What a server tells those who make its sessions: three parties' mesh, or that of two.
#include "base/log.h"
#include "rep3/unit/offers.h"
#include "service/garbled/lane_garbling.h"
#include "service/job/features.h"
#include "service/job/limits.h"
#include "service/pair/pair_offer.h"
#include "service/server/protocols.h"
#include "service/server/server.h"
#include "service/server/session_advice.h"
#include "session/mesh.h"
#include "session/pair_mesh.h"

namespace tkdc {
MeshOptions Server::mesh_options(std::shared_ptr<Network> network) {
  MeshOptions options;
  options.installation = config_.installation;
  options.party = config_.party;
  options.lanes = config_.lanes;
  options.security = config_.security;
  options.cohort_limit = kMaxCohortJobs;
  options.epochs_per_day = config_.epochs_per_day;
  options.network = std::move(network);
  options.listen_address = config_.data_listen;
  for (const PeerEntry& peer : config_.peers)
    options.peers.push_back({peer.party, peer.address, peer.certificate});
  options.log = [](const std::string& line) { log_line(LogLevel::kWarning, line); };
  options.note = [this] { return note_of(told_head()); };
  options.advice = session_advice(config_.parties);
  options.give_up = [this](std::optional<int> forgotten_by) -> Result<void> {
    jobs_->give_up(forgotten_by);
    if (const std::string latched = latch_->reason(); !latched.empty())
      return fail("session: " + latched + ". " + kUntilRelease);
    return {};
  };
  return options;
}

void Server::add_options_of_three(MeshOptions& options) {
  options.representation = preferred_representation(config_.backend, config_.security);
  options.zero_shares = zero_offer(config_.zero_shares, config_.backend, config_.security);
  options.two_parts = config_.two_parts;
  if (config_.share_macs) options.features.push_back({kShareMacs, kShareMacsFormat});
  if (config_.keep_dropped_days > 0)
    options.features.push_back({kKeepsDropped, kKeepsDroppedFormat});
  options.newcomer = [this] { return repair_->offer(); };
  options.protocols = described(protocols_);
  if (config_.garbling.use != GarblingOptions::Use::kNever)
    options.streamed = LaneGarbling::offered(config_.garbling);
  options.masked_blocks = static_cast<std::uint32_t>(config_.masked_blocks);
  options.course = [this](int lane) { return jobs_->course(static_cast<std::size_t>(lane)); };
  options.hear_course = [this](int lane, int party, const CourseTail& theirs) {
    auto same = jobs_->hear_course(static_cast<std::size_t>(lane), party, theirs);
    if (!same.ok()) course_deviation_ = same.error().message;
    return same;
  };
  options.held = [this] { return jobs_->held(); };
}

Result<void> Server::make_mesh(std::shared_ptr<Network> network) {
  MeshOptions options = mesh_options(std::move(network));
  if (of_two()) {
    options.protocols = {pair_offered()};
    auto mesh = PairMesh::create(std::move(options), *store_);
    if (!mesh.ok()) return mesh.error();
    mesh_ = std::move(*mesh);
    return {};
  }
  add_options_of_three(options);
  auto mesh = Mesh::create(std::move(options), *store_);
  if (!mesh.ok()) return mesh.error();
  mesh_ = std::move(*mesh);
  return {};
}

}  // namespace tkdc
