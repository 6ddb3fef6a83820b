// SPDX-License-Identifier: Apache-2.0
#include "session/attempt.h"

#include <algorithm>

#include "session/agreement.h"
#include "session/calling.h"
#include "session/session_keys.h"

namespace tkdc {
namespace {

class Attempt {
 public:
  explicit Attempt(AttemptInputs inputs)
      : in_(std::move(inputs)), deadline_ms_(monotonic_ms() + in_.options.establish_timeout_ms) {}

  Result<Session> run();

 private:
  // Party 0 calls party 1, which calls party 2 when it was called, which calls party 0: if each
  // called at any time, a new attempt of one would end the others', and they might never meet.
  bool begins() const { return in_.options.party == 0; }
  static Error refused(const PacketStream& by, ByteSpan packet) {
    return fail("session: " + by.peer() + " refuses: " + refusal_text(packet));
  }

  Result<void> say_hello();
  Waiting waiting() {
    return {deadline_ms_, [this] { return look_at_connections(); }};
  }
  struct Connection;
  using Connections = std::vector<Connection>;
  Result<void> dial_all(Connections& all);
  Result<void> take_offers(Connections& all);
  Result<void> look_at_connections();
  Result<void> hear_hellos(Connections& all);
  Result<void> meet(Connections& all);
  Result<void> open_streams(Session& session);
  Result<void> agree(Session& session);
  Session agreed_session() const;
  Result<void> build_lanes(Session& session);
  Result<void> derive_keys(const std::array<std::uint8_t, 32>& session, int lane,
                           PairwiseKeys& keys);
  std::array<std::uint8_t, 32> transcript() const;
  const Hello& hello_of(int party) const;
  Result<void> check_breaker() const {
    if (in_.breaker->tripped()) return fail("session: " + in_.breaker->reason());
    return {};
  }
  Hello hello_for(int lane, const SecretVector& contribution) const;
  Result<void> hear_course(const Hello& theirs) const;

