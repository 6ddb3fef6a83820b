// SPDX-License-Identifier: Apache-2.0
// AES-CBC-CTS of a job by tables: from authenticated bits of a session to such bits, so that a
// circuit of the same session has before it what was stored or dealt, and behind it the MAC, the
// gate and the agent's pad (docs/protocols/29-tables-in-jobs.md). Tables are AES-T16's.
//
//   round keys   of a key's bits, once for a session; checked
//   seal         a message's bits to its ciphertext's, a round of three messages for each of AES,
//                block after block
//   open         a ciphertext's bits to the message's, all blocks together
//
// Nothing is opened but what fresh random bits mask, and nothing comes out before the check of all
// that was opened. What is left is asked for before a word is said.
//
// share level: own bits of both sum to what OpenSSL has, with MACs under the session's Δ;
// tests/unit/lut/held_aes_test.cc.
//
// Calls block; one thread. Secret: keys, texts. Public: lengths. Error: the session's; bits of
// another session; a length; not enough tables or masks left.
#pragma once

#include "lut/bits_out.h"
#include "lut/cts.h"
#include "lut/sbox_tables.h"

namespace tkdc::lut {

class RoundKeys {
 public:
  // Of 16 or 32 octets. `forward`: schedule_lookups() of them.
  static Result<RoundKeys> expand(PairDealer& dealer, SboxTables& forward, const pair::Held& key);
  RoundKeys(RoundKeys&&) = default;
  RoundKeys& operator=(RoundKeys&&) = default;
  std::size_t octets() const { return labels_.size() * kLabelBytes; }  // of memory
  // Of the key.
  std::size_t key_octets() const { return 4 * (labels_.size() / kBlockOctets - 1) - 24; }

 private:
  friend class HeldAes;
  RoundKeys(const Label& session, Labels labels) : session_(session), labels_(std::move(labels)) {}
  Label session_;
  Labels labels_;
};

// What a text takes: cts_lookups() of tables that go its way, and its octets of masks.
Result<pair::Held> seal_held(PairDealer& dealer, SboxTables& forward, BitsOut& out,
                             const RoundKeys& keys, const pair::Held& message);
Result<pair::Held> open_held(PairDealer& dealer, SboxTables& inverse, BitsOut& out,
                             const RoundKeys& keys, const pair::Held& ciphertext);

}  // namespace tkdc::lut
