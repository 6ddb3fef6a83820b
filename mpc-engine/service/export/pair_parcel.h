// SPDX-License-Identifier: Apache-2.0
// What each of two servers hands over for an approved request, and how the recipient finds out that
// one of them lies (docs/protocols/26-two-server-keys.md, "Keys that leave"). The file:
// parcel_file.h.
//
//   box: party u8 | request digest[32] | keys u32 | for each: kind u8, and if it leaves the
//   record's
//        version u32 | a key usage u32 | its part of the key | its part of Ke of that usage
//
// A key is the exclusive-or of both parts, and so is the Ke that both have stored beside it since
// the key was bound. The recipient adds both up, derives Ke of that usage from the key by itself,
// and takes the key only if it is the same. There is no second holder of a part with which it could
// be compared, as with three servers.
//
// Why a lie is noticed. A server that changes its part of a key by e has to change its part of Ke
// by Ke(k ⊕ e) ⊕ Ke(k). It does not know k, and what two keys of which it knows only the difference
// derive is as two random values are: 2^-128 for each request, for AES an ideal cipher and HMAC a
// random function, against related keys, too. Any other change is found for certain. A server that
// knows a key already, or guesses a password right, can put another key in the place of that one; a
// wrong guess spoils the export, and the recipient compares no other file for that request
// (kdc-plugin/migrate/export_folder.h).
//
// What each sees. The recipient: the keys of the request, which is the purpose, and Ke, which
// follows from them. A server: nothing, since nothing is sent to it. A parcel alone: random octets.
// Recipient and one server together: those keys, and so the other one's parts of them. Nothing of
// that helps against keys that stay, since no two keys share a block of a pool.
//
// What is never handed over: MACs, the keys of MACs, Δ, a sum or a hash of them. Of a block the one
// server's MAC is M = K ⊕ X Δ, with the other one's K and Δ. Whoever has X and M, as that server
// has, and K or anything that tells K ⊕ X' Δ for another X', knows Δ = (M ⊕ K) / X. With Δ a server
// moves its part of every key of that pool, those that stay and those that are made later, by any
// difference, unseen; and some differences tell a key. So there is nothing of them in a parcel.
//
// Secret: the parts. Error: names the key; the realm's database is not touched then.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/secret.h"
#include "service/export/parcel_file.h"

namespace tkdc {

struct HandedPart {
  std::uint32_t version = 0;  // of the record: parts of one version belong together
  std::uint32_t usage = 0;    // of Ke
  SecretVector key, derived;  // of the enctype's key length each
};

struct PairParcel {
  int party = 0;
  std::vector<std::optional<HandedPart>> keys;  // in the request's order; no value: it stays
};

// As pack() and unpack() of three servers' parcels.
Result<Bytes> pack(const PairParcel& parcel, const Digest& request,
                   const std::array<std::uint8_t, 32>& recipient, const SecretBuffer& secret);
Result<PairParcel> unpack_of_two(ByteSpan file, const ExportRequest& request, const Digest& digest,
                                 const SecretBuffer& secret,
                                 const std::array<std::uint8_t, 32>& server);

// The keys, in the request's order; no value for those that stay. `parcels`: by party. Error: the
// first key about which they do not fit, and no further one: how many do would tell a server that
// has guessed passwords which guesses are right.
Result<std::vector<std::optional<SecretVector>>> combine(const ExportRequest& request,
                                                         const std::array<PairParcel, 2>& parcels);

}  // namespace tkdc
