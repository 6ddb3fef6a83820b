// SPDX-License-Identifier: Apache-2.0
// Two parties from their streams to authenticated bits: base OTs, extensions in both directions,
// and the small exchanges that everything above needs: openings under MACs, coins, an equality.
//
//   setup      base OTs with the garbler as their receiver; extension of the evaluator's bits; its
//              first 128 OTs are the base OTs of the other direction
//   opening    own bits; then a digest of their MACs: ⊕ H(mac, j), H the hash of rows, no j twice
//   coins      commit, tell, open
//   equality   commit, tell, and open if it is equal
//   likeness   both tell 32 octets of what they are about to do, which is public
//
// Whoever runs sessions asks what ended one (EndedBy). The evaluator hears the garbler's value of
// an equality before it opens its own, and may not like it. So the garbler counts each end between
// its telling and that opening as a check that failed, a broken link too, unless the verdict tells
// the evaluator nothing (Verdict).
//
// Everything dies at the first check that fails: later calls fail too, and Δ is never used again.
// A Δ lives in one session, or in those of a party with several others
// (lut/multi_dealer.h), which end together. Calls block; one thread. Secret: Δ, bits, MACs, keys.
#pragma once

#include <array>
#include <functional>

#include "garble/wiped_memory.h"
#include "ot/random_ot.h"
#include "pair/auth_bit.h"
#include "pair/bits.h"
#include "pair/served_deals.h"

namespace tkdc::pair {

using ot::Channel;

// ⊕ of H(label, j) over labels, j counting on through a session. Of two labels that differ by a
// Δ that it does not know, a party that has one cannot give the digest for the other.
class LabelDigest {
 public:
  explicit LabelDigest(const Label& seed) : hash_(seed, garble::fastest_kernel()) {}
  // `labels` are overwritten.
  void add(std::span<Label> labels) {
    hash_.hash(labels, labels.data(), true);
    for (const Label& one : labels) sum_ = sum_ ^ one;
  }
  Label take() { return std::exchange(sum_, Label()); }

 private:
  ot::RowHash hash_;
  Label sum_;
};

// Labels that are right or wrong together, until somebody compares them: they are used as soon as
// many wait.
class Expected {
 public:
  // May overwrite them.
  using Use = std::function<void(std::span<Label>)>;
  explicit Expected(Use use) : use_(std::move(use)), labels_(kAtOnce) {}
  void add(const Label& label) {
    labels_[waiting_++] = label;
    if (waiting_ == kAtOnce) use_all();
  }
  void use_all() { use_(std::span(labels_).first(std::exchange(waiting_, 0))); }

 private:
  static constexpr std::size_t kAtOnce = 512;
  const Use use_;
  Labels labels_;
  std::size_t waiting_ = 0;
};

// kLink: the stream failed, which may be nobody's fault. kState: what both have stored, or are
// about to do, differs, or cannot be read here: servers that follow the protocol come to this too,
// by a restored disk or a full one, and people have to look at both. kCheck: the peer does not
// follow the protocol, or is to be treated so; another session with it is a decision of people.
enum class EndedBy : std::uint8_t { kNothing, kLink, kState, kCheck };

// What an equality compares. kOnGuesses: whether it holds may depend on what a changed peer has
// guessed of secrets, as with leaky products. kOnOpenings: values that were opened, alone. It holds
// unless the peer opened others than it had, which the peer knows.
enum class Verdict : std::uint8_t { kOnGuesses, kOnOpenings };

class Steps;  // pair/steps.h

class Session {
 public:
  // `context` names installation, both parties, what the session is for and its number: equal at
  // both, and never that of another session. Error: also options whose OTs are not checked;
  // `ended_by`, if there is one, says what ended the setup. `delta`: null draws one. A party that
  // has sessions with several others gives them the same, new after each setup that failed; they
  // are not for garbling, where bit 1 says whose it is. Error also: its bit 0 is not 1.
  static Result<std::unique_ptr<Session>> create(Channel& channel, Side side, ByteSpan context,
                                                 const ot::ExtensionOptions& options = {},
                                                 EndedBy* ended_by = nullptr,
                                                 std::shared_ptr<Steps> steps = nullptr,
                                                 const Label* delta = nullptr);
  Session(const Session&) = delete;
  ~Session();

  // Null: by oblivious transfer and garbling.
  Steps* steps() const { return steps_.get(); }

  Side side() const { return deltas_.side; }
  const Deltas& deltas() const { return deltas_; }
  const Label& delta() const { return deltas_.delta; }
  Channel& channel() { return channel_; }
  const std::string& peer() const { return channel_.peer(); }

