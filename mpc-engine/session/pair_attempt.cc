// SPDX-License-Identifier: Apache-2.0
#include "session/pair_attempt.h"

#include <algorithm>

#include "session/calling.h"
#include "session/entries.h"
#include "session/pair_talk.h"
#include "session/session_keys.h"

namespace tkdc {
namespace {

class PairAttempt {
 public:
  explicit PairAttempt(PairAttemptInputs inputs)
      : in_(std::move(inputs)), peer_(in_.options.peers[0]),
        deadline_ms_(monotonic_ms() + in_.options.establish_timeout_ms) {}

  Result<Session> run();

 private:
  using Streams = std::vector<std::unique_ptr<PacketStream>>;

  bool calls() const { return in_.acceptor == nullptr; }
  Result<void> check_breaker() const {
    if (in_.breaker->tripped()) return fail("session: " + in_.breaker->reason());
    return {};
  }
  Hello hello_for(int number) const;
  Result<void> check(const Hello& theirs, int number) const;
  Result<std::unique_ptr<PacketStream>> call(int number, const Waiting& waiting, Hello& theirs);
  Result<std::unique_ptr<PacketStream>> answer(Offer offer, int number, Hello& theirs);
  Result<void> meet();
  Result<Streams> open_streams(PairTalk& talk);
  Result<void> give_ends(Streams streams, Session& session) const;
  Result<void> count_session() const;
  Result<Session> agree(PairTalk& talk);
  Session agreed_session() const;

