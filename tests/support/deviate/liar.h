// SPDX-License-Identifier: Apache-2.0
// What a changed server says in the place of what its program meant to say: a lie with a name, told
// once, after a file `armed` has appeared in a folder of the test's. Beside it the tap: every
// packet of a lane that the two honest servers sent it from then on.
//
//   armed     NAME [withhold | shorten | abort TICKS | break OCTETS | die OCTETS] [on LANE]; taken
//             away when it is read. `none` ends a lie; with a name that says nothing there is only
//             the tap. It is told in lane 0 if no other one is named
//   tap       a line for each event: `lie TICK`, `got prev|next TICK OCTETS OPENED`,
//             `beside prev|next TICK OCTETS OPENED` in another lane, `compares TICK`,
//             `withheld TICK`, `aborted TICK`, `answer` for each one changed, `closed` for each
//             connection, `end`. OPENED: how many octets of openings and exchanges, of the previous
//             neighbour's packets
//   received  the packets themselves, one after the other
//
// `withhold`: in the tick in which it is to compare, and after it, it says nothing more to anybody.
// `shorten`: the same, but for two packets of that tick that lack an octet.
// `abort`: so many ticks after the lie it closes its connections.
// `break`: it closes them, once, instead of opening or telling so many octets: 40 for what the
// claim lacks, 33 for whether the check held. It knows by then. Its program goes on with the
// session over others. `die`: its process ends there.
//
// Names that tell nothing false, and go on over other connections: `gone-manifest`,
// `gone-statements`, `gone-verdicts`, `gone-opening-K` (the K-th tick in which it opens something):
// it closes its connections when the tick's packet has gone to the previous neighbour and not to
// the next.
//
// Of two servers, whose streams have no ticks and no lanes:
//
//   stream-K [break | die]   in the K-th record of at least 40 octets that it writes from then on
//                            the last octet is another one. `break`: it closes the connection
//                            instead; `die`: its process ends there
//
// and the names of answers. The tap has `lie K` alone.
//
// The program around it is the installed one (lie.cc), and computes on as an honest server. Used
// by attacks alone, under lie.cc's mutex.
#pragma once

#include <optional>
#include <string>

#include "service/job/lane_packet.h"
#include "service/wire/message.h"
#include "session/hello.h"

namespace tkdc::test {

// One connection to a neighbour, as far as its HELLOs have shown.
struct Peer {
  bool heard_hello = false;
  bool said_hello = false;
  int lane = 0;
  Neighbour side = Neighbour::kNext;  // who is dialled hears our HELLO first
  SecretVector before;                // the lane's packet before, for replays
};

class Liar {
 public:
  explicit Liar(std::string folder) : folder_(std::move(folder)) {}
  Liar(const Liar&) = delete;

  enum class Fate {
    kSend,
    kHold,      // until the tick's packet to the next neighbour, or until the program reads
    kWithhold,  // it, and what is held
    kCut,
  };
  // Each may change the packet. `held`: the same tick's packet to the previous neighbour.
  Fate says(Peer& peer, SecretVector& packet, SecretVector* held);
  // False: the program is not to see it.
  bool hears(Peer& peer, SecretVector& packet);
  // Of two servers: a record that it is about to write. It is sent, or the connection is cut.
  Fate says_of_two(MutableByteSpan record);
  // What it answers an agent. True: it was changed. It lies in every answer until it is told not
  // to.
  bool answers(JobReply& reply);
  // In this session, in this one's lane.
  bool has_lied(const Peer& peer) const {
    return !lie_.empty() && lied_at_.has_value() && peer.lane == lane_;
  }
  // Nothing more is heard of a connection.
  void closed();

 private:
  void look_for_orders();
  void begin(const std::string& order);
  void end();
  void note(const std::string& line);
  void lied(std::uint32_t tick);

  void forget(Hello& hello);
  void say_hello(Peer& peer, SecretVector& packet);
  void hear_hello(Peer& peer, SecretVector& packet);
  bool lie_in_word(int party_of_peer, std::uint32_t tick, LaneControl& said);
  bool lie_in_statements(int party_of_peer, std::uint32_t tick, LanePacket& packet);
  bool is_to_go(const LanePacket& packet, const std::optional<LaneControl>& said);
  void lie_in_octets(Peer& peer, std::uint32_t tick, SecretVector& packet);
  void lie_in_openings(std::uint32_t tick, SecretVector& packet, SecretVector* held);
  void lie_in_votes(std::uint32_t tick, std::size_t opened, SecretVector& packet);
  void lie_in_masked(std::uint32_t tick, std::size_t opened, SecretVector& packet,
                     SecretVector* held);
  void tell_again(std::uint32_t tick, ByteSpan packet);
  void believe(std::uint32_t tick, SecretVector& packet);
  std::size_t least_verdicts() const;
  int party_at(Neighbour side) const { return (party_ + (side == Neighbour::kNext ? 1 : 2)) % 3; }
  bool is(const char* name) const { return lie_ == name; }
  bool holds() const;

  const std::string folder_;
  std::string lie_;  // empty: none
  bool withholds_ = false, shortens_ = false, dies_ = false;
  std::optional<std::size_t> stops_at_;        // octets that it does not open
  std::optional<std::uint32_t> aborts_after_;  // the lie, in ticks
  std::optional<std::uint32_t> lied_at_, compares_at_;
  bool silent_ = false, forgets_ = false, goes_on_ = false, told_of_held_ = false;
  int party_ = 0, lane_ = 0;
  int openings_ = 0, votes_ = 0;
  std::uint32_t records_ = 0;  // of two servers
  // Ticks one after the other in which it opened so many octets.
  std::size_t run_opened_ = 0, run_ticks_ = 0;
  std::uint32_t run_last_ = 0;
  std::optional<std::uint32_t> masked_at_;
  int layers_sent_ = 0, layers_changed_ = 0;
  int tap_ = -1, received_ = -1;
};

}  // namespace tkdc::test
