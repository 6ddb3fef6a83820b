// SPDX-License-Identifier: Apache-2.0
#include "threegarble/admit.h"

#include "base/now_public.h"

namespace tkdc::threegarble {
namespace {

int differ(ByteSpan theirs, const SecretVector& mine) {
  return theirs.size() == mine.size() ? sodium_memcmp(theirs.data(), mine.data(), mine.size()) : 1;
}

}  // namespace

// P_i holds x_i with its previous neighbour and x_{i+1} with its next one.
Statements::Statements(std::uint32_t lane, const JobTag& tag, SharedBytes input)
    : tag_(tag), input_(std::move(input)),
      to_prev_(component_statement(lane, tag, input_.component[0])),
      to_next_(component_statement(lane, tag, input_.component[1])) {}

std::uint8_t Statements::hear(ByteSpan from_prev, ByteSpan from_next) {
  int wrong = differ(from_prev, to_prev_) | differ(from_next, to_next_);
  now_public(&wrong, sizeof wrong);
  verdict_ = wrong == 0 ? kAdmit : kRefuse;
  return verdict_;
}

std::optional<Admitted> Statements::settle(std::uint8_t of_prev, std::uint8_t of_next) && {
  const bool all = verdict_ == kAdmit && of_prev == kAdmit && of_next == kAdmit;
  verdict_ = kRefuse;
  if (!all) return std::nullopt;
  return Admitted(tag_, std::move(input_));
}

Task<std::optional<Admitted>> admit(Lane& lane, std::uint32_t number, JobTag tag,
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
