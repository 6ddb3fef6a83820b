// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_derived.h"

#include <openssl/sha.h>

#include <algorithm>

#include "circuits/hmac.h"
#include "service/operation/keys.h"
#include "service/pair/pair_compute.h"

namespace tkdc {
namespace {

constexpr std::size_t kPrfPlusBits = 256, kAesBlock = 16;

// RFC 6113: PRF+ of a pepper is PRF of 1 ‖ pepper, PRF of 2 ‖ pepper, …
Bytes numbered(std::uint8_t number, const std::string& pepper) {
  Bytes out(1 + pepper.size());
  out[0] = number;
  std::ranges::copy(pepper, out.begin() + 1);
  return out;
}

// RFC 3962: blocks that AES is of.
Bytes digests_of(const std::string& pepper) {
  Bytes out;
  for (std::uint8_t number = 1; out.size() < kPrfPlusBits / 8; ++number) {
    const Bytes message = numbered(number, pepper);
    std::uint8_t digest[SHA_DIGEST_LENGTH];
    ::SHA1(message.data(), message.size(), digest);
    out.insert(out.end(), digest, digest + kAesBlock);
  }
  return out;
}

// RFC 8009: what HMAC is of, as it stands behind the block of the pad.
template <class Hash>
Bytes message_of(const std::string& pepper) {
  constexpr std::uint8_t kHigh = Hash::kDigestBits >> 8, kLow = Hash::kDigestBits & 0xff;
  Bytes out{0, 0, 0, 1, 'p', 'r', 'f', 0};
  const Bytes context = numbered(1, pepper);
  out.insert(out.end(), context.begin(), context.end());
  for (const std::uint8_t octet : {std::uint8_t{0}, std::uint8_t{0}, kHigh, kLow})
    out.push_back(octet);
  const auto padding = circuits::padding_of<Hash>(out.size(), Hash::kBlockBits / 8);
  out.insert(out.end(), padding.begin(), padding.end());
  return out;
}

pair::Bits bits_of(ByteSpan octets) { return pair::unpacked(octets, 8 * octets.size()); }

// The outputs of a circuit of which `inputs` are all inputs, for later circuits of this session.
Result<pair::Held> carry(const PairAtWork& at_work, const PairKindPtr& kind, pair::Inputs& inputs) {
  auto carried = pair::Carried::draw(at_work.session, kind->pad_bits);
  if (!carried) return carried.error();
  const std::uint64_t told = at_work.session.outputs_told();
  auto d = compute_pair(at_work, kind, inputs.held(carried->take()));
  at_work.session.told_nothing_since(told);
  if (!d) return d.error();
  return std::move(*carried).moved_by(at_work.session, d->rest);
}

Result<PairKindPtr> get_kind(const PairAtWork& at_work, const std::string& name) {
  auto kind = at_work.circuits.get(name);
  if (!kind) return at_work.session.end(kind.error().message, pair::EndedBy::kState);
  return kind;
}

Result<pair::Held> prf_plus_of(const PairAtWork& at_work, const KeyRecord& record,
                               const PairDerivation& by) {
  auto kind = get_kind(at_work, by.prf);
  if (!kind) return kind.error();
  auto start = at_work.records.part(record, kPrfField, (*kind)->input_bits.front());
  if (!start) return at_work.session.end(start.error().message, pair::EndedBy::kState);
  pair::Inputs inputs;
  inputs.held(*start).known(bits_of(by.in));
  auto made = carry(at_work, *kind, inputs);
  if (made && !by.pepper.empty()) at_work.records.keep_made(record.ref.id, by.pepper, *made);
  return made;
}

}  // namespace

std::optional<PairDerivation> derivation_of(const KeyRecord& record, const JobRequest& request) {
  const auto recipe = decode_derivation(request.public_data);
  if (!recipe || !record.fields.contains(kPrfField)) return std::nullopt;
  PairDerivation out;
  const std::uint32_t from = record.ref.enctype;
  out.prf = "prf-plus" + std::to_string(from);
  if (sha2_enctype(from) == nullptr) {
    out.in = digests_of(recipe->pepper);
  } else {
    using circuits::Sha256Circuit, circuits::Sha384Circuit;
    const bool short_key = key_bytes_of(from) == 16;
    out.in = short_key ? message_of<Sha256Circuit>(recipe->pepper)
                       : message_of<Sha384Circuit>(recipe->pepper);
    const std::size_t block = (short_key ? Sha256Circuit::kBlockBits : Sha384Circuit::kBlockBits);
    out.prf += ":" + std::to_string(8 * out.in.size() / block);
  }
  out.prf = answer_kind(out.prf);
  out.needs_half = recipe->kind == TKDC_DERIVE_CF2;
  if (out.needs_half) out.pepper = recipe->pepper;
  const bool sums = is_checksum(operation_of(request.op));
  out.keys = answer_kind((sums ? "fast-checksum" : "fast-encryption") +
                         std::to_string(recipe->enctype) + ":" + std::to_string(request.usage));
  out.shape = derived_record(record, recipe->enctype);
  for (const char* part : {"ke", "ki", "kc"})
    out.shape.fields[field_name(request.usage, part)] = SharedBytes();
  return out;
}

Result<std::vector<pair::Held>> derive_once(const PairAtWork& at_work, const KeyRecord& record,
                                            const PairDerivation& by,
                                            std::optional<pair::Dealt> half, bool has_prf) {
  if (half.has_value() != by.needs_half)
    return at_work.session.end("a derived key's known half is missing", pair::EndedBy::kState);
  auto prf =
      has_prf ? at_work.records.made(record.ref.id, by.pepper) : prf_plus_of(at_work, record, by);
  if (!prf) return prf.error();
  auto kind = get_kind(at_work, by.keys);
  if (!kind) return kind.error();
  const std::size_t key_bits = (*kind)->input_bits.front();
  auto own = pair::part_of(*prf, 0, key_bits);
  if (!own) return at_work.session.end(own.error().message, pair::EndedBy::kState);
  pair::Inputs inputs = half ? pair::Inputs(std::move(*half)) : pair::Inputs();
  inputs.held(*own);
  if (half)
    inputs.dealt(key_bits);
  else
    inputs.known(pair::Bits(key_bits));
  auto keys = carry(at_work, *kind, inputs);
  if (!keys) return keys.error();
  std::vector<pair::Held> out;
  std::size_t first = 0;
  for (const circuit::Port& port : (*kind)->circuit.schedule.outputs) {
    auto one = pair::part_of(*keys, first, port.bits);
    if (!one) return at_work.session.end(one.error().message, pair::EndedBy::kState);
    first += port.bits;
    out.push_back(std::move(*one));
  }
  return out;
}

}  // namespace tkdc
