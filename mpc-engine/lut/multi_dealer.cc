// SPDX-License-Identifier: Apache-2.0
#include "lut/multi_dealer.h"

#include <algorithm>
#include <cstring>

#include "base/now_public.h"
#include "lut/coefficients.h"

namespace tkdc::lut {
namespace {

using pair::Digest;

constexpr std::size_t kNonceBytes = 32;

ByteSpan octets_of(const Label& label) {
  return {reinterpret_cast<const std::uint8_t*>(&label), kLabelBytes};
}

Label label_at(ByteSpan octets, std::size_t k) {
  Label out;
  std::memcpy(&out, &octets[k * kLabelBytes], kLabelBytes);
  return out;
}

bool is_zero(const Label& label) {
  return sodium_is_zero(octets_of(label).data(), kLabelBytes) != 0;
}

Digest digest_of(std::string_view what, std::uint64_t number,
                 std::initializer_list<ByteSpan> parts) {
  Digest out;
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, out.size());
  const auto add = [&](const void* octets, std::size_t count) {
    crypto_generichash_update(&state, static_cast<const std::uint8_t*>(octets), count);
  };
  add(what.data(), what.size());
  add(&number, sizeof number);
  for (const ByteSpan part : parts) add(part.data(), part.size());
  crypto_generichash_final(&state, out.data(), out.size());
  return out;
}

// Of a party's number, so that nobody repeats another one's; the nonce hides what is committed to.
Digest commitment(std::size_t party, ByteSpan value, ByteSpan nonce) {
  return digest_of("tkdc tables, commitment", party, {value, nonce});
}

bool same(ByteSpan a, ByteSpan b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

Label part_of(std::size_t party, const Label& delta) {
  return party == 0 ? delta : Label{delta.low ^ 1, delta.high};
}

// The bits of one session as columns: Σ ψ_k of their MACs and keys.
struct Sums {
  Label macs, keys;
};

}  // namespace

MultiDealer::MultiDealer(std::vector<pair::Session*> sessions, std::size_t own, std::size_t at_once)
    : Dealer(sessions, part_of(own, sessions.front()->delta()), at_once, kMaskBits, waiting_),
      own_(own), folded_(1), waiting_([this](std::span<Label> some) {
        taus_.insert(taus_.end(), some.begin(), some.end());
        unchecked_ = unchecked_ || !some.empty();
      }) {
  crypto_generichash_init(&all_opened_, nullptr, 0, sizeof(Digest));
}

// Another dealer of the same sessions would not know what this one has to compare.
MultiDealer::~MultiDealer() {
  waiting_.use_all();
  if (unchecked_) (void)end(0, "what was opened has not been checked");
  garble::wipe_stack();
}

Result<std::unique_ptr<MultiDealer>> MultiDealer::create(std::vector<pair::Session*> sessions,
                                                         std::size_t own, std::size_t at_once) {
  if (sessions.empty() || own > sessions.size())
    return fail("lut: party " + std::to_string(own) + " of " + std::to_string(sessions.size() + 1));
  for (const pair::Session* one : sessions)
    if (!is_zero(one->delta() ^ sessions.front()->delta()))
      return fail("lut: sessions of one party with several Δ");
  std::unique_ptr<MultiDealer> dealer(new MultiDealer(std::move(sessions), own, at_once));
  if (auto done = dealer->compare_deltas(); !done) return done.error();
  return dealer;
}

Error MultiDealer::end(std::size_t p, const std::string& why) {
  unchecked_ = false;
  const Error error = sessions()[p]->end(why);
  for (pair::Session* one : sessions()) (void)one->end(error.message);
  return error;
}

Result<MultiDealer::All> MultiDealer::tell(ByteSpan own) {
  if (auto good = stands(); !good) return good.error();
  for (std::size_t p = 0; p < sessions().size(); ++p)
    if (auto sent = sessions()[p]->channel().write(own); !sent) return end(p, sent.error().message);
  All out(parties(), Bytes(own.size()));
  out[own_].assign(own.begin(), own.end());
  for (std::size_t p = 0; p < sessions().size(); ++p) {
    Bytes& theirs = out[number_of(p)];
    if (auto got = sessions()[p]->channel().read(theirs); !got) return end(p, got.error().message);
    now_public(theirs.data(), theirs.size());
  }
  return out;
}

Result<MultiDealer::All> MultiDealer::tell_all_alike(ByteSpan own) {
  auto all = tell(own);
  if (!all) return all;
  Bytes joined;
  for (const Bytes& one : *all) joined.insert(joined.end(), one.begin(), one.end());
  const Digest digest = digest_of("tkdc tables, told", parties(), {joined});
  auto heard = tell(digest);
  if (!heard) return heard;
  for (std::size_t p = 0; p < sessions().size(); ++p)
    if (!same((*heard)[number_of(p)], digest))
      return end(p,
                 "it was told other things than this party: somebody does not follow the protocol");
  return all;
}

Result<MultiDealer::All> MultiDealer::reveal(ByteSpan own) {
  SecretVector opening(own.begin(), own.end());
  opening.resize(own.size() + kNonceBytes);
  randombytes_buf(&opening[own.size()], kNonceBytes);
  const auto of = [&](std::size_t party, ByteSpan said) {
    return commitment(party, said.first(own.size()), said.subspan(own.size()));
  };
  auto committed = tell_all_alike(of(own_, opening));
  if (!committed) return committed;
  auto opened = tell(opening);
  if (!opened) return opened;
  for (std::size_t p = 0; p < sessions().size(); ++p) {
    const std::size_t party = number_of(p);
    if (!same(of(party, (*opened)[party]), (*committed)[party]))
      return end(p, "it opens another value than it committed to");
  }
  for (Bytes& one : *opened) one.resize(own.size());
  return opened;
}

Result<Label> MultiDealer::coins() {
  Label own;
  randombytes_buf(&own, sizeof own);
  auto all = reveal(octets_of(own));
  if (!all) return all.error();
  Label out;
  for (const Bytes& one : *all) out = out ^ label_at(one, 0);
  return out;
}

Result<void> MultiDealer::exchange(MutableByteSpan own) {
  if (taus_.size() >= kFoldedAt)
    if (auto done = fold(); !done) return done;
  return Dealer::exchange(own);
}

void MultiDealer::opened(ByteSpan octets) {
  crypto_generichash_update(&all_opened_, octets.data(), octets.size());
  unchecked_ = true;
}

// What is expected so far becomes one value, by coins that nobody knew when it was opened.
Result<void> MultiDealer::fold() {
  waiting_.use_all();
  if (taus_.empty()) return {};
  auto tossed = coins();
  if (!tossed) return tossed.error();
  Labels factors(taus_.size());
  Coefficients(*tossed).draw(factors);
  folded_[0] = folded_[0] ^ field().dot(factors, taus_);
  wipe(std::span(taus_));
  taus_.clear();
  return {};
}

Result<void> MultiDealer::check(pair::Verdict) {
  if (auto good = stands(); !good) return good;
  Digest opened;
  crypto_generichash_final(&all_opened_, opened.data(), opened.size());
  crypto_generichash_init(&all_opened_, nullptr, 0, sizeof opened);
  auto all = tell(opened);
  if (!all) return all.error();
  for (std::size_t p = 0; p < sessions().size(); ++p)
    if (!same((*all)[number_of(p)], opened))
      return end(p, "it has opened other values: somebody does not follow the protocol");
  if (auto folded = fold(); !folded) return folded;
  auto sum = masked_sum(folded_[0]);
  if (!sum) return sum.error();
  if (!is_zero(*sum)) return end(0, "what was opened is not what its MACs say");
  folded_[0] = Label{};
  unchecked_ = false;
  return {};
}

// What a product of own T and another party's ρ takes towards that one.
class MultiDealer::Masking {
 public:
  explicit Masking(pair::Session& session)
      : session_(session), number_(session.next_number()), own_(seed(session.side())),
        peers_(seed(session.side() == Side::kGarbler ? Side::kEvaluator : Side::kGarbler)),
        zero_(kMaskBits), one_(kMaskBits), rows_(kMaskBits) {}

