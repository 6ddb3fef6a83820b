// SPDX-License-Identifier: Apache-2.0
#include "mac/dealing.h"

#include <algorithm>

namespace tkdc {
namespace {

// Out of line: g++ 12 loses temporaries that are made inside a coroutine.

std::size_t bytes_of(std::span<const MacSubject> subjects) {
  std::size_t bytes = 0;
  for (const MacSubject& one : subjects) bytes += one.bytes();
  return bytes;
}

// What the prover of that role has for this component.
void make_tags(MacKeys& keys, const MacRole& role, ByteSpan name, ByteSpan x, MutableByteSpan out) {
  keys.q(role, name, out);
  const ByteSpan delta = keys.delta(role);
  for (std::size_t k = 0; k < x.size(); k += kMacBlockBytes)
    gf128_multiply_add(&out[k], &x[k], delta.data());
}

// The prover's tags of the component that it and this party hold.
void append_tags(MacKeys& keys, const MacRole& role, const MacSubject& subject,
                 const Dealing& dealing, SecretVector& out) {
  const MacRole mine{role.dealer(), role.verifier};  // the same component, seen from here
  const SecretVector& x = subject.component[mine.place()];
  const std::size_t at = out.size();
  out.resize(at + x.size());
  make_tags(keys, role, mac_name(subject.name, dealing), x, MutableByteSpan(out).subspan(at));
}

SecretVector tags_for(MacKeys& keys, std::size_t side, std::span<const MacSubject> subjects,
                      const Dealing& dealing) {
  const int prover = mac_neighbour(keys.party(), side);
  const MacRole role{prover, 3 - prover - keys.party()};
  SecretVector out;
  out.reserve(keys.id().size() + bytes_of(subjects));
  out.assign(keys.id().begin(), keys.id().end());
  for (const MacSubject& one : subjects) append_tags(keys, role, one, dealing, out);
  return out;
}

// False: dealt under another key.
bool take_tags(const MacKeys& keys, std::size_t side, const SecretVector& dealt,
               std::span<MacSubject> subjects) {
  if (!std::equal(keys.id().begin(), keys.id().end(), dealt.begin())) return false;
  const int dealer = mac_neighbour(keys.party(), side);
  const MacRole role{keys.party(), 3 - dealer - keys.party()};
  std::size_t at = keys.id().size();
  for (MacSubject& one : subjects) {
    const auto first = dealt.begin() + static_cast<std::ptrdiff_t>(at);
    one.tag[role.place()].assign(first, first + static_cast<std::ptrdiff_t>(one.bytes()));
    at += one.bytes();
  }
  return true;
}

}  // namespace

Task<bool> deal_macs(Lane& lane, MacKeys& keys, Dealing dealing, std::span<MacSubject> subjects) {
  const SecretVector to_prev = tags_for(keys, 0, subjects, dealing);
  const SecretVector to_next = tags_for(keys, 1, subjects, dealing);
  const FromEach dealt = co_await lane.hand(to_prev, to_next);
  const bool prev = take_tags(keys, 0, dealt.prev, subjects);
  const bool next = take_tags(keys, 1, dealt.next, subjects);
  for (MacSubject& one : subjects) {
    one.dealing = dealing;
    one.key = keys.id();
  }
  co_return prev&& next;
}

bool are_tags_of(MacKeys& keys, const MacRole& role, ByteSpan name, ByteSpan component,
                 ByteSpan tags) {
  if (component.size() != tags.size() || component.size() % kMacBlockBytes != 0) return false;
  SecretVector expected(tags.size());
  make_tags(keys, role, name, component, expected);
  return sodium_memcmp(expected.data(), tags.data(), tags.size()) == 0;
}

}  // namespace tkdc
