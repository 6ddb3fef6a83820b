// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/aes/aes.h"

#include "field/gf256.h"
#include "protocol/replicated.h"
#include "rep3/unit/aes/kernels.h"
#include "rep3/unit/aes/sbox_claims.h"

namespace tkdc {

struct Aes::Submit {
  Aes& aes;
  Request request;
  bool await_ready() const { return request.data->size() == 0; }
  void await_suspend(std::coroutine_handle<> h) {
    request.awaiter = h;
    aes.pending_.push_back(request);
  }
  void await_resume() {}
};

Aes::Aes(Rep3& rep3, const Rep3Backend& backend) : rep3_(rep3), backend_(backend), masked_(rep3) {
  rep3_.lane.add_gatherer([this] { return gather(); });
}

void Aes::use_masks(MaskPool& pool, std::size_t most_blocks) {
  pool_ = &pool;
  most_masked_blocks_ = most_blocks;
}

Task<SharedBytes> Aes::encrypt(const SharedBytes& round_keys, SharedBytes in) {
  assert(in.size() % 16 == 0);
  co_await Submit{*this, {&round_keys, &in, Direction::kEncrypt, nullptr}};
  co_return in;
}

Task<SharedBytes> Aes::decrypt(const SharedBytes& round_keys, SharedBytes in) {
  assert(in.size() % 16 == 0);
  co_await Submit{*this, {&round_keys, &in, Direction::kDecrypt, nullptr}};
  co_return in;
}

namespace {

constexpr std::pair<AesDirection, int> kKinds[] = {{AesDirection::kEncrypt, 10},
                                                   {AesDirection::kEncrypt, 14},
                                                   {AesDirection::kDecrypt, 10},
                                                   {AesDirection::kDecrypt, 14}};

}  // namespace

// Takes the requests of one kind out of those that wait.
std::vector<Aes::Request> Aes::take_same(int rounds, Direction direction) {
  const std::size_t key_bytes = 16 * (static_cast<std::size_t>(rounds) + 1);
  std::vector<Request> same, others;
  for (const Request& request : pending_)
    (request.direction == direction && request.round_keys->size() == key_bytes ? same : others)
        .push_back(request);
  pending_ = std::move(others);
  return same;
}

// Cohorts of few blocks for which there are masks start at once.
bool Aes::gather_masked() {
  bool any = false;
  for (auto [direction, rounds] : kKinds) {
    std::vector<Request> same = take_same(rounds, direction);
    std::size_t blocks = 0;
    for (const Request& request : same) blocks += request.data->size() / 16;
    const bool few = blocks > 0 && blocks <= most_masked_blocks_;
    if (!few || !pool_->has(MaskPool::needed(blocks, rounds))) {
      pending_.insert(pending_.end(), same.begin(), same.end());
      continue;
    }
    any = true;
    rep3_.lane.spawn(run_masked(std::move(same), rounds, direction, pool_->take(blocks, rounds)));
  }
  return any;
}

// One cohort for each kind of request that is waiting.
bool Aes::gather() {
  if (pending_.empty()) return false;
  bool any = pool_ != nullptr && gather_masked();
  if (pending_.empty()) return any;
  if (at_work_ > 0 && rep3_.lane.rounds() % kStartEveryRounds != 0) return any;
  for (auto [direction, rounds] : kKinds) {
    std::vector<Request> same = take_same(rounds, direction);
    if (same.empty()) continue;
    any = true;
    ++at_work_;
    rep3_.lane.spawn(run(std::move(same), rounds, direction));
  }
  return any;
}

namespace {

// This party's message of a layer: at once, or by the cohort on its own.
void put_terms(AesCohort& cohort, Layer& layer, int k) {
  const std::optional<ZeroShare> zero = layer.zero_share();
  if (!zero || !cohort.start_masked_terms(k, *zero)) return cohort.terms(k, layer.mine());
  layer.fill_later([&cohort, k](std::uint8_t* message) { cohort.finish_masked_terms(k, message); });
}

}  // namespace

Task<void> Aes::invert(AesCohort& cohort) {
  if (rep3_.claims() != nullptr) cohort.keep_for_claims(*rep3_.claims());
  for (int k = 0; k < AesCohort::kLayers; ++k) {
    Layer layer = rep3_.layer(cohort.message_bytes(k));
    put_terms(cohort, layer, k);
    co_await layer;
    cohort.absorb(k, layer.mine(), layer.theirs());
  }
  if (rep3_.claims() != nullptr && !cohort.record(*rep3_.claims()))
    rep3_.lane.set_deviation("the session's representation has no claims to verify");
}

std::vector<AesBlockRef> Aes::blocks_of(const std::vector<Request>& requests) {
  std::vector<AesBlockRef> blocks;
  for (const Request& request : requests)
    for (std::size_t offset = 0; offset < request.data->size(); offset += 16) {
      AesBlockRef block{};
      for (int c = 0; c < 2; ++c) {
        block.in[c] = block.out[c] = request.data->component[c].data() + offset;
        block.round_keys[c] = request.round_keys->component[c].data();
      }
      blocks.push_back(block);
    }
  return blocks;
}

Task<void> Aes::run_masked(std::vector<Request> requests, int rounds, Direction direction,
                           std::vector<LayerMask> masks) {
  std::vector<AesBlockRef> blocks = blocks_of(requests);
  const std::size_t count = blocks.size();
  co_await masked_.run(std::move(blocks), rounds, direction, std::move(masks));
  blocks_done_ += count;
  for (const Request& request : requests) rep3_.lane.ready(request.awaiter);
}

Task<void> Aes::run(std::vector<Request> requests, int rounds, Direction direction) {
  std::vector<AesBlockRef> blocks = blocks_of(requests);
  std::unique_ptr<AesCohort> cohort = backend_.make_cohort(rep3_.party(), blocks.size());
  cohort->load(blocks);

  if (direction == Direction::kEncrypt) {  // FIPS 197, section 5.1
    cohort->add_round_key(blocks, 0);
    for (int round = 1; round <= rounds; ++round) {
      co_await invert(*cohort);
      cohort->sub_shift_mix(round == rounds);
      cohort->add_round_key(blocks, round);
    }
  } else {  // FIPS 197, section 5.3
    cohort->add_round_key(blocks, rounds);
    for (int round = rounds - 1; round >= 0; --round) {
      cohort->inv_shift_sub();
      co_await invert(*cohort);
      cohort->take_inverse();
      cohort->add_round_key(blocks, round);
      if (round > 0) cohort->inv_mix();
    }
  }

  cohort->store(blocks);
  blocks_done_ += blocks.size();
  --at_work_;
  for (const Request& request : requests) rep3_.lane.ready(request.awaiter);
}

namespace {

void record_layers(ClaimLog& log, const SharedBytes& input, const SharedBytes& norm,
                   const SharedBytes& pair, const SharedBytes& inverse,
                   const SharedBytes& product) {
  SboxLayers layers{input.size(), {}, {}, {}, {}, {}};
  for (int c = 0; c < 2; ++c) {
    layers.input[c] = input.component[c].data();
    layers.norm[c] = norm.component[c].data();
    layers.pair[c] = pair.component[c].data();
    layers.inverse[c] = inverse.component[c].data();
    layers.product[c] = product.component[c].data();
  }
  record_claims(log, layers);
}

// SubBytes of n octets, n a multiple of 16, in the byte layout whatever the
// session's representation: key expansion is rare and its messages are small.
Task<void> sub_words(Rep3& rep3, SharedBytes& words) {
  const AesByteKernels& k = aes_byte_kernels_scalar();
  const std::size_t n = words.size();
  auto of = [](const SharedBytes& x, int c) { return x.component[c].data(); };
  auto take = [](const Layer& layer) {
    SharedBytes x;
    x.component[0].assign(layer.mine(), layer.mine() + layer.size());
    x.component[1].assign(layer.theirs(), layer.theirs() + layer.size());
    return x;
  };
  Layer norm = rep3.layer(n / 2);
  k.norm(n, of(words, 0), of(words, 1), norm.mine());
  co_await norm;
  SharedBytes d = take(norm);
  Layer pair = rep3.layer(n / 4);
  k.pair(n, of(d, 0), of(d, 1), pair.mine());
  co_await pair;
  SharedBytes q = take(pair);
  Layer inverted = rep3.layer(n / 2);
  k.invert(n, of(d, 0), of(d, 1), of(q, 0), of(q, 1), inverted.mine());
  co_await inverted;
  SharedBytes e = take(inverted);
  Layer product = rep3.layer(n);
  k.product(n, of(words, 0), of(words, 1), of(e, 0), of(e, 1), product.mine());
  co_await product;
  SharedBytes inverse = take(product);
  if (rep3.claims() != nullptr) record_layers(*rep3.claims(), words, d, q, e, inverse);
  words = std::move(inverse);
  for (int c = 0; c < 2; ++c) {
    std::uint8_t constant = c == constant_component(rep3.party()) ? 0x63 : 0;
    k.affine(n, words.component[c].data(), constant);
  }
}

void put_rcon(SharedBytes& words, int party, std::size_t offset, std::uint8_t rcon) {
  xor_public(words, party, ByteSpan(&rcon, 1), offset);
}

}  // namespace

// FIPS 197, section 5.2. Word i depends on word i-1, so the SubWords of one
// key are sequential; those of all keys share their layers.
Task<std::vector<SharedBytes>> aes_round_keys(Rep3& rep3, std::vector<SharedBytes> keys) {
  const std::size_t key_bytes = keys.front().size();
  const std::size_t total = key_bytes == 16 ? 176 : 240;
  const std::size_t count = keys.size();
  for (SharedBytes& key : keys) key.resize(total);
  std::uint8_t rcon = 1;
  for (std::size_t at = key_bytes; at < total; at += 4) {
    const bool rotate = at % key_bytes == 0;
    const bool substitute = rotate || (key_bytes == 32 && at % 32 == 16);
    if (substitute) {
      SharedBytes words((4 * count + 15) / 16 * 16);
      for (std::size_t j = 0; j < count; ++j)
        for (int c = 0; c < 2; ++c)
          for (std::size_t r = 0; r < 4; ++r)
            words.component[c][4 * j + r] =
                keys[j].component[c][at - 4 + (rotate ? (r + 1) % 4 : r)];
      co_await sub_words(rep3, words);
      for (std::size_t j = 0; j < count; ++j) {
        if (rotate) put_rcon(words, rep3.party(), 4 * j, rcon);
        for (int c = 0; c < 2; ++c)
          std::memcpy(keys[j].component[c].data() + at, words.component[c].data() + 4 * j, 4);
      }
      if (rotate) rcon = gf256_times_x(rcon);
    } else {
      for (SharedBytes& key : keys)
        for (int c = 0; c < 2; ++c)
          std::memcpy(key.component[c].data() + at, key.component[c].data() + at - 4, 4);
    }
    for (SharedBytes& key : keys)
      for (int c = 0; c < 2; ++c)
        xor_bytes(key.component[c].data() + at, key.component[c].data() + at - key_bytes, 4);
  }
  co_return keys;
}

}  // namespace tkdc
