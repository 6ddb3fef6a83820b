// SPDX-License-Identifier: Apache-2.0
#include "service/lifecycle/share_macs.h"

#include <algorithm>
#include <cstring>

namespace tkdc {
namespace {

constexpr std::string_view kRecordLabel = "tkdc record with MACs 1";
constexpr std::string_view kPairLabel = "tkdc share MAC, pair 1";
constexpr std::size_t kListBytes = 1 + MacKeyring::kMostKeys * sizeof(MacKeyId);

// Which keys this server keeps, newest first; the first octet says how many, or that it cannot
// read them.
constexpr std::uint8_t kUnreadable = 255;

Bytes list_of(const MacKeyring& keyring, bool readable) {
  Bytes out(kListBytes);
  out[0] = readable ? static_cast<std::uint8_t>(keyring.all().size()) : kUnreadable;
  std::size_t at = 1;
  for (const KeptMacKey& key : keyring.all()) {
    std::ranges::copy(key.id, out.begin() + static_cast<std::ptrdiff_t>(at));
    at += key.id.size();
  }
  return out;
}

bool is_list(const Bytes& list) { return list[0] <= MacKeyring::kMostKeys; }

std::vector<MacKeyId> ids_in(const Bytes& list) {
  std::vector<MacKeyId> ids(list[0]);
  Reader r(list);
  r.u8();
  for (MacKeyId& id : ids) r.array(id);
  return ids;
}

// The newest of party 0's that the others keep too.
std::optional<MacKeyId> common_key(const std::array<Bytes, 3>& lists) {
  const auto second = ids_in(lists[1]), third = ids_in(lists[2]);
  for (const MacKeyId& id : ids_in(lists[0]))
    if (std::ranges::count(second, id) > 0 && std::ranges::count(third, id) > 0) return id;
  return std::nullopt;
}

// There is no common one.
std::string who_lost_keys(const std::array<Bytes, 3>& lists) {
  for (std::size_t p = 0; p < 3; ++p) {
    const auto next = ids_in(lists[(p + 1) % 3]), prev = ids_in(lists[(p + 2) % 3]);
    if (std::ranges::find_first_of(next, prev) != next.end())
      return "server " + std::to_string(p) + " keeps no MAC key of the two others'";
  }
  return "no MAC key is common to two servers";
}

Bytes joined(const std::array<Bytes, 3>& parts) {
  Bytes out;
  for (const Bytes& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

// Of one lane and session, for the records of one refresh.
SecretVector pair_key(const SecretBuffer& pairwise, std::uint32_t refresh_epoch) {
  Bytes label;
  Writer w(label);
  w.text(kPairLabel);
  w.u32(refresh_epoch);
  SecretVector out(MacKeys::kPairBytes);
  crypto_generichash(out.data(), out.size(), label.data(), label.size(), pairwise.data(),
                     pairwise.size());
  return out;
}

MacKeyId key_id(const std::array<std::uint8_t, 32>& session, std::uint32_t refresh_epoch) {
  Bytes input;
  Writer w(input);
  w.text(kPairLabel);
  w.raw(session);
  w.u32(refresh_epoch);
  MacKeyId id{};
  crypto_generichash(id.data(), id.size(), input.data(), input.size(), nullptr, 0);
  return id;
}

}  // namespace

// ---- records

Bytes mac_name_of(const KeyRecord& record) {
  Bytes out;
  Writer w(out);
  w.text(kRecordLabel);
  put_key(w, record.ref);
  w.u32(record.version);
  w.text(record.principal_name);
  w.u8(static_cast<std::uint8_t>(record.key_class));
  w.u8(static_cast<std::uint8_t>(record.form));
  w.u8(record.origin);
  w.u8(record.exported ? 1 : 0);
  w.text(record.sharing);
  w.u64(record.created_at_s);
  w.u32(static_cast<std::uint32_t>(record.fields.size()));
  for (const auto& [name, value] : record.fields) {
    w.text(name);
    w.u32(static_cast<std::uint32_t>(value.size()));
  }
  return out;
}

MacSubject mac_subject(const KeyRecord& record, Bytes name) {
  MacSubject subject;
  subject.name = std::move(name);
  std::size_t bytes = 0;
  for (const auto& [field, value] : record.fields) bytes += mac_padded(value.size());
  for (std::size_t c = 0; c < 2; ++c) {
    subject.component[c].resize(bytes);
    std::size_t at = 0;
    for (const auto& [field, value] : record.fields) {
      const SecretVector& octets = value.component[c];
      if (!octets.empty())
        std::memcpy(subject.component[c].data() + at, octets.data(), octets.size());
      at += mac_padded(octets.size());
    }
  }
  return subject;
}

void add_tags(MacSubject& subject, MacRow row) {
  subject.dealing = row.dealing;
  const bool fits = row.tag[0].size() == subject.bytes() && row.tag[1].size() == subject.bytes();
  subject.key = fits ? row.key : MacKeyId{};
  for (std::size_t c = 0; c < 2; ++c) {
    subject.tag[c] = std::move(row.tag[c]);
    subject.tag[c].resize(subject.bytes());
  }
}

// ---- what the three say

std::array<Bytes, 3> by_party(int party, Bytes mine, FromBoth others) {
  std::array<Bytes, 3> out;
  out[static_cast<std::size_t>(party)] = std::move(mine);
  out[static_cast<std::size_t>(mac_neighbour(party, 0))] = std::move(others.prev);
  out[static_cast<std::size_t>(mac_neighbour(party, 1))] = std::move(others.next);
  return out;
}

Task<std::array<Bytes, 3>> say_to_all(Lane& lane, Bytes mine) {
  FromBoth others = co_await lane.exchange(mine);
  std::array<Bytes, 3> said = by_party(lane.party(), std::move(mine), std::move(others));
  if (lane.security() == Security::kMalicious) {
    Bytes about = joined(said);
    FromBoth ignored = co_await lane.agree(std::move(about), Bytes());
  }
  co_return said;
}

Task<bool> all_say_yes(Lane& lane, bool mine) {
  Bytes vote(1, mine ? 1 : 0);
  const std::array<Bytes, 3> votes = co_await say_to_all(lane, std::move(vote));
  co_return votes[0][0] == 1 && votes[1][0] == 1 && votes[2][0] == 1;
}

// ---- the key of this session

ShareMacs::ShareMacs(Lane& lane, MacTable& table, ShareAlarm& alarm, const Seat& seat,
                     PairwiseKeys keys)
    : lane_(lane), table_(table), keyring_(table), alarm_(alarm), seat_(seat),
      pairwise_(std::move(keys)) {}

Task<Result<void>> ShareMacs::ready() {
  // What a disk did not do it may do now. All three know that it failed, so all three try again.
  if (settled_ && trouble_) settling_ = settled_ = false;
  if (!settling_) {
    settling_ = true;
    trouble_.reset();
    co_await settle();
    settled_ = true;
    for (auto h : waiting_) lane_.ready(h);
    waiting_.clear();
  }
  while (!settled_) {
    Settled settled{*this};
    co_await settled;
  }
  Result<void> result;
  if (trouble_) result = *trouble_;
  co_return result;
}

Result<std::unique_ptr<MacKeys>> ShareMacs::keys_of(const MacKeyId& id) const {
  const KeptMacKey* kept = keyring_.find(id);
  if (kept == nullptr) return fail("MAC keys: the one that was agreed is gone");
  const MacKeys::Where where{seat_.installation, kept->refresh_epoch, kept->id, lane_.party()};
  return std::make_unique<MacKeys>(where, kept->with_prev, kept->with_next);
}

Result<void> ShareMacs::use(const MacKeyId& id) {
  auto keys = keys_of(id);
  if (!keys.ok()) return keys.error();
  keys_ = std::move(*keys);
  return {};
}

// From the lane's keys, of which each server has those that it shares with a neighbour. One way:
// what lies on disk says nothing about the session.
Result<MacKeyId> ShareMacs::make_key(std::uint32_t refresh_epoch) {
  const MacKeyId id = key_id(seat_.session, refresh_epoch);
  if (keyring_.find(id) != nullptr) return id;
  auto kept = keyring_.add({id, refresh_epoch, pair_key(pairwise_.mine, refresh_epoch),
                            pair_key(pairwise_.next, refresh_epoch)});
  if (!kept.ok()) return kept.error();
  return id;
}

// What an attempt of before has left goes first: a key deals in one session.
Result<std::unique_ptr<MacKeys>> ShareMacs::make_next_key() {
  if (auto kept = keyring_.keep_only_of(refresh_epoch_); !kept.ok()) return kept.error();
  auto id = make_key(refresh_epoch_ + 1);
  if (!id.ok()) return id.error();
  return keys_of(*id);
}

// What the keys of before prove is lost until MACs are dealt anew: so a server that says that it
// has none makes itself heard; once a session, since it could go on saying so. A key that this
// session has made, and not all three have kept, proves nothing yet.
void ShareMacs::tell_who_lost_keys(const std::array<Bytes, 3>& lists) {
  if (told_who_lost_keys_) return;
  const MacKeyId own = key_id(seat_.session, refresh_epoch_);
  if (std::ranges::all_of(keyring_.all(), [&](const auto& key) { return key.id == own; })) return;
  told_who_lost_keys_ = true;
  alarm_.raise("MACs on shares: " + who_lost_keys(lists) +
                   "; a new one is made. Find out why, then `tkdc shares deal`",
               nullptr);
}

Result<void> ShareMacs::load_kept() {
  refresh_epoch_ = table_.refresh_epoch();
  if (auto loaded = keyring_.load(); !loaded.ok()) return loaded;
  // With an old key, a disk that was stolen before would let another server forge.
  return keyring_.keep_only_of(refresh_epoch_);
}

// Who has lost the keys of before, or has never had any, brings all three to a new one.
Task<void> ShareMacs::settle() {
  // What the lists lead to is stored.
  co_await lane_.agreed();
  Result<void> done = load_kept();
  Bytes mine = list_of(keyring_, done.ok());
  const std::array<Bytes, 3> lists = co_await say_to_all(lane_, std::move(mine));
  if (!std::ranges::all_of(lists, is_list)) {
    if (done.ok()) done = fail("MAC keys: another server cannot read its own");
    trouble_ = done.error();
    co_return;
  }
  const auto common = common_key(lists);
  if (common) {
    done = use(*common);
  } else {
    tell_who_lost_keys(lists);
    auto made = make_key(refresh_epoch_);
    done = made.ok() ? use(*made) : Result<void>(made.error());
  }
  // Nothing is dealt before all three have the key on disk.
  const bool everywhere = co_await all_say_yes(lane_, done.ok());
  if (done.ok() && !everywhere) done = fail("MAC keys: another server could not store its own");
  if (!done.ok()) trouble_ = done.error();
}

// ---- dealing

Task<MacFindings> ShareMacs::deal(MacKeys& keys, std::span<MacSubject> subjects) {
  const Dealing dealing = next();
  const bool one_key = co_await deal_macs(lane_, keys, dealing, subjects);
  // Without it the proofs fail: the others learn of it from the audit.
  if (!one_key)
    for (MacSubject& one : subjects) one.key = {};
  const Dealing attempt = next();
  MacFindings findings = co_await check_macs(lane_, keys, attempt, subjects);
  co_return findings;
}

MacRow ShareMacs::row_of(const KeyRecord& record, MacSubject subject) const {
  MacRow row;
  row.key = subject.key;
  row.refresh_epoch = refresh_epoch_;
  row.version = record.version;
  row.dealing = subject.dealing;
  for (std::size_t c = 0; c < 2; ++c) row.tag[c] = std::move(subject.tag[c]);
  return row;
}

}  // namespace tkdc
