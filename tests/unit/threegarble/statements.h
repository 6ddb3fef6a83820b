// SPDX-License-Identifier: Apache-2.0
// A job's admission where no lane's owner has one: of each component its two holders compare a
// digest, in two ticks of their own, for one job at a time.
//
//   statements  each neighbour hears a digest of the component that it holds too
//   verdicts    each server says to both whether what it heard is what it holds; noted in the
//               lane's course, of which a handshake compares the last few decisions
//
// One refusal ends the job at all three, alone: nothing has left, and no instance is used.
#pragma once

#include <optional>

#include "base/codec.h"
#include "base/now_public.h"
#include "lane/lane.h"
#include "threegarble/admitted.h"

namespace tkdc::threegarble {

// Of a component, for its other holder, before an instance is taken.
inline SecretVector component_statement(std::uint32_t lane, const JobTag& tag, ByteSpan component) {
  Bytes input;
  Writer w(input);
  w.text("threegarble 1 request");
  w.u32(lane);
  w.u8(tag.mode);
  w.u64(tag.job);
  w.u32(tag.attempt);
  w.raw(tag.about);
  Digest request;
  crypto_generichash(request.data(), request.size(), input.data(), input.size(), nullptr, 0);
  SecretVector secret, out(kDigestBytes);
  SecretWriter s(secret);
  s.text("statement");
  s.bytes(component);
  crypto_generichash(out.data(), out.size(), secret.data(), secret.size(), request.data(),
                     request.size());
  return out;
}

class Statements {
 public:
  static constexpr std::uint8_t kRefuse = 0, kAdmit = 1;

  // P_i holds x_i with its previous neighbour and x_{i+1} with its next one.
  Statements(std::uint32_t lane, const JobTag& tag, SharedBytes input)
      : tag_(tag), input_(std::move(input)),
        to_prev_(component_statement(lane, tag, input_.component[0])),
        to_next_(component_statement(lane, tag, input_.component[1])) {}
  const SecretVector& to_prev() const { return to_prev_; }
  const SecretVector& to_next() const { return to_next_; }
  // This server's verdict, for both.
  std::uint8_t hear(ByteSpan from_prev, ByteSpan from_next) {
    int wrong = differ(from_prev, to_prev_) | differ(from_next, to_next_);
    now_public(&wrong, sizeof wrong);
    verdict_ = wrong == 0 ? kAdmit : kRefuse;
    return verdict_;
  }
  // With all three verdicts in. Nothing: refused; what was stated is used up either way.
  std::optional<Admitted> settle(std::uint8_t of_prev, std::uint8_t of_next) && {
    const bool all = verdict_ == kAdmit && of_prev == kAdmit && of_next == kAdmit;
    verdict_ = kRefuse;
    if (!all) return std::nullopt;
    return Admitted::by_owner(tag_, std::move(input_));
  }

 private:
  static int differ(ByteSpan theirs, const SecretVector& mine) {
    return theirs.size() == mine.size() ? sodium_memcmp(theirs.data(), mine.data(), mine.size())
                                        : 1;
  }
  JobTag tag_;
  SharedBytes input_;
  SecretVector to_prev_, to_next_;
  std::uint8_t verdict_ = kRefuse;
};

inline Task<std::optional<Admitted>> admit(Lane& lane, std::uint32_t number, JobTag tag,
                                           SharedBytes input) {
  Statements mine(number, tag, std::move(input));
  FromEach stated = co_await lane.hand(mine.to_prev(), mine.to_next());
  const std::uint8_t verdict = mine.hear(stated.prev, stated.next);
  const ByteSpan word(&verdict, 1);
  FromBoth said = co_await lane.exchange(word);
  ByteSpan by_party[3];
  const auto me = static_cast<std::size_t>(lane.party());
  by_party[me] = word;
  by_party[(me + 1) % 3] = said.next;
  by_party[(me + 2) % 3] = said.prev;
  lane.course().note(Course::Kind::kSaid, {by_party[0], by_party[1], by_party[2]});
  co_return std::move(mine).settle(said.prev[0], said.next[0]);
}

}  // namespace tkdc::threegarble
