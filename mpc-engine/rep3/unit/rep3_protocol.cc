// SPDX-License-Identifier: Apache-2.0
#include "rep3/unit/rep3_protocol.h"

#include "field/gf128.h"
#include "protocol/replicated.h"
#include "rep3/unit/products.h"

namespace tkdc {
namespace {

constexpr std::size_t kBlock = 16;
// S-boxes' messages of an AES block's round: 16 of 18 bits.
constexpr std::size_t kRoundBytes = 36;
// Masks are made for so many blocks at once: a job that comes meanwhile waits for few.
constexpr std::size_t kMaskChunkBlocks = 4;
constexpr int kMaskRounds = 14;  // of the AES that needs most

// Keys of one size, one after the other.
Task<SharedBytes> expand(Rep3& rep3, SharedBytes keys, std::size_t key_bytes) {
  std::vector<SharedBytes> each;
  for (std::size_t at = 0; at < keys.size(); at += key_bytes)
    each.push_back(keys.slice(at, key_bytes));
  std::vector<SharedBytes> expanded = co_await aes_round_keys(rep3, std::move(each));
  SharedBytes out;
  for (const SharedBytes& one : expanded) out.append(one);
  co_return out;
}

Task<SharedBytes> sha2_hmac(const Rep3& rep3, Sha2& sha2, const SharedBytes& pads,
                            SharedBytes data) {
  const HashFunction& hash = sha2.hash();
  assert(pads.size() == 2 * hash.state_bytes);
  SharedBytes digest = co_await sha2.compress(pads.slice(0, hash.state_bytes), std::move(data));
  digest.resize(hash.digest_bytes);
  const Bytes padding = hash.padding(hash.digest_bytes, hash.block_bytes);
  digest.resize(hash.digest_bytes + padding.size());
  xor_public(digest, rep3.party(), padding, hash.digest_bytes);
  SharedBytes mac =
      co_await sha2.compress(pads.slice(hash.state_bytes, hash.state_bytes), std::move(digest));
  mac.resize(hash.digest_bytes);
  co_return mac;
}

}  // namespace

Rep3Protocol::Rep3Protocol(Rep3& lane, const Rep3Backend& backend, std::size_t masked_blocks)
    : rep3(lane), verifier(lane, backend.octet_device()),
      masks(lane, MaskPool::needed(masked_blocks, kMaskRounds)), aes(lane, backend),
      sha1(lane, backend.ripples()), sha256(lane, kSha256), sha384(lane, kSha384),
      backend_(backend) {
  if (masked_blocks > 0) aes.use_masks(masks, std::max<std::size_t>(masked_blocks / 4, 1));
}

ProtocolInfo Rep3Protocol::info() const {
  return {kName, 3, rep3.lane.security(), kReplicatedSharing, true, backend_.name()};
}

void Rep3Protocol::prepare() {
  if (making_masks_ || masks.held() == masks.capacity()) return;
  making_masks_ = true;
  rep3.lane.spawn(make_masks());
}

Task<void> Rep3Protocol::make_masks() {
  co_await masks.fill(MaskPool::needed(kMaskChunkBlocks, kMaskRounds));
  making_masks_ = false;
}

std::optional<Protocol::Check> Rep3Protocol::checking() const {
  if (rep3.claims() == nullptr || !rep3.claims()->checking()) return std::nullopt;
  return Check{verifier.opened() > 0};
}

void Rep3Protocol::add_constant(SharedBytes& x, ByteSpan value, std::size_t offset) const {
  xor_public(x, rep3.party(), value, offset);
}

Task<SharedBytes> Rep3Protocol::compute(Unit unit, const SharedBytes& held, SharedBytes data,
                                        Work work) {
  switch (unit) {
    case Unit::kAesEncrypt: return aes.encrypt(held, std::move(data));
    case Unit::kAesDecrypt: return aes.decrypt(held, std::move(data));
    case Unit::kAesExpand128: return expand(rep3, std::move(data), 16);
    case Unit::kAesExpand256: return expand(rep3, std::move(data), 32);
    case Unit::kSha1Blocks: return sha1.compress(held, std::move(data), work);
    case Unit::kSha256Blocks: return sha256.compress(held, std::move(data));
    case Unit::kSha384Blocks: return sha384.compress(held, std::move(data));
    case Unit::kHmacSha1: return sha1.hmac(held, std::move(data), work);
    case Unit::kHmacSha256: return sha2_hmac(rep3, sha256, held, std::move(data));
    case Unit::kHmacSha384: return sha2_hmac(rep3, sha384, held, std::move(data));
  }
  std::abort();
}

Task<SharedBytes> Rep3Protocol::inner_products(std::vector<InnerProduct> pairs) {
  return gf128_inner_products(rep3, std::move(pairs));
}

Task<void> Rep3Protocol::verified() { co_await rep3.verified(); }

Task<Bytes> Rep3Protocol::open(SharedBytes x) {
  co_await rep3.verified();
  co_return co_await rep3.open(x);
}

Task<Bytes> Rep3Protocol::open_input(SharedBytes x) { co_return co_await rep3.open(x); }

std::size_t Rep3Protocol::message_bytes(Unit unit, std::size_t held_bytes,
                                        std::size_t data_bytes) const {
  constexpr std::size_t kWordsOfALayer = 4;  // 16 S-boxes
  const auto expansion = [&](std::size_t key_bytes, std::size_t subwords) {
    const std::size_t keys = data_bytes / key_bytes;
    return kRoundBytes * subwords * ((keys + kWordsOfALayer - 1) / kWordsOfALayer);
  };
  const auto sha1_bytes = [](std::size_t blocks) {
    return Sha1::kStartBytes + blocks * Sha1::kBlockBytes;
  };
  const auto blocks_of = [&](const HashFunction& hash) { return data_bytes / hash.block_bytes; };
  switch (unit) {
    case Unit::kAesEncrypt:
    case Unit::kAesDecrypt: return kRoundBytes * (held_bytes / kBlock - 1) * (data_bytes / kBlock);
    case Unit::kAesExpand128: return expansion(16, 10);
    case Unit::kAesExpand256: return expansion(32, 13);
    case Unit::kSha1Blocks: return sha1_bytes(blocks_of(kSha1));
    case Unit::kHmacSha1: return sha1_bytes(blocks_of(kSha1) + 1);
    case Unit::kSha256Blocks: return sha256.message_bytes() * blocks_of(kSha256);
    case Unit::kHmacSha256: return sha256.message_bytes() * (blocks_of(kSha256) + 1);
    case Unit::kSha384Blocks: return sha384.message_bytes() * blocks_of(kSha384);
    case Unit::kHmacSha384: return sha384.message_bytes() * (blocks_of(kSha384) + 1);
  }
  std::abort();
}

std::size_t Rep3Protocol::product_bytes() const { return kGf128Bytes; }

ProtocolCounts Rep3Protocol::counts() const {
  const MaskPool::Count held = masks.held();
  return {
      rep3.layer_bytes(),  aes.blocks(), sha1.blocks(),           sha256.blocks() + sha384.blocks(),
      aes.masked_blocks(), masks.made(), held.halves + held.whole};
}

}  // namespace tkdc
