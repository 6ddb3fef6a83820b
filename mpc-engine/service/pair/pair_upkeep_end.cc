// SPDX-License-Identifier: Apache-2.0
// The end of a refresh, what both say of the numbers of moves, and keys that end sessions.
#include <algorithm>

#include "base/codec.h"
#include "base/hex.h"
#include "service/pair/pair_upkeep.h"
#include "service/store/move_table.h"

namespace tkdc {
namespace {

using pair::EndedBy;

constexpr std::chrono::seconds kSweepsAgain{5};  // for what is staged of an old pool
constexpr const char* kHasEnded =
    "the keys have been refreshed: a new session begins, so that nothing of before is in memory";
// A number that is further ahead would soon leave none for any move.
constexpr std::uint32_t kMostMovesAhead = std::uint32_t{1} << 20;

}  // namespace

// The larger one of what both say of their next.
Result<std::uint32_t> PairUpkeep::later_move(std::uint32_t own, std::uint32_t peers) {
  if (peers > own && peers - own > kMostMovesAhead)
    return at_work_.session.end("it says that its next move of keys is number " +
                                    std::to_string(peers) + ", and this server's is " +
                                    std::to_string(own) + ": too far ahead of it",
                                EndedBy::kState);
  return std::max(own, peers);
}

void PairUpkeep::begin_attempt(const Records& records) {
  for (const RecordPtr& record : records) at_work_.attempt.ids.push_back(record->ref.id);
}

void PairUpkeep::end_attempt() {
  if (at_work_.session.stands()) at_work_.attempt.ids.clear();
}

// What ends each session in which it is tried stops all other keys, too.
void PairUpkeep::go_without() {
  bridges_ = moves_ = refreshes_ = false;
  ends_refresh_ = refresh_.under_way();  // which tells the other one
  std::string why = "keys could be neither prepared nor moved, and ended " +
                    std::to_string(at_work_.attempt.ended) +
                    " sessions, so this one goes without. Give these new keys, or destroy them:";
  for (const KeyId& id : at_work_.attempt.ids) why += " " + to_hex(id);
  at_work_.attempt.ended = 0;
  tell(why);
  refresh_.failed(why);
}

Result<void> PairUpkeep::end_refresh() {
  ends_refresh_ = false;
  sweeps_again_ = SteadyClock::now() + kSweepsAgain;
  PairOrder order;
  order.kind = PairOrder::Kind::kEnd;
  const PairRefresh::Left own =
      refreshes_ ? refresh_.left(next_move(), order.number) : PairRefresh::Left::kUnknown;
  order.left = static_cast<std::uint8_t>(own);
  ot::Channel& channel = at_work_.session.channel();
  Bytes in(5);
  auto done = say(channel, order);
  if (done) done = channel.read(in);
  if (!done) return lost(done.error());
  Reader reader(in);
  const std::uint32_t number = reader.u32();
  const std::uint8_t peers = reader.u8();
  if (peers > static_cast<std::uint8_t>(PairRefresh::Left::kUnknown))
    return at_work_.session.end("it says of a refresh what cannot be");
  return settle_end({order.number, number}, own, static_cast<PairRefresh::Left>(peers));
}

Result<void> PairUpkeep::answer_end(const PairOrder& order) {
  if (order.left > static_cast<std::uint8_t>(PairRefresh::Left::kUnknown))
    return at_work_.session.end("it says of a refresh what cannot be");
  std::uint32_t number = 0;
  const PairRefresh::Left own =
      refreshes_ ? refresh_.left(next_move(), number) : PairRefresh::Left::kUnknown;
  Bytes out;
  Writer writer(out);
  writer.u32(number);
  writer.u8(static_cast<std::uint8_t>(own));
  if (auto said = at_work_.session.channel().write(out); !said) return lost(said.error());
  return settle_end({number, order.number}, own, static_cast<PairRefresh::Left>(order.left));
}

Result<void> PairUpkeep::settle_end(Numbers numbers, PairRefresh::Left own,
                                    PairRefresh::Left peers) {
  PairRefresh::Outcome outcome = PairRefresh::concluded(own, peers);
  // Both see that alike: no other pool can be made, and this one stays.
  if (at_work_.pools.is_old(at_work_.blocks.pool().id)) outcome = PairRefresh::Outcome::kFailed;
  if (outcome == PairRefresh::Outcome::kGoesOn) return {};
  if (outcome == PairRefresh::Outcome::kFailed) {
    if (!refreshes_) return {};  // it is said already
    refreshes_ = false;
    const std::string why = refresh_.why_not(own, peers);
    tell(why);
    refresh_.failed(why);
    return {};
  }
  const auto number = later_move(numbers.own, numbers.peers);
  if (!number) return number.error();
  const std::uint64_t since = at_work_.pools.refreshing().value_or(0);
  auto ended =
      in_two_phases(*number, shared_.store.moves()->prepare_refreshed(*number, since), refreshes_);
  if (!ended) return ended.error();
  if (!*ended) return {};
  refresh_.ended();
  if (auto seen = at_work_.pools.look_at_refresh(); !seen)
    return at_work_.session.end(seen.error().message, EndedBy::kState);
  return fail(kHasEnded);
}

}  // namespace tkdc