  PairAttemptInputs in_;
  const MeshPeer& peer_;
  long long deadline_ms_;
  Hello mine_, theirs_;
  std::unique_ptr<PacketStream> control_;
};

Hello PairAttempt::hello_for(int number) const {
  Hello hello = mine_;
  hello.lane = number;
  hello.contribution = random_contribution();  // TLS alone protects the streams
  return hello;
}

// The first HELLO says what must be the same at both; the others come from the same attempt.
Result<void> PairAttempt::check(const Hello& theirs, int number) const {
  if (auto same = check_hello(mine_, theirs, peer_.party, in_.options.advice); !same.ok())
    return same;
  const std::string who = "session: party " + std::to_string(peer_.party);
  if (theirs.lane != number)
    return fail(who + " takes connection " + std::to_string(number) + " for " +
                std::to_string(theirs.lane));
  const auto& round = in_.options.party == 0 ? mine_.nonce : theirs.nonce;
  if (theirs.round != round) return fail(who + " answers an earlier attempt");
  if (control_ && public_part(theirs) != public_part(theirs_))
    return fail(who + " says another HELLO on each connection");
  return {};
}

Result<std::unique_ptr<PacketStream>> PairAttempt::call(int number, const Waiting& waiting,
                                                        Hello& theirs) {
  auto stream = dial_peer(*in_.options.network, peer_, in_.options.advice.no_answer, waiting);
  if (!stream.ok()) return stream;
  auto done = finish_handshake(**stream, waiting);
  (*stream)->set_max_packet_bytes(PairTalk::kMaxPacketBytes);  // behind its HELLO it goes on
  if (done.ok()) done = (*stream)->send(encode_hello(hello_for(number)));
  if (done.ok()) done = await_packet(**stream, waiting);
  if (!done.ok()) return done.error();
  const ByteSpan packet = (*stream)->take();
  if (is_refusal(packet))
    return fail("session: " + (*stream)->peer() + " refuses: " + refusal_text(packet));
  auto hello = decode_hello(packet);
  if (!hello.ok()) return fail(hello.error().message + " from " + (*stream)->peer());
  if (auto same = check(*hello, number); !same.ok()) {
    (void)(*stream)->send(encode_refusal(same.error().message)).ok();
    return same.error();
  }
  theirs = std::move(*hello);
  return stream;
}

Result<std::unique_ptr<PacketStream>> PairAttempt::answer(Offer offer, int number, Hello& theirs) {
  auto done = check(offer.hello, number);
  if (!done.ok()) {
    (void)offer.stream->send(encode_refusal(done.error().message)).ok();
    return done.error();
  }
  mine_.round = offer.hello.round;
  offer.stream->set_max_packet_bytes(PairTalk::kMaxPacketBytes);
  done = offer.stream->send(encode_hello(hello_for(number)));
  if (!done.ok()) return done.error();
  theirs = std::move(offer.hello);
  return std::move(offer.stream);
}

// The connection on which both settle what they hold.
Result<void> PairAttempt::meet() {
  const Waiting waiting{deadline_ms_, [this] { return check_breaker(); }};
  if (calls()) {
    auto stream = call(0, waiting, theirs_);
    if (!stream.ok()) return stream.error();
    control_ = std::move(*stream);
    return {};
  }
  auto offers = in_.acceptor->take(in_.options.lanes, 1, std::nullopt, deadline_ms_, waiting.check);
  if (!offers.ok()) return offers.error();
  in_.chosen(offers->front().hello.nonce);
  auto stream = answer(std::move(offers->front()), 0, theirs_);
  if (!stream.ok()) return stream.error();
  control_ = std::move(*stream);
  // Whoever waited for this has all of his time for what comes now.
  deadline_ms_ = monotonic_ms() + in_.options.establish_timeout_ms;
  return {};
}

// Of each lane first the one that the caller writes.
Result<PairAttempt::Streams> PairAttempt::open_streams(PairTalk& talk) {
  const int lanes = in_.options.lanes;
  const auto number = [lanes](std::size_t k) { return lanes + static_cast<int>(k); };
  const std::size_t count = 2 * static_cast<std::size_t>(lanes);
  const Waiting waiting{deadline_ms_, [&talk] { return talk.look(); }};
  Streams streams;
  Hello theirs;
  if (calls()) {
    for (std::size_t k = 0; k < count; ++k) {
      auto stream = call(number(k), waiting, theirs);
      if (!stream.ok()) return stream.error();
      streams.push_back(std::move(*stream));
    }
    return streams;
  }
  for (std::size_t k = 0; k < count; ++k) {
    auto offers = in_.acceptor->take(lanes, 1, mine_.round, deadline_ms_, waiting.check);
    if (!offers.ok()) return offers.error();
    auto stream = answer(std::move(offers->front()), number(k), theirs);
    if (!stream.ok()) return stream.error();
    streams.push_back(std::move(*stream));
  }
  return streams;
}

Result<void> PairAttempt::give_ends(Streams streams, Session& session) const {
  Network& network = *in_.options.network;
  for (std::size_t lane = 0; lane < session.lanes.size(); ++lane) {
    auto& forth = streams[2 * lane + (calls() ? 0 : 1)];
    auto& back = streams[2 * lane + (calls() ? 1 : 0)];
    auto writer = network.bulk_writer(std::move(forth));
    if (!writer.ok()) return writer.error();
    auto reader = network.bulk_reader(std::move(back));
    if (!reader.ok()) return reader.error();
    LaneStreams& ends = session.lanes[lane].streams.emplace();
    ends.to_next = std::move(*writer);
    ends.from_next = std::move(*reader);
    ends.handshake = session.id[0];
  }
  return {};
}

// This party's own number, on its disk before the session is used: by it, and by a log of sessions,
// its owner sees a store that went back. At the end of all numbers it stays.
Result<void> PairAttempt::count_session() const {
  Epochs epochs = in_.entries.epochs();
  if (epochs.used == kMaxEpoch) return {};
  epochs.used += 1;
  epochs.reserved = std::max(epochs.reserved, epochs.used);
  return in_.entries.set_epochs(epochs);
}

Session PairAttempt::agreed_session() const {
  Session session;
  session.party = in_.options.party;
  const bool first = session.party == 0;
  session.id =
      pair_session_id({first ? mine_.nonce : theirs_.nonce, first ? theirs_.nonce : mine_.nonce});
  session.security = in_.options.security;
  session.representation = Representation::kBytes;
  const Epochs epochs = in_.entries.epochs();
  session.epoch = epochs.used;
  session.era = epochs.era;
  session.notes[static_cast<std::size_t>(session.party)] = mine_.note;
  session.notes[static_cast<std::size_t>(peer_.party)] = theirs_.note;
  session.protocols = {std::string(kPairProtocol)};
  session.streams = true;
  session.lanes.resize(static_cast<std::size_t>(in_.options.lanes));
  return session;
}

Result<Session> PairAttempt::agree(PairTalk& talk) {
  Result<void> done;
  if (in_.options.give_up) done = in_.options.give_up(std::nullopt);
  if (done.ok()) done = talk.agree(in_.entries, in_.options.advice);
  if (!done.ok()) return done.error();
  auto streams = open_streams(talk);
  if (!streams.ok()) return streams.error();
  done = count_session();
  if (!done.ok()) return done.error();
  Session session = agreed_session();
  done = give_ends(std::move(*streams), session);
  // Else one would be in a session whose streams the other one could not make.
  if (done.ok()) done = talk.ready();
  if (!done.ok()) return done.error();
  return session;
}

Result<Session> PairAttempt::run() {
  auto mine = begin_hello(in_.options, in_.entries);
  if (!mine.ok()) return mine.error();
  mine_ = std::move(*mine);
  if (calls()) mine_.round = mine_.nonce;
  if (auto met = meet(); !met.ok()) return met.error();
  PairTalk talk(*control_, *in_.breaker, deadline_ms_);
  auto session = agree(talk);
  if (!session.ok()) talk.refuse(session.error());
  return session;
}

}  // namespace

Result<Session> attempt_pair_session(PairAttemptInputs inputs) {
  return PairAttempt(std::move(inputs)).run();
}

}  // namespace tkdc