  AttemptInputs in_;
  long long deadline_ms_;
  Hello mine_;  // lane and contribution differ by link
  std::optional<NewcomerOffer> newcomer_;
  // To both neighbours, for one purpose: a lane, or a bulk stream in either direction.
  struct Connection {
    explicit Connection(int n)
        : number(n), to_prev(random_contribution()), to_next(random_contribution()) {}
    int number;  // Hello::lane
    std::unique_ptr<PacketStream> prev, next;
    SecretVector to_prev, to_next;  // our contributions
    Hello from_prev, from_next;
  };
  Connections lanes_, streams_;
  std::vector<Link*> links_;  // the lanes', once they have any
};

Hello Attempt::hello_for(int lane, const SecretVector& contribution) const {
  Hello hello = mine_;
  hello.lane = lane;
  hello.contribution = contribution;
  if (in_.options.course && lane < in_.options.lanes) hello.course = in_.options.course(lane);
  return hello;
}

// Before any session: what this server and a peer were told in the one before (course_tail.h).
// It has been told ours by then, so it sees a difference too.
Result<void> Attempt::hear_course(const Hello& theirs) const {
  if (!in_.options.hear_course || theirs.lane >= in_.options.lanes) return {};
  return in_.options.hear_course(theirs.lane, theirs.party, theirs.course);
}

Result<void> Attempt::say_hello() {
  auto begun = begin_hello(in_.options, in_.entries);
  if (!begun.ok()) return begun.error();
  mine_ = std::move(*begun);
  mine_.two_parts = in_.options.two_parts;
  if (in_.options.newcomer) newcomer_ = in_.options.newcomer();
  // A newcomer needs no streams, and takes their place in the list.
  if (newcomer_)
    mine_.protocols.push_back({newcomer_->name, newcomer_->order});
  else if (in_.options.streamed)
    mine_.protocols.push_back(*in_.options.streamed);
  for (const OfferedProtocol& feature : in_.options.features) mine_.protocols.push_back(feature);
  mine_.masked_blocks = in_.options.masked_blocks;
  if (in_.options.held) mine_.held = in_.options.held();
  if (begins()) mine_.round = mine_.nonce;
  for (int lane = 0; lane < in_.options.lanes; ++lane) lanes_.emplace_back(lane);
  return {};
}

Result<void> Attempt::dial_all(Connections& all) {
  for (Connection& one : all) {
    auto stream = dial_peer(*in_.options.network, in_.next, in_.options.advice.no_answer,
                            {deadline_ms_, [this] { return check_breaker(); }});
    if (!stream.ok()) return stream.error();
    auto done = finish_handshake(**stream, waiting());
    if (!done.ok()) return done;
    SecretVector packet = encode_hello(hello_for(one.number, one.to_next));
    auto sent = (*stream)->send(packet);
    if (!sent.ok()) return sent;
    one.next = std::move(*stream);
  }
  return {};
}

// While one party waits for another, the third may have said no, or given up: perhaps for what its
// HELLO says of the session before, which this party has to compare too. And a connection of any
// lane may be lost: nobody goes on without it, so nobody has to wait for the end of his time.
Result<void> Attempt::look_at_connections() {
  if (auto open = check_breaker(); !open.ok()) return open;
  Result<void> lost;
  for (Connections* all : {&lanes_, &streams_})
    for (Connection& one : *all)
      for (PacketStream* stream : {one.prev.get(), one.next.get()}) {
        if (stream == nullptr) continue;
        if (auto filled = stream->fill(); !filled.ok() && lost.ok()) lost = filled;
      }
  for (Link* link : links_)
    if (auto there = link->look(); !there.ok() && lost.ok()) lost = there;
  if (lost.ok()) return lost;
  for (Connection& lane : lanes_) {
    while (lane.next && lane.next->has_packet()) {
      ByteSpan packet = lane.next->take();
      if (is_refusal(packet)) return refused(*lane.next, packet);
      auto hello = decode_hello(packet);
      if (!hello.ok() || !check_hello(mine_, *hello, in_.next.party, in_.options.advice).ok())
        continue;
      if (auto same = hear_course(*hello); !same.ok()) return same;
    }
  }
  return lost;
}

Result<void> Attempt::take_offers(Connections& all) {
  std::optional<Acceptor::Round> round;
  if (begins()) round = mine_.round;
  auto offers = in_.acceptor.take(in_.options.lanes, all.size(), round, deadline_ms_,
                                  [this] { return look_at_connections(); });
  if (!offers.ok()) return offers.error();
  in_.chosen(offers->front().hello.nonce);
  for (const Offer& offer : *offers) {
    auto same = check_hello(mine_, offer.hello, in_.prev.party, in_.options.advice);
    const auto k = static_cast<std::size_t>(&offer - offers->data());
    if (same.ok() && offer.hello.lane != all[k].number)
      same =
          fail("session: party " + std::to_string(in_.prev.party) + " calls for connection " +
               std::to_string(offer.hello.lane) + " and not for " + std::to_string(all[k].number));
    if (same.ok()) continue;
    for (Offer& each : *offers) (void)each.stream->send(encode_refusal(same.error().message)).ok();
    return same;
  }
  mine_.round = offers->front().hello.round;
  // Whoever waited for this has all of his time for what comes now.
  if (!begins()) deadline_ms_ = monotonic_ms() + in_.options.establish_timeout_ms;
  for (std::size_t k = 0; k < all.size(); ++k) {
    Connection& one = all[k];
    Offer& offer = (*offers)[k];
    auto sent = offer.stream->send(encode_hello(hello_for(one.number, one.to_prev)));
    if (!sent.ok()) return sent;
    one.prev = std::move(offer.stream);
    one.from_prev = std::move(offer.hello);
  }
  for (const Connection& one : all)
    if (auto same = hear_course(one.from_prev); !same.ok()) return same;
  return {};
}

Result<void> Attempt::hear_hellos(Connections& all) {
  for (Connection& one : all) {
    PacketStream& stream = *one.next;
    auto there = await_packet(stream, waiting(), "; it may be waiting for the third party");
    if (!there.ok()) return there;
    ByteSpan packet = stream.take();
    if (is_refusal(packet)) return refused(stream, packet);
    auto hello = decode_hello(packet);
    if (!hello.ok()) return fail(hello.error().message + " from " + stream.peer());
    auto same = check_hello(mine_, *hello, in_.next.party, in_.options.advice);
    if (!same.ok()) return same;
    if (hello->lane != one.number)
      return fail("session: " + stream.peer() + " answers lane " + std::to_string(one.number) +
                  " as lane " + std::to_string(hello->lane));
    one.from_next = std::move(*hello);
  }
  for (const Connection& one : all)
    if (auto same = hear_course(one.from_next); !same.ok()) return same;
  // One attempt of a peer has one nonce and one state.
  for (const Connection& one : all)
    if (public_part(one.from_prev) != public_part(lanes_[0].from_prev) ||
        public_part(one.from_next) != public_part(lanes_[0].from_next))
      return fail("session: a peer's HELLOs differ from lane to lane");
  for (int party = 0; party < 3; ++party)
    if (hello_of(party).round != hello_of(0).nonce)
      return fail("session: party " + std::to_string(party) + " answers an earlier attempt");
  return {};
}

const Hello& Attempt::hello_of(int party) const {
  if (party == in_.options.party) return mine_;
  return party == in_.prev.party ? lanes_[0].from_prev : lanes_[0].from_next;
}

std::array<std::uint8_t, 32> Attempt::transcript() const {
  std::array<std::uint8_t, 32> digest{};
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, digest.size());
  for (int party = 0; party < 3; ++party) {
    Bytes part = public_part(hello_of(party));
    crypto_generichash_update(&state, part.data(), part.size());
  }
  crypto_generichash_final(&state, digest.data(), digest.size());
  return digest;
}

Result<void> Attempt::derive_keys(const std::array<std::uint8_t, 32>& session, int lane,
                                  PairwiseKeys& keys) {
  const Connection& state = lanes_[static_cast<std::size_t>(lane)];
  KeyInputs inputs;
  inputs.installation = mine_.installation;
  inputs.session = session;
  inputs.lane = lane;
  inputs.component = in_.options.party;
  inputs.dialler = state.from_prev.contribution;
  inputs.acceptor = state.to_prev;
  auto derived = derive_pairwise_key(*state.prev, inputs, keys.mine);
  if (!derived.ok()) return derived;
  inputs.component = in_.next.party;
  inputs.dialler = state.to_next;
  inputs.acceptor = state.from_next.contribution;
  return derive_pairwise_key(*state.next, inputs, keys.next);
}

Result<void> Attempt::build_lanes(Session& session) {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    Connection& state = lanes_[lane];
    LaneLink out;
    if (!session.goes_on) {
      out.keys.zero_generator = session.zero_generator;
      auto derived = derive_keys(session.id, static_cast<int>(lane), out.keys);
      if (!derived.ok()) return derived;
    }
    // Now already: a neighbour may be through, and use the lane, before us.
    state.prev->set_max_packet_bytes(kMaxPacketBytes);
    state.next->set_max_packet_bytes(kMaxPacketBytes);
    auto link =
        in_.options.network->link(std::move(state.prev), std::move(state.next), in_.breaker);
    if (!link.ok()) return link.error();
    links_.push_back(link->get());
    out.link = std::move(*link);
    session.lanes.push_back(std::move(out));
  }
  return {};
}

