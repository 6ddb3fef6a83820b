// SPDX-License-Identifier: Apache-2.0
#include "session/hello.h"

#include <algorithm>

#include "base/hex.h"
#include "session/epochs.h"

namespace tkdc {
namespace {

constexpr std::uint8_t kHelloTag = 'H';
constexpr std::size_t kMaxSecurityBytes = 32;
constexpr std::size_t kMaxProtocolBytes = 32;

template <class AnyWriter>
void put_public(AnyWriter& w, const Hello& hello) {
  w.u16(hello.version);
  w.raw(hello.installation);
  w.u8(static_cast<std::uint8_t>(hello.party));
  w.u16(static_cast<std::uint16_t>(hello.lanes));
  w.text(hello.security);
  w.u8(static_cast<std::uint8_t>(hello.representation));
  w.u8(static_cast<std::uint8_t>(hello.zero_shares));
  w.u8(hello.two_parts ? 1 : 0);
  w.u64(hello.wire_format);
  w.u8(static_cast<std::uint8_t>(hello.protocols.size()));
  for (const OfferedProtocol& one : hello.protocols) {
    w.text(one.name);
    w.u64(one.wire_format);
  }
  w.u32(hello.masked_blocks);
  w.u32(hello.cohort_limit);
  w.raw(hello.inventory);
  w.u32(hello.epoch_era);
  w.u32(hello.epoch);
  w.u32(hello.epoch_used);
  w.raw(hello.nonce);
  w.raw(hello.round);
  w.raw(hello.note);
  w.raw(hello.held);
}

std::string names_of(const std::vector<OfferedProtocol>& protocols) {
  std::string out;
  for (const OfferedProtocol& one : protocols) out += (out.empty() ? "'" : ", '") + one.name + "'";
  return out.empty() ? "none" : out;
}

// The last one's name is another one's too. Two sides of one protocol in a lane would draw the same
// keys twice.
bool names_twice(const std::vector<OfferedProtocol>& protocols) {
  return std::ranges::count(protocols, protocols.back().name, &OfferedProtocol::name) > 1;
}

bool has(const std::vector<OfferedProtocol>& protocols, const OfferedProtocol& wanted) {
  return std::ranges::find(protocols, wanted) != protocols.end();
}

bool is_of_two(const Hello& hello) {
  return std::ranges::find(hello.protocols, kPairProtocol, &OfferedProtocol::name) !=
         hello.protocols.end();
}

std::string quoted(const std::string& value) { return "'" + value + "'"; }

Error differ(const std::string& what, const std::string& theirs, const std::string& mine, int party,
             const std::string& advice) {
  return fail("session: party " + std::to_string(party) + " has " + what + " " + theirs +
              ", this server " + mine + followed_by(advice));
}

}  // namespace

SecretVector encode_hello(const Hello& hello) {
  SecretVector out;
  out.reserve(kMaxHelloBytes);
  SecretWriter w(out);
  w.u8(kHelloTag);
  put_public(w, hello);
  w.u16(static_cast<std::uint16_t>(hello.lane));
  put_course_tail(w, hello.course);
  w.raw(hello.contribution);
  return out;
}

Result<Hello> decode_hello(ByteSpan packet) {
  Reader r(packet);
  Hello hello;
  bool tagged = r.u8() == kHelloTag;
  hello.version = r.u16();
  if (!tagged || r.failed()) return fail("session: the first packet is not a HELLO");
  if (hello.version != kProtocolVersion) return hello;
  r.array(hello.installation);
  hello.party = r.u8();
  hello.lanes = r.u16();
  hello.security = printable(r.text(kMaxSecurityBytes));
  std::uint8_t representation = r.u8();
  std::uint8_t zero_shares = r.u8();
  std::uint8_t two_parts = r.u8();
  hello.wire_format = r.u64();
  const std::size_t protocols = r.u8();
  bool good_names = true;
  for (std::size_t k = 0; k < std::min(protocols, kMaxProtocols); ++k) {
    OfferedProtocol& one = hello.protocols.emplace_back();
    one.name = r.text(kMaxProtocolBytes);
    one.wire_format = r.u64();
    good_names = good_names && is_protocol_name(one.name) && !names_twice(hello.protocols);
  }
  hello.masked_blocks = r.u32();
  hello.cohort_limit = r.u32();
  r.array(hello.inventory);
  hello.epoch_era = r.u32();
  hello.epoch = r.u32();
  hello.epoch_used = r.u32();
  r.array(hello.nonce);
  r.array(hello.round);
  r.array(hello.note);
  r.array(hello.held);
  hello.lane = r.u16();
  const bool whole_course = get_course_tail(r, hello.course);
  ByteSpan contribution = r.raw(kContributionBytes);
  hello.contribution.assign(contribution.begin(), contribution.end());
  if (!r.complete() || !whole_course || protocols > kMaxProtocols || !good_names ||
      representation > static_cast<std::uint8_t>(Representation::kBytes) ||
      zero_shares > static_cast<std::uint8_t>(ZeroOffer::kChaCha20Only) || two_parts > 1 ||
      hello.lanes < 1 || hello.lanes > kMaxLanes || hello.lane >= 3 * hello.lanes ||
      hello.epoch > kMaxEpoch || hello.epoch_used > hello.epoch)
    return fail("session: malformed HELLO of protocol version " + std::to_string(hello.version));
  hello.representation = static_cast<Representation>(representation);
  hello.zero_shares = static_cast<ZeroOffer>(zero_shares);
  hello.two_parts = two_parts == 1;
  return hello;
}

bool is_protocol_name(const std::string& name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !name.empty() && std::ranges::all_of(name, good);
}

std::vector<std::string> common_protocols(const std::vector<OfferedProtocol>& first,
                                          const std::vector<OfferedProtocol>& second,
                                          const std::vector<OfferedProtocol>& third) {
  std::vector<std::string> out;
  for (const OfferedProtocol& one : first)
    if (has(second, one) && has(third, one)) out.push_back(one.name);
  return out;
}

Result<void> check_hello(const Hello& mine, const Hello& theirs, int expected_party,
                         const SessionAdvice& advice) {
  int party = expected_party;
  if (theirs.version != mine.version)
    return differ("protocol version", std::to_string(theirs.version), std::to_string(mine.version),
                  party, advice.version);
  if (theirs.installation != mine.installation)
    return differ("installation", to_hex(theirs.installation), to_hex(mine.installation), party,
                  advice.installation);
  if (is_of_two(theirs) != is_of_two(mine))
    return differ("sessions of", is_of_two(theirs) ? "two servers" : "three servers",
                  is_of_two(mine) ? "of two" : "of three", party, advice.parties);
  if (theirs.party != expected_party)
    return differ("party number", std::to_string(theirs.party),
                  "expects " + std::to_string(expected_party), party, advice.party);
  if (theirs.security != mine.security)
    return differ("security mode", quoted(theirs.security), quoted(mine.security), party,
                  advice.security);
  if (mine.security == security_name(Security::kMalicious) &&
      theirs.representation != Representation::kBytes)  // in which all three compute then
    return differ("representation", "'planes'", "'bytes'", party, advice.representation);
  if (!can_agree(mine.zero_shares, theirs.zero_shares))
    return differ("zero-shares by", quoted(zero_offer_name(theirs.zero_shares)),
                  quoted(zero_offer_name(mine.zero_shares)), party, advice.zero_shares);
  if (theirs.lanes != mine.lanes)
    return differ("lane count", std::to_string(theirs.lanes), std::to_string(mine.lanes), party,
                  advice.lanes);
  if (theirs.cohort_limit != mine.cohort_limit)
    return differ("cohort limit", std::to_string(theirs.cohort_limit),
                  std::to_string(mine.cohort_limit), party, advice.cohort_limit);
  if (theirs.wire_format != mine.wire_format)
    return differ("wire format", std::to_string(theirs.wire_format),
                  std::to_string(mine.wire_format), party, advice.wire_format);
  if (common_protocols(mine.protocols, theirs.protocols, theirs.protocols).empty())
    return differ("protocols", names_of(theirs.protocols), names_of(mine.protocols), party,
                  "none of one name and one release is common" + followed_by(advice.protocols));
  if (theirs.masked_blocks != mine.masked_blocks)
    return differ("masked_blocks", std::to_string(theirs.masked_blocks),
                  std::to_string(mine.masked_blocks), party, advice.masked_blocks);
  // What an entry may do can depend on the era that it was made in. Two parties of different eras
  // would disagree about which may, and one of them would count epochs that are used up.
  if (theirs.epoch_era != mine.epoch_era)
    return differ("nonce era", std::to_string(theirs.epoch_era), std::to_string(mine.epoch_era),
                  party, advice.era);
  return {};
}

Bytes public_part(const Hello& hello) {
  Bytes out;
  Writer w(out);
  put_public(w, hello);
  return out;
}

}  // namespace tkdc
