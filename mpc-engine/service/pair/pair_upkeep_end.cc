// SPDX-License-Identifier: Apache-2.0
// The end of a refresh, what both say of the numbers of moves, and keys that end sessions.
#include <algorithm>

#include "base/codec.h"
#include "base/hex.h"
#include "base/machine.h"
#include "service/pair/pair_upkeep.h"
#include "service/store/move_table.h"

namespace tkdc {
namespace {

using pair::EndedBy;

// So often a refresh that could end waits for the other server; and so many of these times for the
// leader's orders. A minute, and ten.
constexpr unsigned kMostWaits = 12, kMostUnled = 120;
constexpr const char* kHasEnded =
    "the keys have been refreshed: a new session begins, so that nothing of before is in memory";
// The two servers' clocks may differ by as much.
constexpr std::uint64_t kClocksApartS = 4096;
constexpr std::uint64_t kMovesSinceS = 1'767'225'600;  // 2026, Unix time

}  // namespace

// No number is larger: it would leave none for moves to come. One that this server has is followed,
// however far it is ahead of the other one's.
std::uint64_t PairUpkeep::most_moves() const {
  const std::uint64_t now = wall_s();
  return shared_.options.pair_moves_ahead + (now > kMovesSinceS ? now - kMovesSinceS : 0);
}

// 0: none, and nothing moves.
std::uint32_t PairUpkeep::next_move() {
  MoveTable* moves = shared_.store.moves();
  auto last = moves != nullptr ? moves->last_move() : fail("this store moves no keys");
  if (last && *last < std::min<std::uint64_t>(UINT32_MAX, most_moves())) return *last + 1;
  if (!std::exchange(told_no_number_, true))
    tell("none can be moved into another pool: " +
         (last ? "the other server has used up the numbers of moves, and there is one each second "
                 "again: it was changed, or the clock of this host is behind"
               : last.error().message));
  return 0;
}

// The larger one of what both say of their next.
Result<std::uint32_t> PairUpkeep::later_move(std::uint32_t own, std::uint32_t peers) {
  if (peers > own && peers > most_moves() + kClocksApartS)
    return at_work_.session.end("it says that its next move of keys is number " +
                                    std::to_string(peers) + ", and this server's is " +
                                    std::to_string(own) + ": more than can have been made",
                                EndedBy::kState);
  jump_.reset();
  if (peers > own && peers - own > 1) jump_ = {own, peers};
  return std::max(own, peers);
}

// Once a session, when it has been followed.
void PairUpkeep::tell_of_jump() {
  const auto jump = std::exchange(jump_, std::nullopt);
  if (!jump || std::exchange(told_of_jump_, true)) return;
  tell("this server has gone on from move number " + std::to_string(jump->own) + " to " +
       std::to_string(jump->peers) +
       ", as the other one said. That is so once after a store of before was put back here; else "
       "it was changed");
}

void PairAttempt::session_is_over() {
  const bool again =
      std::ranges::any_of(ids, [&](const KeyId& id) { return ended_at.contains(id); });
  ended = ids.empty() ? 0 : (again ? ended + 1 : 1);
  if (ids.empty()) {
    one_by_one.insert(left_out.begin(), left_out.end());
    left_out.clear();
  }
  if (!again) ended_at.clear();
  ended_at.insert(ids.begin(), ids.end());
  alone = ids.size() == 1 && last == ids ? *ids.begin() : std::optional<KeyId>();
  last = std::exchange(ids, {});
}

// From the order on that names them: whoever it ends the session at, the other one may hear no word
// more.
void PairUpkeep::begin_attempt(const Records& records) {
  at_work_.attempt.ids.clear();
  for (const RecordPtr& record : records) at_work_.attempt.ids.insert(record->ref.id);
}

void PairUpkeep::end_attempt(bool done) {
  PairAttempt& now = at_work_.attempt;
  if (!at_work_.session.stands()) return;
  for (const KeyId& id : now.ids)
    if (done) now.one_by_one.erase(id);
  now.ids.clear();
}

// What ends each session in which it is tried would stop all other keys, too.
void PairUpkeep::look_back() {
  PairAttempt& before = at_work_.attempt;
  if (before.ended < PairAttempt::kMostEnded) return;
  if (before.one_by_one.size() > PairAttempt::kMostOneByOne) before.one_by_one.clear();
  before.one_by_one.insert(before.last.begin(), before.last.end());
  if (before.alone) {
    before.one_by_one.erase(*before.alone);
    before.left_out.insert(*before.alone);
    tell(std::to_string(before.ended) + " sessions have ended while key " + to_hex(*before.alone) +
         " was prepared or moved, so others go on without it. Look at both servers' journals: the "
         "link broke, or one of both cannot use the key, and says so. If neither does, it is "
         "tried again when another session has ended");
  }
  if (before.ended >= PairAttempt::kMostInAll) go_without();
}

// Whatever it is tried with.
void PairUpkeep::go_without() {
  bridges_ = moves_ = refreshes_ = false;
  ends_refresh_ = refresh_.under_way();  // which tells the other one
  const std::string why =
      std::to_string(std::exchange(at_work_.attempt.ended, 0)) +
      " sessions have ended while keys were prepared or moved, so this one goes without: the "
      "link broke, or one of both servers could not go on. Look at both journals; then restart "
      "one server, and ask for a refresh again if one was under way";
  tell(why);
  refresh_.failed(why);
}

// Orders alone are no progress: keys that moved, pools that went and ends are. Of ends settle_end()
// has a count of its own.
void PairUpkeep::went_on() { went_on_at_ = SteadyClock::now(); }

void PairUpkeep::look_at_leader() {
  if (!is_refreshing() || told_of_leader_ ||
      SteadyClock::now() - went_on_at_ < kMostUnled * shared_.options.pair_refresh_again)
    return;
  told_of_leader_ = true;
  const std::string why =
      "the refresh does not go on: the other server, which leads, neither moves keys nor ends it. "
      "Its journal says why, or it was changed. Restart it, and ask again";
  tell(why);
  refresh_.failed(why);
}

Result<void> PairUpkeep::end_refresh() {
  ends_refresh_ = false;
  sweeps_again_ = SteadyClock::now() + shared_.options.pair_refresh_again;
  PairOrder order;
  order.kind = PairOrder::Kind::kEnd;
  const PairRefresh::Left own =
      refreshes_ ? refresh_.left(census_, next_move(), order.number) : PairRefresh::Left::kUnknown;
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
  went_on();
  if (refreshes_ && refresh_.under_way()) read_some();
  std::uint32_t number = 0;
  const PairRefresh::Left own =
      refreshes_ ? refresh_.left(census_, next_move(), number) : PairRefresh::Left::kUnknown;
  // The next word is of then. Where no key is left none will be: no key comes into an old pool.
  // What was read serves the pool's removal, too, for which a large store is not read anew each
  // time.
  if (own == PairRefresh::Left::kKeys || own == PairRefresh::Left::kUnknown) census_.forget();
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
  if (outcome == PairRefresh::Outcome::kGoesOn) {
    const auto now = SteadyClock::now();
    if (waits_ > 0 && now - waited_ < shared_.options.pair_refresh_again / 4) return {};
    waited_ = now;
    if (++waits_ < kMostWaits || !refreshes_) return {};
    outcome = PairRefresh::Outcome::kFailed;
  }
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