// Whether the session goes on, for all three alike; else what a new one needs.
Result<void> Attempt::agree(Session& session) {
  AgreementInputs inputs;
  inputs.party = in_.options.party;
  inputs.session = session.id;
  inputs.transcript = transcript();
  inputs.log = in_.options.log;
  inputs.advice = in_.options.advice;
  inputs.newcomer = session.newcomer;
  for (int party = 0; party < 3; ++party)
    inputs.epochs[static_cast<std::size_t>(party)] = {hello_of(party).epoch,
                                                      hello_of(party).epoch_used};
  Link& link = *session.lanes[0].link;
  auto same = confirm_handshake(link, inputs, deadline_ms_);
  if (!same.ok() || session.goes_on) return same;
  // Before anything of the stores is settled: nobody can go on over what that changes.
  if (in_.options.give_up) same = in_.options.give_up(session.forgotten_by);
  if (!same.ok()) return same;
  auto epoch = agree_on_session(link, in_.entries, in_.ledger, inputs, deadline_ms_);
  if (!epoch.ok()) return epoch.error();
  session.epoch = *epoch;
  session.era = mine_.epoch_era;
  return {};
}

Result<void> Attempt::meet(Connections& all) {
  Result<void> done;
  if (begins()) done = dial_all(all);
  if (done.ok()) done = take_offers(all);
  if (done.ok() && !begins()) done = dial_all(all);
  if (done.ok()) done = hear_hellos(all);
  return done;
}

