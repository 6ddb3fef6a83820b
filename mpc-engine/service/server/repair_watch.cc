// SPDX-License-Identifier: Apache-2.0
#include "service/server/repair_watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>

#include "base/disk.h"
#include "base/durable_file.h"
#include "base/hex.h"
#include "base/system_error.h"
#include "service/job/features.h"
#include "service/store/mac_table.h"
#include "service/store/refresh_table.h"
#include "service/store/repair_table.h"

namespace tkdc {
namespace {

constexpr std::size_t kMaxLineBytes = 128;
constexpr std::string_view kOrderLabel = "tkdc repair, order 1";

std::string line_of(const RepairOrder& order) {
  return std::to_string(order.party) + " " + to_hex(order.certificate) + " " +
         std::to_string(order.refresh_epoch) + "\n";
}

// Exactly as it is written.
std::optional<RepairOrder> order_in(const std::string& line) {
  RepairOrder order;
  std::string certificate;
  std::istringstream in(line);
  in >> order.party >> certificate >> order.refresh_epoch;
  const bool sound = !in.fail() && order.party >= 0 && order.party <= 2 &&
                     from_hex(certificate, order.certificate) && line_of(order) == line;
  return sound ? std::optional(order) : std::nullopt;
}

std::uint64_t digest_of(const InstallationId& installation, const RepairOrder& order) {
  Bytes text;
  Writer w(text);
  w.text(kOrderLabel);
  w.raw(installation);
  w.u8(static_cast<std::uint8_t>(order.party));
  w.raw(order.certificate);
  std::array<std::uint8_t, 16> digest{};
  crypto_generichash(digest.data(), digest.size(), text.data(), text.size(), nullptr, 0);
  return Reader(digest).u64();
}

std::string server_name(int party) { return "server " + std::to_string(party); }

}  // namespace

Result<void> write_repair_order(const std::string& store_path, const RepairOrder& order) {
  const std::string file = repair_order_file(store_path);
  if (replace_kept(file, line_of(order))) return {};
  return system_error("repair: " + file + " cannot be written", "make room there, then ask again");
}

Result<std::optional<RepairOrder>> read_repair_order(const std::string& store_path) {
  const std::string file = repair_order_file(store_path);
  const auto line = disk().read(file, 0, kMaxLineBytes);
  if (!line && errno == ENOENT) return std::optional<RepairOrder>();
  if (!line) return system_error("repair: " + file + " cannot be read");
  auto order = order_in(*line);
  if (!order)
    return fail("repair: " + file + " is no order of `tkdc repair`; remove it, then approve again");
  return order;
}

Result<void> RepairWatch::load() {
  auto peers = store_.repair()->peers();
  if (!peers.ok()) return peers.error();
  for (const PeerEntry& peer : config_.peers)
    for (const PeerCertificate& one : *peers) {
      const bool has = one.sha256 == peer.certificate.certificate ||
                       (peer.certificate.former && one.sha256 == *peer.certificate.former);
      if (has && one.refused)
        return fail("config: " + config_.path + ": the certificate " + to_hex(one.sha256) +
                    " in [[peers]] is that of a server which was given up by `tkdc repair`, and "
                    "is refused for good; put in that of the server in its place (`tkdc join`)");
    }
  auto order = read_repair_order(config_.store_path);
  if (!order.ok()) return order.error();
  std::lock_guard lock(mutex_);
  order_ = *order;
  // A store that served before this was noted: what the configuration has was in use.
  if (peers->empty() && !order_ && !store_.repair()->blank()) note_certificates();
  return {};
}

std::uint32_t RepairWatch::refresh_epoch() const { return store_.refresh()->state().epoch; }

// With the commit.
bool RepairWatch::is_over() const {
  if (!order_) return false;
  return order_->party == config_.party ? !store_.repair()->blank()
                                        : order_->refresh_epoch != refresh_epoch();
}

// What is prepared, or committed by who still serves what was before, an ordinary handshake
// settles: in one for a repair the inventory of one server would be left out.
bool RepairWatch::is_half_done() const {
  const EntryId entry = store_.refresh()->entry();
  const auto committed = store_.committed(entry);
  const auto prepared = store_.prepared();
  return !committed.ok() || *committed || !prepared.ok() ||
         std::ranges::count(*prepared, entry) > 0;
}

// The certificate is still the one that this server goes by.
std::optional<NewcomerOffer> RepairWatch::offer_under_lock() const {
  if (!config_.share_macs || !order_ || is_over() || is_half_done()) return std::nullopt;
  bool same = order_->party == config_.party && certificate_ == order_->certificate;
  for (const PeerEntry& peer : config_.peers)
    if (peer.party == order_->party)
      same = peer.certificate.certificate == order_->certificate && !peer.certificate.former;
  if (!same) return std::nullopt;
  return NewcomerOffer{kRepairSession, kShareMacs, order_->party,
                       digest_of(config_.installation, *order_)};
}

std::optional<NewcomerOffer> RepairWatch::offer() {
  std::lock_guard lock(mutex_);
  return offer_under_lock();
}

// ---- what an administrator asks

Result<void> RepairWatch::check_any() const {
  if (!config_.share_macs)
    return fail(
        "a repair rests on MACs on shares, and store.share_macs is not set here; where the two "
        "other servers have no MACs either, restore the lost server's backup");
  // In the list of what the handshake offers, MACs have one more, a repair, and dropped keys.
  const std::size_t beside = config_.keep_dropped_days > 0 ? 3 : 2;
  if (config_.protocols.size() + beside > kMaxProtocols)
    return fail("data.protocols names more than " + std::to_string(kMaxProtocols - beside) +
                ": for the repair set one that all three have, and restart this server");
  const JobServiceStatus now = jobs_.status();
  if (now.session_up && !now.shares.repaired)
    return fail("the three servers have a session: none of them is lost");
  if (now.session_up) return fail("a repair is under way: `tkdc repair status`");
  return {};
}

Result<void> RepairWatch::check_approval(int party, const Fingerprint& certificate) {
  if (party == config_.party)
    return fail("this is " + server_name(party) +
                " itself: the new one accepts (`tkdc repair accept`), the two others approve");
  const auto peer = std::ranges::find(config_.peers, party, &PeerEntry::party);
  if (peer == config_.peers.end()) return fail("there are servers 0, 1 and 2");
  if (peer->certificate.certificate != certificate || peer->certificate.former)
    return fail("this server goes by the certificate " + to_hex(peer->certificate.certificate) +
                (peer->certificate.former ? ", and by a former one," : "") + " for " +
                server_name(party) +
                ": join the new server's introduction (`tkdc join --forget-former`), restart this "
                "server, then approve what the new one's administrator reads to you");
  auto known = store_.repair()->peers();
  if (!known.ok()) return known.error();
  const bool old = std::ranges::any_of(
      *known, [&](const PeerCertificate& one) { return one.sha256 == certificate; });
  if (old && !(order_ && order_->party == party && order_->certificate == certificate))
    return fail("this is a certificate that " + server_name(party) +
                " had before: whoever has its old keys would get its shares. A new server has new "
                "keys (`tkdc init`)");
  if (store_.macs()->rows() < store_.count())
    return fail(std::to_string(store_.count() - store_.macs()->rows()) +
                " keys have no MACs here, so nobody could tell whether either server tells the "
                "truth about them: restore the lost server's backup. MACs are dealt by `tkdc "
                "shares deal` while all three servers are there");
  return {};
}

// First: there is no order without it.
Result<void> RepairWatch::refuse_others(int party, const Fingerprint& certificate) {
  auto peers = store_.repair()->peers();
  if (!peers.ok()) return peers.error();
  // That of a server which was approved before, and replaced by another, too.
  if (order_ && order_->party == party &&
      std::ranges::count(*peers, order_->certificate, &PeerCertificate::sha256) == 0)
    peers->push_back({party, false, order_->certificate});
  for (PeerCertificate& one : *peers)
    if (one.party == party && one.sha256 != certificate) one.refused = true;
  return store_.repair()->set_peers(*peers);
}

Result<void> RepairWatch::take(const RepairOrder& order, const char* event) {
  auto said = audit_(nlohmann::json{
      {"event", event}, {"party", order.party}, {"certificate", to_hex(order.certificate)}}
                         .dump());
  if (!said.ok()) return said;
  if (auto written = write_repair_order(config_.store_path, order); !written.ok()) return written;
  order_ = order;
  return {};
}

Result<void> RepairWatch::approve(int party, const Fingerprint& certificate) {
  if (auto good = check_any(); !good.ok()) return good;
  if (auto good = check_approval(party, certificate); !good.ok()) return good;
  if (auto refused = refuse_others(party, certificate); !refused.ok()) return refused;
  return take({party, certificate, refresh_epoch()}, "repair approved");
}

Result<void> RepairWatch::accept(const Fingerprint& certificate) {
  if (auto good = check_any(); !good.ok()) return good;
  if (certificate_ != certificate)
    return fail("this server has the certificate " +
                (certificate_ ? to_hex(*certificate_) : std::string("of none")));
  if (!store_.repair()->blank())
    return fail("this server's store has " + std::to_string(store_.count()) +
                " keys: a repair fills an empty one, on a new machine");
  return take({config_.party, certificate, 0}, "repair accepted");
}

Result<void> RepairWatch::forget() {
  const std::string file = repair_order_file(config_.store_path);
  if (!remove_durably(file) && errno != ENOENT)
    return system_error("repair: " + file + " cannot be removed");
  order_.reset();
  return {};
}

std::string RepairWatch::state() const {
  nlohmann::json json = {{"party", config_.party}, {"keys", store_.count()}};
  if (certificate_) json["certificate"] = to_hex(*certificate_);
  if (order_)
    json["order"] = {{"party", order_->party},
                     {"certificate", to_hex(order_->certificate)},
                     {"offered", offer_under_lock().has_value()}};
  const JobServiceStatus now = jobs_.status();
  json["under_way"] = now.session_up && now.shares.repaired.has_value();
  if (now.shares.task == ShareTask::kRepair) {
    json["looked_at"] = now.shares.looked_at;
    json["of"] = now.shares.keys;
    json["running"] = now.shares.running;
    if (!now.shares.trouble.empty()) json["trouble"] = now.shares.trouble;
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<std::string> RepairWatch::ask(const std::string& words) {
  std::lock_guard lock(mutex_);
  std::istringstream in(words);
  std::string what, certificate;
  int party = -1;
  in >> what;
  if (what == "approve") in >> party;
  if (what == "approve" || what == "accept") in >> certificate;
  Fingerprint sha256{};
  const bool named = from_hex(certificate, sha256);
  Result<void> done;
  if (what == "approve" || what == "accept") {
    if (!named) return fail("a certificate's SHA-256 has 64 hexadecimal digits");
    done = what == "approve" ? approve(party, sha256) : accept(sha256);
  } else if (what == "cancel") {
    done = forget();
  } else if (what != "status") {
    return fail("repair: no such request: " + what);
  }
  if (!done.ok()) return done.error();
  return state();
}

// ---- meanwhile

// Of a session that serves: who has shown these certificates is a server of this realm.
void RepairWatch::session_up() {
  std::lock_guard lock(mutex_);
  note_certificates();
  if (!order_) return;
  log_("the three servers have a session: the repair of " + server_name(order_->party) +
       " is over");
  // The line first: without it the lost server's log, which others recorded, seems rewritten. What
  // fails here is done after the next start.
  auto gone = audit_(nlohmann::json{{"event", "repair over"}, {"party", order_->party}}.dump());
  if (gone.ok()) gone = forget();
  if (!gone.ok()) {
    log_(gone.error().message);
    order_.reset();
  }
}

void RepairWatch::note_certificates() {
  if (!certificate_) return;
  auto peers = store_.repair()->peers();
  if (!peers.ok()) return log_(peers.error().message);
  const std::size_t before = peers->size();
  for (const PeerEntry& peer : config_.peers) {
    std::vector<Fingerprint> pins{peer.certificate.certificate};
    if (peer.certificate.former) pins.push_back(*peer.certificate.former);
    for (const Fingerprint& pin : pins)
      if (std::ranges::count(*peers, pin, &PeerCertificate::sha256) == 0)
        peers->push_back({peer.party, false, pin});
  }
  if (peers->size() == before) return;
  if (auto kept = store_.repair()->set_peers(*peers); !kept.ok()) log_(kept.error().message);
}

}  // namespace tkdc
