// SPDX-License-Identifier: Apache-2.0
#include "session/reconcile.h"

#include <algorithm>

#include "base/codec.h"
#include "base/hex.h"
#include "link/socket.h"
#include "session/hello.h"

namespace tkdc {
namespace {

constexpr std::size_t kPageIds = 1024;
constexpr std::size_t kMaxUnsettled = 65'536;

// A record between the two steps of being made or removed.
struct Unsettled {
  EntryId id{};
  bool removal = false;
};
constexpr std::size_t kUnsettledBytes = sizeof(Unsettled::id) + sizeof(Unsettled::removal);

enum class Step : std::uint8_t { kConfirm = 1, kPrepared, kCommitted, kInventory, kEpoch };

// What both neighbours said in one step.
struct Answers {
  Bytes by[2];  // by Neighbour
};

// Packets of steps to and from both neighbours.
class Steps {
 public:
  Steps(Link& link, const ReconcileInputs& inputs, long long deadline_ms)
      : link_(link), in_(inputs), deadline_ms_(deadline_ms) {}

  Result<void> confirm();

 protected:
  using Both = std::array<Bytes, 2>;

  Result<Answers> exchange(Step step, const Both& bodies);
  Result<Bytes> hear(Step step, Neighbour from);
  void refuse(const Error& why);
  int party_at(Neighbour side) const {
    return (in_.party + (side == Neighbour::kNext ? 1 : 2)) % 3;
  }
  std::string name(Neighbour side) const { return "party " + std::to_string(party_at(side)); }

  Link& link_;
  const ReconcileInputs& in_;
  const long long deadline_ms_;
};

class Talk : private Steps {
 public:
  Talk(Link& link, Entries& entries, EpochLedger& ledger, const ReconcileInputs& inputs,
       long long deadline_ms)
      : Steps(link, inputs, deadline_ms), entries_(entries), ledger_(ledger) {}

  Result<std::uint32_t> run();

 private:
  Result<void> settle();
  Result<bool> settle_page(std::span<const Unsettled> mine, bool last);
  Result<Both> answer_unsettled(const Answers& lists, bool* others_last);
  Result<void> apply(std::span<const Unsettled> mine, const Answers& answers);
  Result<void> apply_one(const Unsettled& mine, bool others_did);
  Result<void> compare_inventories();
  bool same_but_for(int party, const Bytes& mine, const Answers& answers) const;
  std::uint32_t vouched() const;
  Result<std::uint32_t> next_epoch() const;
  Result<std::uint32_t> agree_epoch();

