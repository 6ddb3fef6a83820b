// SPDX-License-Identifier: Apache-2.0
#include "pair/session.h"

#include <algorithm>
#include <cstring>

#include "base/now_public.h"
#include "ot/base_ot.h"
#include "pair/steps.h"

namespace tkdc::pair {
namespace {

enum Purpose : std::uint64_t { kTold = 1, kId = 4, kExpected = 16 };
constexpr char kUnequal[] = "its products do not fit: it does not follow the protocol";

constexpr char kSeedLabel[] = "tkdc pair, seed", kCommitLabel[] = "tkdc pair, commitment";

// What is committed to, and the octets that hide it.
struct Opening {
  Digest value, nonce;
};
static_assert(sizeof(Opening) == 64);

bool same(const Digest& a, const Digest& b) {
  const int differ = sodium_memcmp(a.data(), b.data(), a.size());
  now_public(&differ, sizeof differ);
  return differ == 0;
}

Digest commitment(const Opening& opening) {
  Digest out;
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, out.size());
  crypto_generichash_update(&state, reinterpret_cast<const std::uint8_t*>(kCommitLabel),
                            sizeof kCommitLabel);
  crypto_generichash_update(&state, reinterpret_cast<const std::uint8_t*>(&opening),
                            sizeof opening);
  crypto_generichash_final(&state, out.data(), out.size());
  return out;
}

// What base OTs and trees of one direction hash: two directions never share a value.
Bytes context_of(ByteSpan context, Side delta_of) {
  static constexpr char kPurpose[] = "tkdc pair, delta of ";
  Bytes out(kPurpose, kPurpose + sizeof kPurpose - 1);
  out.push_back(static_cast<std::uint8_t>(delta_of));
  out.insert(out.end(), context.begin(), context.end());
  return out;
}

Bits base_choices(const Label& delta) {
  Bits out;
  for (std::size_t c = 0; c < ot::kColumns; ++c) out.push_back(ot::base_choice(delta, c));
  return out;
}

}  // namespace

Label draw_delta(Side side) {
  Label delta;
  randombytes_buf(&delta, sizeof delta);
  delta.low |= 1 | kSideBit;
  if (side == Side::kEvaluator) delta.low ^= kSideBit;
  return delta;
}

Session::Session(Channel& channel, Side side, std::shared_ptr<Steps> steps, const Label& delta)
    : channel_(channel), steps_(std::move(steps)), deltas_{side, delta} {}

Session::~Session() { garble::wipe_stack(); }  // copies of Δ

Result<std::unique_ptr<Session>> Session::create(Channel& channel, Side side, ByteSpan context,
                                                 const ot::ExtensionOptions& options,
                                                 EndedBy* ended_by, std::shared_ptr<Steps> steps,
                                                 const Label* delta) {
  if (ended_by != nullptr) *ended_by = EndedBy::kNothing;
  if (!options.checked) return fail("pair: its OTs have to be checked");
  if (delta != nullptr && delta->colour() == 0) return fail("pair: a Δ whose bit 0 is not 1");
  std::unique_ptr<Session> session(
      new Session(channel, side, std::move(steps), delta != nullptr ? *delta : draw_delta(side)));
  if (auto done = session->set_up(context, options); !done) {
    const Error error = session->end("setup: " + done.error().message);
    if (ended_by != nullptr) *ended_by = session->ended_by();
    return error;
  }
  return session;
}

Result<void> Session::exchange_seeds() {
  Label seeds[2];
  Label& own = seeds[static_cast<int>(side())];
  randombytes_buf(&own, sizeof own);
  if (auto sent = channel_.write_all(std::span<const Label>(&own, 1)); !sent) return sent;
  Label& peers = seeds[1 - static_cast<int>(side())];
  if (auto got = channel_.read_all(std::span(&peers, 1)); !got) return got;
  crypto_generichash(reinterpret_cast<std::uint8_t*>(&public_seed_), sizeof public_seed_,
                     reinterpret_cast<const std::uint8_t*>(seeds), sizeof seeds,
                     reinterpret_cast<const std::uint8_t*>(kSeedLabel), sizeof kSeedLabel);
  return {};
}

Label Session::id() const { return seed_of(kId, 0, Side::kGarbler); }

bool Session::is_same(const Label& a, const Label& b) {
  const Label differ = a ^ b;
  return (differ.low | differ.high) == 0;
}

bool Session::is(const Label& id) const { return is_same(id, this->id()); }

Label Session::seed_of(std::uint64_t purpose, std::uint64_t number, Side of) const {
  const std::uint64_t what[3] = {purpose, number, static_cast<std::uint64_t>(of)};
  Label out;
  crypto_generichash(reinterpret_cast<std::uint8_t*>(&out), sizeof out,
                     reinterpret_cast<const std::uint8_t*>(what), sizeof what,
                     reinterpret_cast<const std::uint8_t*>(&public_seed_), sizeof public_seed_);
  return out;
}

