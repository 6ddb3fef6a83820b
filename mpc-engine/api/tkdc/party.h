// SPDX-License-Identifier: Apache-2.0
// The three-party engine without Kerberos: one party of a computation on shares.
//
// Three processes (or threads) each join() as party 0, 1 or 2 and then make the
// same calls in the same order with the same public arguments; each call blocks
// until its messages are exchanged. docs/api.md is the guide.
//
// Security: Araki et al. 2016, one of three parties corrupted. Semi-honest: it is
// read. Malicious (the default): it may send what it likes; then open() verifies
// every message before it (docs/protocols/12-verification.md) and fails rather
// than give a wrong or premature result. Fairness is not given: the corrupted
// party may see a result and keep it from the others.
//
// Errors: a call whose arguments are wrong fails before anything is sent, and the
// Party goes on. After any other error (a link, a deviation) the Party is closed:
// every later call fails with the same message. A Party is used by one thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tkdc/circuit.h"
#include "tkdc/shares.h"

namespace tkdc::mpc {

enum class Security : std::uint8_t { kSemiHonest, kMalicious };

// A TLS identity; peers know it by its fingerprint alone. The private key is
// secret; the caller keeps it.
struct Identity {
  std::string certificate_pem, private_key_pem;
  std::string fingerprint;  // SHA-256 of the certificate, 64 hexadecimal digits
};
Result<Identity> make_identity(const std::string& name);

struct PartyOptions {
  struct Member {
    std::string address;      // host:port; of this party: where it listens
    std::string fingerprint;  // Identity::fingerprint
  };
  int index = 0;                  // 0, 1 or 2
  std::array<Member, 3> members;  // the same at all three
  Identity identity;              // of this party
  Security security = Security::kMalicious;
  std::string program;      // what is computed, and its version: equal at all three
  int timeout_ms = 30'000;  // to find the others, and for each message
};

// SHA-1 has a shape of few rounds (480 a block) and one of few bits (2,165 rounds, half the
// octets, less CPU). kByCount: the latter for each block that enough others stand beside,
// see docs/api.md.
enum class Sha1Shape : std::uint8_t { kByCount, kFewestRounds, kFewestBits };

// z[out] += x[left] * y[right]
struct Term {
  std::uint32_t out, left, right;
};

class Party {
 public:
  // Connects to the two others by TLS 1.3 with pinned certificates. Error: they
  // are not there in time, or differ in security mode, program or release; the
  // message names both values.
  static Result<Party> join(const PartyOptions& options);
  // Three parties in one process without TLS, for tests: each used by a thread
  // of its own.
  static Result<std::array<Party, 3>> in_process(Security security);

  // Waits until both others have called it too, or have gone (timeout_ms at most). Before a
  // Party is destroyed: a link that closes ends what the others still do.
  void leave();

  Party(Party&&) noexcept;
  Party& operator=(Party&&) noexcept;
  ~Party();

  int index() const;
  Security security() const;
  std::uint64_t rounds() const;      // so far
  std::uint64_t bytes_sent() const;  // so far, without TLS and TCP

  // ---- inputs and outputs
  // `value` (octets of `count` elements) is read at party `owner` alone. 1 round,
  // 2 in malicious mode; the value's octets to each neighbour.
  Result<Shares> share(int owner, Ring ring, std::size_t count, ByteSpan value);
  // The sharing of public octets, the same at all three. No message.
  Result<Shares> constant(Ring ring, ByteSpan value) const;
  // Uniform elements that no party knows. No message.
  Result<Shares> random(Ring ring, std::size_t count);
  // The value's octets, to all three parties. 1 round, after all messages before
  // it are verified in malicious mode.
  Result<Bytes> open(const Shares& x);

  // ---- arithmetic
  // One quadratic layer: `outputs` elements, each a sum of products; 1 round and
  // one element per output and party. Error: another index than x and y have;
  // malicious mode and a ring that is not binary.
  Result<Shares> quadratic(const Shares& x, const Shares& y, std::size_t outputs,
                           const std::vector<Term>& terms);
  // x[k] y[k] for each k.
  Result<Shares> multiply(const Shares& x, const Shares& y);
  // One element: the sum of x[k] y[k].
  Result<Shares> dot(const Shares& x, const Shares& y);
  // Words of 8, 16, 32 or 64 bits, kBits octets little-endian: 1 where the unsigned
  // a < b, else 0, an octet of kBits each. log2(bits) + 1 rounds.
  Result<Shares> less_than(const Shares& a, const Shares& b, std::size_t word_bytes);
  // The same for Z/2^n, as signed words with |a - b| < 2^(n-1). log2(bits) + 2 rounds.
  Result<Shares> less_than(const Shares& a, const Shares& b);
  // The bits of Z/2^n's elements, as kBits words. log2(bits) + 2 rounds.
  Result<Shares> to_bits(const Shares& x);

  // A circuit on `instances` inputs side by side: for each port the instances' strings one behind
  // the other, octets of a binary ring; bit k of an octet j is the value's bit 8 j + k, and bits
  // that the last octet has too many are ignored. The outputs in the same form, of kBits.
  // circuit.rounds() rounds; each AND sends a bit for each instance and party.
  // Error: other inputs than the circuit has; a round's message above 8 MiB; more than 1 GiB of
  // memory: use fewer instances at a time.
  Result<std::vector<Shares>> evaluate(const Circuit& circuit, const std::vector<Shares>& inputs,
                                       std::size_t instances = 1);

  // ---- AES (FIPS 197) and HMAC-SHA1 (RFC 2104); octets of a binary ring
  // Round keys of a key of 16 or 32 octets: 40 or 52 rounds, once for each key.
  Result<Shares> aes_key(const Shares& key);
  // Whole blocks of 16 octets: 40 rounds and 360 octets per block and party with
  // 16-octet keys, 56 and 504 with 32.
  Result<Shares> aes_encrypt(const Shares& round_keys, const Shares& blocks);
  Result<Shares> aes_decrypt(const Shares& round_keys, const Shares& blocks);
  // Many keys side by side, in the rounds of one.
  Result<std::vector<Shares>> aes_encrypt(const std::vector<Shares>& round_keys,
                                          const std::vector<Shares>& blocks);
  // 20 octets. The key has at most 64 octets. 480 rounds for each 64 octets of
  // padded data, and 964 for the pads (side by side) and the outer hash.
  Result<Shares> hmac_sha1(const Shares& key, const Shares& data);
  // Many side by side, in the rounds of the longest. `shape` is the same at all three.
  Result<std::vector<Shares>> hmac_sha1(const std::vector<Shares>& keys,
                                        const std::vector<Shares>& data,
                                        Sha1Shape shape = Sha1Shape::kByCount);

  // For the library.
  class Impl;
  explicit Party(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tkdc::mpc