  Entries& entries_;
  EpochLedger& ledger_;
};

constexpr Neighbour kSides[2] = {Neighbour::kPrev, Neighbour::kNext};

Result<Bytes> Steps::hear(Step step, Neighbour from) {
  long long left = std::max(deadline_ms_ - monotonic_ms(), 0LL);
  auto packet = link_.receive(from, static_cast<int>(left));
  if (!packet.ok()) return packet.error();
  if (is_refusal(*packet))
    return fail("session: " + name(from) + " refuses: " + refusal_text(*packet));
  if (packet->empty() || (*packet)[0] != static_cast<std::uint8_t>(step))
    return fail("session: " + name(from) + " is at another step of the handshake");
  return Bytes(packet->begin() + 1, packet->end());
}

Result<Answers> Steps::exchange(Step step, const Both& bodies) {
  for (Neighbour side : kSides) {
    const Bytes& body = bodies[static_cast<std::size_t>(side)];
    Bytes packet{static_cast<std::uint8_t>(step)};
    packet.insert(packet.end(), body.begin(), body.end());
    auto sent = link_.send(side, packet);
    if (!sent.ok()) return sent.error();
  }
  Answers answers;
  for (Neighbour side : kSides) {
    auto body = hear(step, side);
    if (!body.ok()) return body.error();
    answers.by[static_cast<std::size_t>(side)] = std::move(*body);
  }
  return answers;
}

// Both neighbours' journals shall say why, not only "closed the connection".
void Steps::refuse(const Error& why) {
  const Bytes refusal = encode_refusal(why.message);
  for (Neighbour side : kSides) (void)link_.send(side, refusal).ok();
}

Result<void> Steps::confirm() {
  Bytes mine;
  Writer w(mine);
  w.raw(in_.session);
  w.raw(in_.transcript);
  auto answers = exchange(Step::kConfirm, {mine, mine});
  Result<void> same;
  if (!answers.ok()) same = answers.error();
  for (Neighbour side : kSides)
    if (same.ok() && answers->by[static_cast<std::size_t>(side)] != mine)
      same = fail("session: " + name(side) +
                  " was told other things by the third party than this server; one of the "
                  "servers misbehaves or a HELLO was forged");
  if (!same.ok()) refuse(same.error());
  return same;
}

// The answers to both neighbours' pages: one octet for each record, whether it
// is done (committed, or buried) here.
Result<Talk::Both> Talk::answer_unsettled(const Answers& lists, bool* others_last) {
  Both out;
  for (Neighbour side : kSides) {
    const Bytes& list = lists.by[static_cast<std::size_t>(side)];
    Reader r(list);
    bool last = r.u8() != 0;
    std::size_t ids = r.u16();
    if (r.failed() || ids > kPageIds || r.remaining() != ids * kUnsettledBytes)
      return fail("session: malformed list of unsettled entries from " + name(side));
    if (!last) *others_last = false;
    Bytes& answer = out[static_cast<std::size_t>(side)];
    for (std::size_t i = 0; i < ids; ++i) {
      EntryId id{};
      r.array(id);
      const bool removal = r.u8() != 0;
      auto done = removal ? entries_.buried(id) : entries_.committed(id);
      if (!done.ok()) return done.error();
      answer.push_back(*done ? 1 : 0);
    }
  }
  return out;
}

Result<void> Talk::apply_one(const Unsettled& mine, bool others_did) {
  if (mine.removal) return others_did ? entries_.destroy(mine.id) : entries_.pardon(mine.id);
  return others_did ? entries_.commit(mine.id) : entries_.abandon(mine.id);
}

Result<void> Talk::apply(std::span<const Unsettled> mine, const Answers& answers) {
  for (Neighbour side : kSides)
    if (answers.by[static_cast<std::size_t>(side)].size() != mine.size())
      return fail("session: malformed answer about unsettled entries from " + name(side));
  for (std::size_t i = 0; i < mine.size(); ++i) {
    auto done = apply_one(mine[i], answers.by[0][i] == 1 || answers.by[1][i] == 1);
    if (!done.ok()) return done;
  }
  return {};
}

// True when all three have sent their last page.
Result<bool> Talk::settle_page(std::span<const Unsettled> mine, bool last) {
  Bytes list;
  Writer w(list);
  w.u8(last ? 1 : 0);
  w.u16(static_cast<std::uint16_t>(mine.size()));
  for (const Unsettled& u : mine) {
    w.raw(u.id);
    w.u8(u.removal ? 1 : 0);
  }
  auto lists = exchange(Step::kPrepared, {list, list});
  if (!lists.ok()) return lists.error();
  bool all_last = last;
  auto bodies = answer_unsettled(*lists, &all_last);
  if (!bodies.ok()) return bodies.error();
  auto answers = exchange(Step::kCommitted, *bodies);
  if (!answers.ok()) return answers.error();
  auto applied = apply(mine, *answers);
  if (!applied.ok()) return applied.error();
  // All three see all three lists, so they stop at the same page; who is through
  // earlier goes on with empty pages.
  return all_last;
}

Result<void> Talk::settle() {
  std::vector<Unsettled> unsettled;
  auto prepared = entries_.prepared();
  if (!prepared.ok()) return prepared.error();
  auto condemned = entries_.condemned();
  if (!condemned.ok()) return condemned.error();
  for (const EntryId& id : *prepared) unsettled.push_back({id, false});
  for (const EntryId& id : *condemned) unsettled.push_back({id, true});
  if (unsettled.size() > kMaxUnsettled)
    return fail("session: " + std::to_string(unsettled.size()) +
                " entries are half made or half removed" + followed_by(in_.advice.unsettled));
  std::size_t at = 0;
  for (std::size_t page = 0; page <= kMaxUnsettled / kPageIds; ++page) {
    std::size_t n = std::min(kPageIds, unsettled.size() - at);
    bool last = at + n == unsettled.size();
    auto all_last = settle_page({unsettled.data() + at, n}, last);
    if (!all_last.ok()) return all_last.error();
    at += n;
    if (*all_last) return {};
  }
  return fail("session: a neighbour's list of unsettled entries does not end");
}

Result<void> Talk::compare_inventories() {
  auto mine = entries_.inventory();
  if (!mine.ok()) return mine.error();
  Bytes body(mine->begin(), mine->end());
  auto answers = exchange(Step::kInventory, {body, body});
  if (!answers.ok()) return answers.error();
  const Bytes& prev = answers->by[0];
  const Bytes& next = answers->by[1];
  if (prev == body && next == body) return {};
  if (in_.repaired && same_but_for(*in_.repaired, body, *answers)) return {};
  std::string whose = "the inventories of all three parties differ";
  int odd = -1;
  if (prev == body)
    odd = party_at(Neighbour::kNext);
  else if (next == body)
    odd = party_at(Neighbour::kPrev);
  else if (prev == next)
    odd = in_.party;
  if (odd >= 0)
    whose = "the inventory of party " + std::to_string(odd) + " differs from the others'";
  return fail("session: " + whose + " (this server " + to_hex(body) + ", " +
              name(Neighbour::kPrev) + " " + to_hex(prev) + ", " + name(Neighbour::kNext) + " " +
              to_hex(next) + ")" + followed_by(in_.advice.inventories));
}

// Each hears both others: so the one that is repaired knows that they are alike, and they do.
bool Talk::same_but_for(int party, const Bytes& mine, const Answers& answers) const {
  if (party == in_.party) return answers.by[0] == answers.by[1];
  const Neighbour other = party_at(Neighbour::kPrev) == party ? Neighbour::kNext : Neighbour::kPrev;
  return answers.by[static_cast<std::size_t>(other)] == mine;
}

// What at least two of the three have reserved; one of those two is honest.
std::uint32_t Talk::vouched() const {
  std::array<std::uint32_t, 3> reserved{};
  for (std::size_t p = 0; p < 3; ++p) reserved[p] = in_.epochs[p].reserved;
  std::sort(reserved.begin(), reserved.end());
  return reserved[1];
}

Result<std::uint32_t> Talk::next_epoch() const {
  std::size_t ahead = 0;
  for (std::size_t p = 1; p < 3; ++p)
    if (in_.epochs[p].used > in_.epochs[ahead].used) ahead = p;
  const std::uint32_t highest = in_.epochs[ahead].used, two_have = vouched();
  std::string claims = "party " + std::to_string(ahead) + " claims to have used nonce epoch " +
                       std::to_string(highest);
  for (std::size_t p = 0; p < 3; ++p)
    if (p != ahead)
      claims += ", party " + std::to_string(p) + " has " + std::to_string(in_.epochs[p].reserved);
  if (highest > two_have && highest - two_have > kMaxEpochLead)
    return fail("session: " + claims + "; more than " + std::to_string(kMaxEpochLead) +
                " ahead is not believed. Distrust party " + std::to_string(ahead) +
                followed_by(in_.advice.epoch_not_believed));
  if (highest >= kMaxEpoch)
    return fail("session: the 20-bit nonce epochs are used up" +
                followed_by(in_.advice.epochs_used_up));
  if (highest > two_have && in_.log)
    in_.log("session: " + claims + ": " + std::to_string(highest - two_have) +
            " epochs are skipped; unless two parties were restored from backups, party " +
            std::to_string(ahead) + " misbehaves");
  return highest + 1;
}

Result<std::uint32_t> Talk::agree_epoch() {
  auto next = next_epoch();
  if (!next.ok()) return next;
  const std::uint32_t epoch = *next;
  auto stored = ledger_.reserve(epoch, vouched());
  if (!stored.ok()) return stored.error();
  Bytes body;
  Writer(body).u32(epoch);
  auto answers = exchange(Step::kEpoch, {body, body});
  if (!answers.ok()) return answers.error();
  for (Neighbour side : kSides)
    if (answers->by[static_cast<std::size_t>(side)] != body)
      return fail("session: " + name(side) + " stored another nonce epoch than " +
                  std::to_string(epoch));
  // From here on nobody can make this server take part in this epoch again.
  stored = ledger_.begin(epoch);
  if (!stored.ok()) return stored.error();
  return epoch;
}

Result<std::uint32_t> Talk::run() {
  auto done = settle();
  if (done.ok()) done = compare_inventories();
  auto epoch = done.ok() ? agree_epoch() : Result<std::uint32_t>(done.error());
  if (!epoch.ok()) refuse(epoch.error());
  return epoch;
}

}  // namespace

Result<void> confirm_handshake(Link& link, const ReconcileInputs& inputs, long long deadline_ms) {
  return Steps(link, inputs, deadline_ms).confirm();
}

Result<std::uint32_t> reconcile(Link& link, Entries& entries, EpochLedger& ledger,
                                const ReconcileInputs& inputs, long long deadline_ms) {
  return Talk(link, entries, ledger, inputs, deadline_ms).run();
}

}  // namespace tkdc