// Its Δ chooses in base OTs. Then its 128 first keys are both keys of the other direction's.
Result<void> Session::set_up_garbler(ByteSpan context, const ot::ExtensionOptions& options) {
  const Bytes mine = context_of(context, Side::kGarbler),
              peers = context_of(context, Side::kEvaluator);
  Labels keys(ot::kColumns);
  if (auto got = ot::receive_base(channel_, mine, base_choices(delta()), keys); !got) return got;
  auto sender = ot::ExtensionSender::create(channel_, mine, delta(), keys, options);
  if (!sender) return sender.error();
  sender_ = std::move(*sender);
  Labels zero, one;
  auto sent = ot::send_random(channel_, *sender_, ot::kColumns, [&](auto of_zero, auto of_one) {
    zero.assign(of_zero.begin(), of_zero.end());
    one.assign(of_one.begin(), of_one.end());
  });
  if (!sent) return sent;
  Bytes turns(ot::kColumns);
  if (auto got = channel_.read(turns); !got) return got;
  for (std::size_t c = 0; c < ot::kColumns; ++c)
    if ((turns[c] & 1) != 0) std::swap(zero[c], one[c]);
  auto receiver = ot::ExtensionReceiver::create(channel_, peers, zero, one, options);
  if (!receiver) return receiver.error();
  receiver_ = std::move(*receiver);
  return {};
}

Result<void> Session::set_up_evaluator(ByteSpan context, const ot::ExtensionOptions& options) {
  const Bytes mine = context_of(context, Side::kEvaluator),
              peers = context_of(context, Side::kGarbler);
  Labels zero(ot::kColumns), one(ot::kColumns), keys;
  if (auto sent = ot::send_base(channel_, peers, zero, one); !sent) return sent;
  auto receiver = ot::ExtensionReceiver::create(channel_, peers, zero, one, options);
  if (!receiver) return receiver.error();
  receiver_ = std::move(*receiver);
  const Bits choices = base_choices(delta());
  Bytes turns;
  auto got = ot::receive_random(channel_, *receiver_, ot::kColumns, [&](auto rows, auto of_rows) {
    keys.assign(of_rows.begin(), of_rows.end());
    for (const Label& row : rows)
      turns.push_back(static_cast<std::uint8_t>(choices[turns.size()] ^ row.colour()));
  });
  if (!got) return got;
  if (auto sent = channel_.write(turns); !sent) return sent;
  auto sender = ot::ExtensionSender::create(channel_, mine, delta(), keys, options);
  if (!sender) return sender.error();
  sender_ = std::move(*sender);
  return {};
}

Result<void> Session::set_up(ByteSpan context, const ot::ExtensionOptions& options) {
  if (auto done = exchange_seeds(); !done) return done;
  auto done = steps_                     ? steps_->set_up(*this)
              : side() == Side::kGarbler ? set_up_garbler(context, options)
                                         : set_up_evaluator(context, options);
  if (!done) return done;
  const Side peer_side = side() == Side::kGarbler ? Side::kEvaluator : Side::kGarbler;
  told_ = std::make_unique<LabelDigest>(seed_of(kTold, 0, side()));
  heard_ = std::make_unique<LabelDigest>(seed_of(kTold, 0, peer_side));
  return {};
}

Expected& Session::expected() {
  if (!expected_) {
    expected_digest_ =
        std::make_unique<LabelDigest>(seed_of(kExpected, next_number(), Side::kGarbler));
    expected_ = std::make_unique<Expected>(
        [digest = expected_digest_.get()](std::span<Label> some) { digest->add(some); });
  }
  return *expected_;
}

Label Session::take_expected() {
  expected().use_all();
  return expected_digest_->take();
}

Error Session::end(const std::string& why, EndedBy by) {
  if (ended_.empty()) {
    ended_ = why;
    ended_by_ = channel_.broken() && !told_equality_ ? EndedBy::kLink : by;
    lost_in_check_ = channel_.broken() && told_equality_;
    channel_.abort("the session has ended");
  }
  return fail("pair with " + channel_.peer() + ": " + ended_);
}

Result<void> Session::stands() const {
  if (ended_.empty()) return {};
  return fail("pair with " + channel_.peer() + ": this session has ended: " + ended_);
}

Result<void> Session::draw(std::span<AuthBit> out) {
  if (auto good = stands(); !good) return good;
  drawn_ += out.size();
  if (steps_) {
    auto drawn = steps_->draw(*this, out);
    return drawn ? drawn : end(drawn.error().message);
  }
  AuthBit *keys = out.data(), *macs = out.data();
  auto done = ot::extend_both(
      *sender_, *receiver_, out.size(),
      [&](std::span<Label> rows) {
        for (const Label& row : rows) (keys++)->key = row;
      },
      [&](std::span<Label> rows) {
        for (const Label& row : rows) (macs++)->mac = row;
      });
  if (!done) return end(done.error().message);
  return {};
}

