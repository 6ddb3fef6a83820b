// SPDX-License-Identifier: Apache-2.0
#include "session/agreement.h"

#include <algorithm>

#include "base/codec.h"
#include "base/hex.h"
#include "link/socket.h"
#include "session/hello.h"
#include "session/settle.h"

namespace tkdc {
namespace {

// Packets of steps to and from both neighbours.
class Steps : protected StepExchange {
 public:
  Steps(Link& link, const AgreementInputs& inputs, long long deadline_ms)
      : link_(link), in_(inputs), deadline_ms_(deadline_ms) {}

  Result<void> confirm();

 protected:
  std::vector<std::string> names() const override {
    return {name(Neighbour::kPrev), name(Neighbour::kNext)};
  }
  Result<std::vector<Bytes>> exchange(Step step, const std::vector<Bytes>& bodies) override;
  Result<Bytes> hear(Step step, Neighbour from);
  void refuse(const Error& why);
  int party_at(Neighbour side) const {
    return (in_.party + (side == Neighbour::kNext ? 1 : 2)) % 3;
  }
  std::string name(Neighbour side) const { return "party " + std::to_string(party_at(side)); }

  Link& link_;
  const AgreementInputs& in_;
  const long long deadline_ms_;
};

class Talk : private Steps {
 public:
  Talk(Link& link, Entries& entries, EpochLedger& ledger, const AgreementInputs& inputs,
       long long deadline_ms)
      : Steps(link, inputs, deadline_ms), entries_(entries), ledger_(ledger) {}

  Result<std::uint32_t> run();

 private:
  Result<void> compare_inventories();
  bool same_but_for(int party, const Bytes& mine, const std::vector<Bytes>& answers) const;
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

Result<std::vector<Bytes>> Steps::exchange(Step step, const std::vector<Bytes>& bodies) {
  for (Neighbour side : kSides) {
    const Bytes& body = bodies[static_cast<std::size_t>(side)];
    Bytes packet{static_cast<std::uint8_t>(step)};
    packet.insert(packet.end(), body.begin(), body.end());
    auto sent = link_.send(side, packet);
    if (!sent.ok()) return sent.error();
  }
  std::vector<Bytes> answers;
  for (Neighbour side : kSides) {
    auto body = hear(step, side);
    if (!body.ok()) return body.error();
    answers.push_back(std::move(*body));
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
    if (same.ok() && (*answers)[static_cast<std::size_t>(side)] != mine)
      same = fail("session: " + name(side) +
                  " was told other things by the third party than this server; one of the "
                  "servers misbehaves or a HELLO was forged");
  if (!same.ok()) refuse(same.error());
  return same;
}

Result<void> Talk::compare_inventories() {
  auto mine = entries_.inventory();
  if (!mine.ok()) return mine.error();
  Bytes body(mine->begin(), mine->end());
  auto answers = exchange(Step::kInventory, {body, body});
  if (!answers.ok()) return answers.error();
  const Bytes& prev = (*answers)[0];
  const Bytes& next = (*answers)[1];
  if (prev == body && next == body) return {};
  if (in_.newcomer && same_but_for(*in_.newcomer, body, *answers)) return {};
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

// Each hears both others: so the newcomer knows that they are alike, and they do.
bool Talk::same_but_for(int party, const Bytes& mine, const std::vector<Bytes>& answers) const {
  if (party == in_.party) return answers[0] == answers[1];
  const Neighbour other = party_at(Neighbour::kPrev) == party ? Neighbour::kNext : Neighbour::kPrev;
  return answers[static_cast<std::size_t>(other)] == mine;
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
    if ((*answers)[static_cast<std::size_t>(side)] != body)
      return fail("session: " + name(side) + " stored another nonce epoch than " +
                  std::to_string(epoch));
  // From here on nobody can make this server take part in this epoch again.
  stored = ledger_.begin(epoch);
  if (!stored.ok()) return stored.error();
  return epoch;
}

Result<std::uint32_t> Talk::run() {
  auto done = settle_entries(*this, entries_, in_.advice);
  if (done.ok()) done = compare_inventories();
  auto epoch = done.ok() ? agree_epoch() : Result<std::uint32_t>(done.error());
  if (!epoch.ok()) refuse(epoch.error());
  return epoch;
}

}  // namespace

Result<void> confirm_handshake(Link& link, const AgreementInputs& inputs, long long deadline_ms) {
  return Steps(link, inputs, deadline_ms).confirm();
}

Result<std::uint32_t> agree_on_session(Link& link, Entries& entries, EpochLedger& ledger,
                                       const AgreementInputs& inputs, long long deadline_ms) {
  return Talk(link, entries, ledger, inputs, deadline_ms).run();
}

}  // namespace tkdc