  // ρ's rows under the peer's bits. Neither depends on how the peer turns them.
  Result<void> send(std::span<const AuthBit> bits, Label rho) {
    for (std::size_t k = 0; k < kMaskBits; ++k) {
      zero_[k] = bits[k].key;
      one_[k] = bits[k].key ^ session_.delta();
    }
    own_.hash(zero_, zero_.data(), false);
    own_.hash(one_, one_.data(), true);
    for (std::size_t k = 0; k < kMaskBits; ++k, rho = ot::times_x(rho))
      rows_[k] = zero_[k] ^ one_[k] ^ rho;
    return session_.channel().write_all(std::span<const Label>(rows_));
  }
  // This party's shares of both products. `turns`: the peer's; `sum`: own T.
  Result<Label> take(std::span<const AuthBit> bits, const Label& turns, const Label& sum) {
    if (auto got = session_.channel().read_all(std::span(rows_)); !got) return got.error();
    Label out;
    for (std::size_t k = 0; k < kMaskBits; ++k) {
      out = out ^ zero_[k] ^ (zero_[k] ^ one_[k]).where(bit_of(turns, k)) ^
            rows_[k].where(bit_of(sum, k));
      zero_[k] = bits[k].mac;
    }
    peers_.hash(zero_, zero_.data(), true);
    for (const Label& one : zero_) out = out ^ one;
    return out;
  }

