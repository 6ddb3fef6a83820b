// SPDX-License-Identifier: Apache-2.0
#include "pair/session.h"

#include <cassert>
#include <cstring>

#include "base/now_public.h"
#include "ot/base_ot.h"

namespace tkdc::pair {
namespace {

enum Purpose : std::uint64_t { kTold = 1 };

constexpr char kSeedLabel[] = "tkdc pair, seed", kCommitLabel[] = "tkdc pair, commitment";

// What is committed to, and the octets that hide it.
struct Opening {
  Digest value, nonce;
};
static_assert(sizeof(Opening) == 64);

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

// The evaluator commits, the garbler tells, the evaluator opens: neither knows the other's before
// its own is fixed. The peer's value.
Result<Digest> swap_committed(Channel& channel, Side side, const Digest& own) {
  if (side == Side::kGarbler) {
    Digest committed;
    Opening opening;
    if (auto got = channel.read(committed); !got) return got.error();
    if (auto sent = channel.write(own); !sent) return sent.error();
    if (auto got = channel.read_all(std::span(&opening, 1)); !got) return got.error();
    const Digest again = commitment(opening);
    if (sodium_memcmp(again.data(), committed.data(), again.size()) != 0)
      return fail("pair with " + channel.peer() + ": it opens another value than it committed to");
    return opening.value;
  }
  Opening opening{own, {}};
  randombytes_buf(opening.nonce.data(), opening.nonce.size());
  const Digest committed = commitment(opening);
  Digest peers;
  if (auto sent = channel.write(committed); !sent) return sent.error();
  if (auto got = channel.read(peers); !got) return got.error();
  if (auto sent = channel.write_all(std::span<const Opening>(&opening, 1)); !sent)
    return sent.error();
  return peers;
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

Bytes packed(std::span<const std::uint8_t> bits) {
  Bytes out((bits.size() + 7) / 8);
  for (std::size_t k = 0; k < bits.size(); ++k)
    out[k / 8] |= static_cast<std::uint8_t>(bits[k] << (k % 8));
  return out;
}

Bits unpacked(ByteSpan octets, std::size_t count) {
  assert(octets.size() == (count + 7) / 8);
  Bits out(count);
  for (std::size_t k = 0; k < count; ++k) out[k] = octets[k / 8] >> (k % 8) & 1;
  return out;
}

Session::Session(Channel& channel, Side side)
    : channel_(channel), deltas_{side, draw_delta(side)} {}

Result<std::unique_ptr<Session>> Session::create(Channel& channel, Side side, ByteSpan context,
                                                 const ot::ExtensionOptions& options) {
  assert(options.security == ot::Security::kMalicious);
  std::unique_ptr<Session> session(new Session(channel, side));
  if (auto done = session->set_up(context, options); !done)
    return session->end("setup: " + done.error().message);
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
  Labels keys(ot::kColumns);
  if (auto got = ot::receive_base(channel_, context, base_choices(delta()), keys); !got) return got;
  auto sender = ot::ExtensionSender::create(channel_, context, delta(), keys, options);
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
  auto receiver = ot::ExtensionReceiver::create(channel_, context, zero, one, options);
  if (!receiver) return receiver.error();
  receiver_ = std::move(*receiver);
  return {};
}

Result<void> Session::set_up_evaluator(ByteSpan context, const ot::ExtensionOptions& options) {
  Labels zero(ot::kColumns), one(ot::kColumns), keys;
  if (auto sent = ot::send_base(channel_, context, zero, one); !sent) return sent;
  auto receiver = ot::ExtensionReceiver::create(channel_, context, zero, one, options);
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
  auto sender = ot::ExtensionSender::create(channel_, context, delta(), keys, options);
  if (!sender) return sender.error();
  sender_ = std::move(*sender);
  return {};
}

Result<void> Session::set_up(ByteSpan context, const ot::ExtensionOptions& options) {
  if (auto done = exchange_seeds(); !done) return done;
  auto done = side() == Side::kGarbler ? set_up_garbler(context, options)
                                       : set_up_evaluator(context, options);
  if (!done) return done;
  const Side peer_side = side() == Side::kGarbler ? Side::kEvaluator : Side::kGarbler;
  told_ = std::make_unique<LabelDigest>(seed_of(kTold, 0, side()));
  heard_ = std::make_unique<LabelDigest>(seed_of(kTold, 0, peer_side));
  return {};
}

Error Session::end(const std::string& why) {
  if (ended_.empty()) {
    ended_ = why;
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
  auto sent = channel_.write(packed(own));
  if (sent) sent = channel_.write_all(std::span<const Label>(&digest, 1));
  if (!sent) return end(sent.error().message);
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

Result<Label> Session::coins() {
  if (auto good = stands(); !good) return good.error();
  Digest own;
  randombytes_buf(own.data(), own.size());
  auto peers = swap_committed(channel_, side(), own);
  if (!peers) return end(peers.error().message);
  for (std::size_t k = 0; k < own.size(); ++k) own[k] ^= (*peers)[k];
  Label out;
  std::memcpy(&out, own.data(), sizeof out);
  return out;
}

Result<void> Session::equal(const Digest& own) {
  if (auto good = stands(); !good) return good;
  auto peers = swap_committed(channel_, side(), own);
  if (!peers) return end(peers.error().message);
  if (sodium_memcmp(own.data(), peers->data(), own.size()) != 0)
    return end("its products do not fit: it does not follow the protocol");
  return {};
}

}  // namespace tkdc::pair
