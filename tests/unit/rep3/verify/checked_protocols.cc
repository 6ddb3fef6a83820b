// SPDX-License-Identifier: Apache-2.0
#include "checked_protocols.h"

#include "cipher/gcm.h"
#include "circuits/catalogue.h"
#include "rep3/unit/circuit/circuit_run.h"

namespace tkdc::test {
namespace {

// Round keys, then the block.
Task<SharedBytes> encrypt_block(Rep3Protocol& c, SharedBytes secret) {
  SharedBytes round_keys = secret.slice(0, 176);
  SharedBytes out = co_await c.aes.encrypt(round_keys, secret.slice(176, 16));
  co_return out;
}

Task<SharedBytes> encrypt_one(Rep3Protocol& c, SharedBytes secret) {
  std::vector<SharedBytes> keys;
  keys.push_back(secret.slice(0, 16));
  std::vector<SharedBytes> expanded = co_await aes_expand_keys(c, std::move(keys));
  SharedBytes out = co_await c.aes.encrypt(expanded.front(), secret.slice(16, 16));
  co_return out;
}

Task<SharedBytes> decrypt_one(Rep3Protocol& c, SharedBytes secret) {
  SharedBytes round_keys = secret.slice(0, 240);
  SharedBytes out = co_await c.aes.decrypt(round_keys, secret.slice(240, 32));
  co_return out;
}

Task<SharedBytes> compress_one(Rep3Protocol& c, SharedBytes secret) {
  SharedBytes out = co_await c.sha1.compress(secret.slice(0, kSha1StateBytes),
                                             secret.slice(kSha1StateBytes, kSha1BlockBytes));
  co_return out;
}

// In the shape of the fewest bits, three columns: messages of 12 to 96 bits.
Task<SharedBytes> compress_bits(Rep3Protocol& c, SharedBytes secret) {
  c.sha1.set_ripple_from(3);
  SharedBytes state = secret.slice(0, kSha1StateBytes), block[3], out[3];
  std::vector<Task<void>> tasks;
  for (std::size_t k = 0; k < 3; ++k) {
    block[k] = secret.slice(kSha1StateBytes + k, kSha1BlockBytes);
    tasks.push_back(store(c.sha1.compress(state, block[k], Work::kBulk), out[k]));
  }
  co_await all(c.rep3.lane, std::move(tasks));
  out[0].append(out[1]);
  out[0].append(out[2]);
  co_return out[0];
}

template <Sha2 Rep3Protocol::*kHash>
Task<SharedBytes> compress_sha2(Rep3Protocol& c, SharedBytes secret) {
  Sha2& sha2 = c.*kHash;
  const std::size_t state = sha2.hash().state_bytes, block = sha2.hash().block_bytes;
  SharedBytes out = co_await sha2.compress(secret.slice(0, state), secret.slice(state, block));
  co_return out;
}

// The tag's key is part of the secret, so that GF(2^128) claims are in it too.
Task<SharedBytes> seal_one(Rep3Protocol& c, SharedBytes secret) {
  SharedBytes round_keys = secret.slice(0, 176);
  SharedBytes powers = co_await ghash_powers(c, secret.slice(176, 16));
  GcmKey key = {round_keys, powers};
  GcmNonce nonce = {1};
  SharedBytes out = co_await gcm_seal(c, key, nonce, Bytes(), secret.slice(192, 20));
  co_return out;
}

// Octet claims of two shapes in one batch.
Task<void> keep(Task<SharedBytes> task, SharedBytes& out) { out = co_await task; }

Task<SharedBytes> encrypt_and_hash(Rep3Protocol& c, SharedBytes secret) {
  SharedBytes round_keys = secret.slice(0, 176);
  SharedBytes block, hash;
  co_await both(
      c.rep3.lane, keep(c.aes.encrypt(round_keys, secret.slice(176, 16)), block),
      keep(c.sha1.compress(secret.slice(0, kSha1StateBytes), secret.slice(64, kSha1BlockBytes)),
           hash));
  block.append(hash);
  co_return block;
}

// A block by masks that were made before: masked_deviation_test.cc has what is particular.
Task<SharedBytes> encrypt_masked(Rep3Protocol& c, SharedBytes secret) {
  auto pool = std::make_unique<MaskPool>(c.rep3, MaskPool::needed(1, 10));
  co_await pool->fill(pool->capacity());
  c.aes.use_masks(*pool, 1);
  SharedBytes round_keys = secret.slice(0, 176);
  SharedBytes out = co_await c.aes.encrypt(round_keys, secret.slice(176, 16));
  c.aes.use_masks(*pool, 0);
  co_return out;
}

// An S-box of three octets as a circuit: messages of 3 to 30 bits, so most end within an octet.
Task<SharedBytes> substitute(Rep3Protocol& c, SharedBytes secret) {
  static const circuit::Schedule schedule =
      circuit::schedule_of(circuits::record(*circuits::find_named("aes-sbox")));
  std::vector<SharedBytes> inputs, outputs;
  inputs.push_back(std::move(secret));
  outputs = co_await compute_circuit(c.rep3, schedule, std::move(inputs), 3);
  co_return outputs[0];
}

const CheckedProtocol kProtocols[] = {
    {"aes-block", 192, encrypt_block},
    {"aes", 32, encrypt_one},
    {"aes-decrypt", 272, decrypt_one},
    {"aes-masked", 192, encrypt_masked},
    {"sha1", kSha1StateBytes + kSha1BlockBytes, compress_one},
    {"sha1-bits", kSha1StateBytes + kSha1BlockBytes + 2, compress_bits},
    {"sha256", 96, compress_sha2<&Rep3Protocol::sha256>},
    {"sha384", 192, compress_sha2<&Rep3Protocol::sha384>},
    {"gcm", 212, seal_one},
    {"aes-and-sha1", 192, encrypt_and_hash},
    {"circuit", 3, substitute},
};

}  // namespace

std::span<const CheckedProtocol> checked_protocols() { return kProtocols; }

const CheckedProtocol& checked_protocol(std::string_view name) {
  for (const CheckedProtocol& each : kProtocols)
    if (each.name == name) return each;
  std::abort();
}

}  // namespace tkdc::test