 private:
  static constexpr std::uint64_t kPurpose = 19;
  ot::RowHash seed(Side of) {
    return {session_.seed_of(kPurpose, number_, of), garble::fastest_kernel()};
  }
  static std::uint64_t bit_of(const Label& label, std::size_t k) {
    return (k < 64 ? label.low >> k : label.high >> (k - 64)) & 1;
  }

  pair::Session& session_;
  const std::uint64_t number_;
  ot::RowHash own_, peers_;
  Labels zero_, one_, rows_;
};

Result<Label> MultiDealer::masked_sum(const Label& own) {
  AuthBits bits(sessions().size() * kMaskBits);
  if (auto drawn = draw(std::span(bits)); !drawn) return drawn.error();
  const auto towards = [&](std::size_t p) {
    return std::span<const AuthBit>(bits).subspan(p * kMaskBits, kMaskBits);
  };
  Labels secrets(2), macs(kMaskBits);  // ρ, and this party's share
  Label &rho = secrets[0], &share = secrets[1];
  randombytes_buf(&rho, sizeof rho);
  share = field().product(own, rho);
  std::transform(bits.begin(), bits.begin() + kMaskBits, macs.begin(),
                 [](const AuthBit& bit) { return bit.mac; });
  auto turns = tell(octets_of(own ^ string_of(macs).value));
  if (!turns) return turns.error();
  std::vector<Masking> maskings;
  for (std::size_t p = 0; p < sessions().size(); ++p) {
    maskings.emplace_back(*sessions()[p]);
    if (auto sent = maskings[p].send(towards(p), rho); !sent) return end(p, sent.error().message);
  }
  for (std::size_t p = 0; p < sessions().size(); ++p) {
    auto taken = maskings[p].take(towards(p), label_at((*turns)[number_of(p)], 0), own);
    if (!taken) return end(p, taken.error().message);
    share = share ^ *taken;
  }
  auto shares = reveal(octets_of(share));
  if (!shares) return shares.error();
  Label sum;
  for (const Bytes& one : *shares) sum = sum ^ label_at(one, 0);
  garble::wipe_stack();
  return sum;
}

Result<void> MultiDealer::fill(std::span<AuthBit> bits) {
  const std::size_t count = bits.size() / sessions().size();
  for (std::size_t p = 0; p < sessions().size(); ++p)
    if (auto drawn = sessions()[p]->draw(bits.subspan(p * count, count)); !drawn)
      return end(p, drawn.error().message);
  if (auto done = settle_own_bits(bits); !done) return done;
  return compare_own_bits(bits);
}

// Each session has random own bits; towards all they become the same.
Result<void> MultiDealer::settle_own_bits(std::span<AuthBit> bits) {
  const std::size_t count = bits.size() / sessions().size();
  SecretVector random((count + 7) / 8);
  randombytes_buf(random.data(), random.size());
  const pair::Bits own = pair::unpacked(random, count);
  std::vector<pair::Bits> turns(sessions().size(), pair::Bits(count));
  for (std::size_t p = 0; p < sessions().size(); ++p) {
    for (std::size_t k = 0; k < count; ++k)
      turns[p][k] = static_cast<std::uint8_t>(own[k] ^ bits[p * count + k].own());
    now_public(turns[p].data(), count);
    if (auto sent = sessions()[p]->channel().write(pair::packed(turns[p])); !sent)
      return end(p, sent.error().message);
  }
  Bytes octets((count + 7) / 8);
  for (std::size_t p = 0; p < sessions().size(); ++p) {
    if (auto got = sessions()[p]->channel().read(octets); !got) return end(p, got.error().message);
    now_public(octets.data(), octets.size());
    const pair::Bits theirs = pair::unpacked(octets, count);
    const pair::Deltas& deltas = sessions()[p]->deltas();
    for (std::size_t k = 0; k < count; ++k) {
      AuthBit& bit = bits[p * count + k];
      bit = deltas.moved(bit, turns[p][k], theirs[k]);
    }
  }
  return {};
}

// The last bits of each session mask the sums of the others, and serve for nothing else.
Result<void> MultiDealer::compare_own_bits(std::span<const AuthBit> bits) {
  constexpr std::size_t kSome = 1024;
  const std::size_t all = bits.size() / sessions().size(), count = all - kMaskBits;
  auto tossed = coins();
  if (!tossed) return tossed.error();
  Coefficients coefficients(*tossed);
  Labels factors(kSome), macs(kSome), keys(kSome), sum(1);
  std::vector<Sums, WipingAllocator<Sums>> sums(sessions().size());
  const auto gather = [&](std::size_t p, std::size_t first, std::size_t some) {
    for (std::size_t k = 0; k < some; ++k) {
      macs[k] = bits[p * all + first + k].mac;
      keys[k] = bits[p * all + first + k].key;
    }
  };
  for (std::size_t first = 0; first < count; first += kSome) {
    const std::size_t some = std::min(kSome, count - first);
    const auto of_some = std::span(factors).first(some);
    coefficients.draw(of_some);
    for (std::size_t k = 0; k < some; ++k)
      sum[0] = sum[0] ^ factors[k].where(bits[first + k].own());
    for (std::size_t p = 0; p < sums.size(); ++p) {
      gather(p, first, some);
      sums[p].macs = sums[p].macs ^ field().dot(of_some, std::span(macs).first(some));
      sums[p].keys = sums[p].keys ^ field().dot(of_some, std::span(keys).first(some));
    }
  }
  for (std::size_t p = 0; p < sums.size(); ++p) {
    gather(p, count, kMaskBits);
    const String mask = string_of(std::span(macs).first(kMaskBits));
    if (p == 0) sum[0] = sum[0] ^ mask.value;
    sums[p].macs = sums[p].macs ^ mask.mac;
    sums[p].keys = sums[p].keys ^ string_of(std::span(keys).first(kMaskBits)).mac;
  }
  now_public(sum.data(), kLabelBytes);
  auto said = tell_all_alike(octets_of(sum[0]));
  if (!said) return said.error();
  for (std::size_t p = 0; p < sums.size(); ++p)
    if (auto sent = sessions()[p]->channel().write(octets_of(sums[p].macs)); !sent)
      return end(p, sent.error().message);
  for (std::size_t p = 0; p < sums.size(); ++p) {
    Label mac;
    if (auto got = sessions()[p]->channel().read_all(std::span(&mac, 1)); !got)
      return end(p, got.error().message);
    const Label theirs = label_at((*said)[number_of(p)], 0),
                differ = mac ^ sums[p].keys ^ field().product(theirs, sessions()[p]->delta());
    now_public(&differ, sizeof differ);
    if (!is_zero(differ)) return end(p, "its bits are not the same towards all");
  }
  return {};
}

Result<void> MultiDealer::compare_deltas() {
  AuthBits bits(sessions().size() * kDeltaChecks);
  if (auto drawn = draw(std::span(bits)); !drawn) return drawn;
  // Of each bit: for others' bits that sum to 0, and to 1.
  struct Choice {
    Label value, nonce[2];
  };
  std::vector<Choice, WipingAllocator<Choice>> choices(2 * kDeltaChecks);
  const auto committed_to = [](std::size_t party, std::size_t at, const Choice& one) {
    return digest_of("tkdc tables, delta", party << 16 | at,
                     {octets_of(one.value),
                      {reinterpret_cast<const std::uint8_t*>(one.nonce), sizeof one.nonce}});
  };
  Bytes own;
  for (std::size_t at = 0; at < choices.size(); ++at) {
    Choice& one = choices[at];
    for (std::size_t p = 0; p < sessions().size(); ++p) {
      const AuthBit& bit = bits[p * kDeltaChecks + at / 2];
      one.value = one.value ^ bit.key ^ bit.mac;
    }
    one.value = one.value ^ delta().where(at % 2);
    randombytes_buf(one.nonce, sizeof one.nonce);
    const Digest digest = committed_to(own_, at, one);
    own.insert(own.end(), digest.begin(), digest.end());
  }
  auto committed = tell_all_alike(own);
  if (!committed) return committed.error();
  std::vector<pair::Bits> opened(parties());
  for (std::size_t k = 0; k < kDeltaChecks; ++k)
    opened[own_].push_back(static_cast<std::uint8_t>(bits[k].own()));
  for (std::size_t p = 0; p < sessions().size(); ++p) {
    auto theirs = sessions()[p]->open(std::span(bits).subspan(p * kDeltaChecks, kDeltaChecks));
    if (!theirs) return end(p, theirs.error().message);
    opened[number_of(p)] = std::move(*theirs);
  }
  const auto at_of = [&](std::size_t party, std::size_t k) {
    std::size_t others = 0;
    for (std::size_t one = 0; one < parties(); ++one)
      if (one != party) others ^= opened[one][k];
    return 2 * k + others;
  };
  std::vector<Choice> fitting;
  for (std::size_t k = 0; k < kDeltaChecks; ++k) fitting.push_back(choices[at_of(own_, k)]);
  auto told = tell(
      {reinterpret_cast<const std::uint8_t*>(fitting.data()), fitting.size() * sizeof(Choice)});
  if (!told) return told.error();
  Labels sums(kDeltaChecks);
  for (std::size_t party = 0; party < parties(); ++party)
    for (std::size_t k = 0; k < kDeltaChecks; ++k) {
      Choice one;
      std::memcpy(&one, &(*told)[party][k * sizeof one], sizeof one);
      const std::size_t at = at_of(party, k);
      const Digest digest = committed_to(party, at, one);
      if (!same(digest, ByteSpan((*committed)[party]).subspan(at * digest.size(), digest.size())))
        return end(party - (party > own_ ? 1 : 0), "it opens another sum than it committed to");
      sums[k] = sums[k] ^ one.value;
    }
  for (const Label& sum : sums)
    if (!is_zero(sum)) return end(0, "somebody has not the same Δ towards all");
  return {};
}

}  // namespace tkdc::lut