  // Random bits of both, authenticated.
  Result<void> draw(std::span<AuthBit> out);
  Result<AuthBits> draw(std::size_t count);
  std::uint64_t drawn() const { return drawn_; }  // bits, so far
  // Memory for bits that are drawn and soon used up, kept for the session: a batch of ANDs takes
  // some 100 MB of it. What it held before is there until it is overwritten.
  std::span<AuthBit> scratch(std::size_t count) {
    if (scratch_.size() < count) scratch_ = AuthBits(count);
    return std::span(scratch_).first(count);
  }

  // What the peer's bits are; its MACs have been checked. `shared`: of which both open their own.
  Result<Bits> open(std::span<const AuthBit> shared);
  // One direction of it. The sums of values that a message tells may be checked later than it.
  Result<void> tell(std::span<const AuthBit> shared);
  Result<Bits> hear(std::span<const AuthBit> shared);

  // 16 octets that neither chooses.
  Result<Label> coins();
  // Whether both have the same 32 octets; false ends the session.
  Result<void> equal(const Digest& own, Verdict verdict = Verdict::kOnGuesses);
  // Whether both say the same of what they are about to do; public, and false ends nothing.
  Result<bool> alike(const Digest& own);

  // Its account of labels of which both parties have the same if all that was opened is right: one,
  // so that no comparison leaves any out. Both ask for it first at the same point.
  Expected& expected();
  // The digest of all since the last one.
  Label take_expected();

  // A number that this session has not given before, the same at both: of a batch, of a use.
  std::uint64_t next_number() { return next_number_++; }
  // A seed for H's keys that both derive alike, for a purpose and a number.
  Label seed_of(std::uint64_t purpose, std::uint64_t number, Side of) const;

  // Whether a client's deal of this number has served here; and that it serves now.
  ServedDeals::Is state_of_deal(std::uint64_t client, const Label& number) const {
    return deals_.state_of(client, number.high, number.low);
  }
  void deal_serves(std::uint64_t client, const Label& number) {
    deals_.serves(client, number.high, number.low);
  }

  // How often this party has begun to tell its shares of output masks: from then on the peer may
  // know what it was told, with what it has itself, whatever comes after.
  std::uint64_t outputs_told() const { return outputs_told_; }
  void tells_outputs() { ++outputs_told_; }
  // What was told since is masked by what nobody knows (pair/carried.h).
  void told_nothing_since(std::uint64_t before) { outputs_told_ = before; }

  // The end, with its reason for the log; the peer is told that there is an end. `by`: where it was
  // not the link.
  Error end(const std::string& why, EndedBy by = EndedBy::kCheck);
  Result<void> stands() const;
  EndedBy ended_by() const { return ended_by_; }
  // Ended as a check by a link that broke while the peer owed an opening: who counts such ends may
  // go on until there are many.
  bool lost_in_check() const { return lost_in_check_; }
  // Of what belongs to this session; public.
  Label id() const;
  bool is(const Label& id) const;
  static bool is_same(const Label& a, const Label& b);  // of what is public

 private:
  Session(Channel& channel, Side side, std::shared_ptr<Steps> steps, const Label& delta);
  Result<void> exchange_seeds();
  Result<Digest> swap_as_garbler(const Digest& own, Verdict verdict);
  Result<Digest> swap_as_evaluator(const Digest& own, bool must_be_equal);
  Result<void> set_up(ByteSpan context, const ot::ExtensionOptions& options);
  Result<void> set_up_garbler(ByteSpan context, const ot::ExtensionOptions& options);
  Result<void> set_up_evaluator(ByteSpan context, const ot::ExtensionOptions& options);

  Channel& channel_;
  const std::shared_ptr<Steps> steps_;
  Deltas deltas_;
  Label public_seed_;
  std::unique_ptr<ot::ExtensionSender> sender_;      // of keys of the peer's bits
  std::unique_ptr<ot::ExtensionReceiver> receiver_;  // of MACs of own bits
  std::unique_ptr<LabelDigest> told_, heard_;
  std::unique_ptr<LabelDigest> expected_digest_;
  std::unique_ptr<Expected> expected_;
  AuthBits scratch_;
  std::uint64_t next_number_ = 1, drawn_ = 0;
  ServedDeals deals_;
  std::uint64_t outputs_told_ = 0;
  std::string ended_;
  EndedBy ended_by_ = EndedBy::kNothing;
  bool told_equality_ = false, lost_in_check_ = false;
};

}  // namespace tkdc::pair