Result<AuthBits> Session::draw(std::size_t count) {
  AuthBits out(count);
  if (auto done = draw(out); !done) return done.error();
  return out;
}

Result<void> Session::tell(std::span<const AuthBit> shared) {
  if (auto good = stands(); !good) return good;
  Bits own(shared.size());
  Labels macs(shared.size());
  for (std::size_t k = 0; k < shared.size(); ++k) {
    own[k] = static_cast<std::uint8_t>(shared[k].own());
    macs[k] = shared[k].mac;
  }
  told_->add(macs);
  const Label digest = told_->take();
  // In one piece, so that no break of the link comes between bits and digest.
  Bytes out = packed(own);
  const auto* octets = reinterpret_cast<const std::uint8_t*>(&digest);
  out.insert(out.end(), octets, octets + sizeof digest);
  if (auto sent = channel_.write(out); !sent) return end(sent.error().message);
  return {};
}

Result<Bits> Session::hear(std::span<const AuthBit> shared) {
  if (auto good = stands(); !good) return good.error();
  Bytes octets((shared.size() + 7) / 8);
  Label digest;
  auto got = channel_.read(octets);
  if (got) got = channel_.read_all(std::span(&digest, 1));
  if (!got) return end(got.error().message);
  now_public(octets.data(), octets.size());
  Bits bits = unpacked(octets, shared.size());
  Labels macs(shared.size());
  for (std::size_t k = 0; k < shared.size(); ++k) macs[k] = deltas_.expected(shared[k], bits[k]);
  heard_->add(macs);
  const Label differ = heard_->take() ^ digest;
  now_public(&differ, sizeof differ);
  const bool fits = sodium_is_zero(reinterpret_cast<const std::uint8_t*>(&differ), sizeof differ);
  if (!fits) return end("it opens bits whose MACs it does not have");
  return bits;
}

Result<Bits> Session::open(std::span<const AuthBit> shared) {
  if (auto told = tell(shared); !told) return told.error();
  return hear(shared);
}

// The evaluator commits, the garbler tells, the evaluator opens: neither knows the other's before
// its own is fixed. The peer's value.
Result<Digest> Session::swap_as_garbler(const Digest& own, Verdict verdict) {
  Digest committed;
  Opening opening;
  if (auto got = channel_.read(committed); !got) return end(got.error().message);
  told_equality_ = verdict == Verdict::kOnGuesses;
  auto done = channel_.write(own);
  if (done) done = channel_.read_all(std::span(&opening, 1));
  if (!done) return end("it does not open what it committed to: " + done.error().message);
  const Digest again = commitment(opening);
  if (!same(again, committed)) return end("it opens another value than it committed to");
  told_equality_ = false;
  return opening.value;
}

Result<Digest> Session::swap_as_evaluator(const Digest& own, bool must_be_equal) {
  Opening opening{own, {}};
  randombytes_buf(opening.nonce.data(), opening.nonce.size());
  const Digest committed = commitment(opening);
  Digest peers;
  auto done = channel_.write(committed);
  if (done) done = channel_.read(peers);
  if (!done) return end(done.error().message);
  if (must_be_equal && !same(own, peers)) return end(kUnequal);
  if (auto sent = channel_.write_all(std::span<const Opening>(&opening, 1)); !sent)
    return end(sent.error().message);
  return peers;
}

Result<Label> Session::coins() {
  if (auto good = stands(); !good) return good.error();
  Digest own;
  randombytes_buf(own.data(), own.size());
  auto peers = side() == Side::kGarbler ? swap_as_garbler(own, Verdict::kOnGuesses)
                                        : swap_as_evaluator(own, false);
  if (!peers) return peers.error();
  for (std::size_t k = 0; k < own.size(); ++k) own[k] ^= (*peers)[k];
  Label out;
  std::memcpy(&out, own.data(), sizeof out);
  return out;
}

Result<bool> Session::alike(const Digest& own) {
  if (auto good = stands(); !good) return good.error();
  Digest peers;
  auto done = channel_.write(own);
  if (done) done = channel_.read(peers);
  if (!done) return end(done.error().message);
  return own == peers;
}

Result<void> Session::equal(const Digest& own, Verdict verdict) {
  if (auto good = stands(); !good) return good;
  auto peers =
      side() == Side::kGarbler ? swap_as_garbler(own, verdict) : swap_as_evaluator(own, true);
  if (!peers) return peers.error();
  if (!same(own, *peers)) return end(kUnequal);
  return {};
}

}  // namespace tkdc::pair