// Of the same parties, which have proved who they are, in the same attempt: so a HELLO of these
// connections is like those of the lanes.
Result<void> Attempt::open_streams(Session& session) {
  const int lanes = in_.options.lanes;
  for (int lane = 0; lane < lanes; ++lane)
    if (has_streams(lane, lanes))
      for (const bool caller_writes : {true, false})
        streams_.emplace_back(stream_number(lane, lanes, caller_writes));
  if (auto met = meet(streams_); !met.ok()) return met;
  Network& network = *in_.options.network;
  const std::uint8_t handshake =
      session_id({hello_of(0).nonce, hello_of(1).nonce, hello_of(2).nonce})[0];
  for (std::size_t k = 0; k < streams_.size(); k += 2) {
    const int lane = (streams_[k].number - lanes) / 2;
    auto to_next = network.bulk_writer(std::move(streams_[k].next));
    if (!to_next.ok()) return to_next.error();
    auto from_prev = network.bulk_reader(std::move(streams_[k].prev));
    if (!from_prev.ok()) return from_prev.error();
    auto from_next = network.bulk_reader(std::move(streams_[k + 1].next));
    if (!from_next.ok()) return from_next.error();
    auto to_prev = network.bulk_writer(std::move(streams_[k + 1].prev));
    if (!to_prev.ok()) return to_prev.error();
    session.lanes[static_cast<std::size_t>(lane)].streams =
        LaneStreams{std::move(*to_prev), std::move(*to_next), std::move(*from_prev),
                    std::move(*from_next), handshake};
  }
  return {};
}

// What the three HELLOs come to.
Session Attempt::agreed_session() const {
  Session session;
  session.party = in_.options.party;
  session.id = session_id({hello_of(0).nonce, hello_of(1).nonce, hello_of(2).nonce});
  if (mine_.held != SessionId{}) {
    const bool prev = hello_of(in_.prev.party).held == mine_.held;
    const bool next = hello_of(in_.next.party).held == mine_.held;
    session.goes_on = prev && next;
    // Where neither of them holds it, one may have made both forget it.
    if (prev != next) session.forgotten_by = prev ? in_.next.party : in_.prev.party;
    if (session.goes_on) session.id = mine_.held;
  }
  for (int party = 0; party < 3; ++party)
    session.notes[static_cast<std::size_t>(party)] = hello_of(party).note;
  bool bytes = true;
  session.two_parts = true;
  for (int party = 0; party < 3; ++party) {
    bytes = bytes && hello_of(party).representation == Representation::kBytes;
    session.two_parts = session.two_parts && hello_of(party).two_parts;
  }
  session.protocols =
      common_protocols(hello_of(0).protocols, hello_of(1).protocols, hello_of(2).protocols);
  if (in_.options.streamed && !newcomer_)
    session.streams = std::erase(session.protocols, in_.options.streamed->name) > 0;
  for (const OfferedProtocol& feature : in_.options.features)
    if (std::erase(session.protocols, feature.name) > 0) session.features.push_back(feature.name);
  // Without what it needs it is a session as any other, and the inventories differ.
  if (newcomer_ && std::erase(session.protocols, newcomer_->name) > 0 &&
      session.has(newcomer_->needs))
    session.newcomer = newcomer_->party;
  session.security = in_.options.security;
  session.representation = bytes ? Representation::kBytes : Representation::kPlanes;
  session.zero_generator =
      agreed_generator({hello_of(0).zero_shares, hello_of(1).zero_shares, hello_of(2).zero_shares});
  return session;
}

Result<Session> Attempt::run() {
  auto done = say_hello();
  if (done.ok()) done = meet(lanes_);
  if (!done.ok()) return done.error();

  Session session = agreed_session();
  if (session.protocols.empty())
    return fail(
        "session: each two of the three servers have a protocol in common, but not all "
        "three" +
        followed_by(in_.options.advice.protocols));
  done = build_lanes(session);
  if (done.ok()) done = agree(session);
  if (done.ok() && session.streams) done = open_streams(session);
  if (!done.ok()) return done.error();
  return session;
}

}  // namespace

Result<Session> attempt_session(AttemptInputs inputs) { return Attempt(std::move(inputs)).run(); }

}  // namespace tkdc
