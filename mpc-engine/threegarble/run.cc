// SPDX-License-Identifier: Apache-2.0
#include "threegarble/run.h"

#include <algorithm>

#include "base/now_public.h"

namespace tkdc::threegarble {
namespace {

constexpr const char* kDiffer =
    "the servers were told different things about which job an instance serves";
constexpr const char* kWrong = "a server garbles or evaluates wrongly";

// Of m3. Only A and B can say the last.
enum class Verdict : std::uint8_t { kBad = 0, kGood = 1, kCopiesDiffer = 2 };

// This party's side while it runs.
struct Side {
  Role role;
  Digest public_digest{};
  std::optional<Encoded> encoded;  // A's and B's
  Verdict verdict = Verdict::kGood;
  SharedBytes share;
};

Task<void> send_m1(Mailbox& mail, const Seat& seat, const Shape& shape, Instance instance,
                   const SharedBytes& input, Side& side, SecretVector& m2) {
  Letters out;
  if (side.role == Role::kEvaluator) {
    const std::size_t bytes = m1_bytes(shape);
    Letters m1 = co_await mail.tell(out, bytes, bytes);
    // A is E's next party, B its previous one.
    auto evaluated = evaluate(seat, shape, std::get<CheckedTables>(std::move(instance)),
                              side.public_digest, input, m1.next, m1.prev);
    m2.resize(m2_bytes(shape));
    side.verdict = evaluated ? Verdict::kGood : Verdict::kBad;
    if (!evaluated) co_return;
    m2 = std::move(evaluated->m2);
    side.share = std::move(evaluated->share);
    co_return;
  }
  side.encoded.emplace(encode(seat, shape, std::get<GarbledInstance>(std::move(instance)),
                              side.public_digest, input));
  SecretVector& to = side.role == Role::kGarblerA ? out.prev : out.next;
  to = std::move(side.encoded->m1);
  Letters nothing = co_await mail.tell(out, 0, 0);
}

// What A and B have of the result, but for A's y_{e+1}.
SharedBytes garblers_share(const Seat& seat, const Shape& shape, const Side& side) {
  const bool is_a = side.role == Role::kGarblerA;
  const GarbledInstance& instance = side.encoded->instance;
  SharedBytes share(shape.out_bytes());
  share.component[component_with(side.role, is_a ? Role::kGarblerB : Role::kGarblerA)] =
      garblers_component(shape, instance);
  if (!is_a)
    share.component[component_with(side.role, Role::kEvaluator)] =
        mask_of(seat, shape, instance.id);
  return share;
}

Task<void> send_m2(Mailbox& mail, const Seat& seat, const Shape& shape, Side& side,
                   SecretVector m2) {
  Letters out;
  if (side.role == Role::kEvaluator) {
    out.next = std::move(m2);
    Letters nothing = co_await mail.tell(out, 0, 0);
    co_return;
  }
  const bool is_a = side.role == Role::kGarblerA;
  (is_a ? out.next : out.prev) = side.encoded->component_digest;
  const std::size_t from_prev = is_a ? m2_bytes(shape) : kDigestBytes;
  const std::size_t from_next = is_a ? kDigestBytes : 0;
  Letters got = co_await mail.tell(out, from_prev, from_next);
  side.share = garblers_share(seat, shape, side);
  int differ = sodium_memcmp((is_a ? got.next : got.prev).data(),
                             side.encoded->component_digest.data(), kDigestBytes);
  now_public(&differ, sizeof differ);
  if (differ != 0) side.verdict = Verdict::kCopiesDiffer;
  if (!is_a || differ != 0) co_return;
  auto accepted = accept_m2(shape, *side.encoded, side.public_digest, got.prev);
  if (!accepted) {
    side.verdict = Verdict::kBad;
    co_return;
  }
  side.share.component[component_with(side.role, Role::kEvaluator)] = std::move(*accepted);
}

struct Heard {
  bool same_job = true;
  Verdict prev = Verdict::kBad, next = Verdict::kBad;
};

Task<Heard> send_m3(Lane& lane, const Side& side) {
  Bytes m3(side.public_digest.begin(), side.public_digest.end());
  m3.push_back(static_cast<std::uint8_t>(side.verdict));
  FromBoth got = co_await lane.exchange(m3);
  Heard heard;
  for (const Bytes* one : {&got.prev, &got.next})
    heard.same_job &= std::ranges::equal(ByteSpan(*one).first(kDigestBytes), side.public_digest);
  heard.prev = static_cast<Verdict>(got.prev[kDigestBytes]);
  heard.next = static_cast<Verdict>(got.next[kDigestBytes]);
  co_return heard;
}

// What the three verdicts say together; nothing: a server deviates. Copies that differ are an
// agent's doing where A and B both say so, and E could not read what they encoded.
std::optional<Ending> ending_of(const Side& side, const Heard& heard) {
  const Verdict all[] = {side.verdict, heard.next, heard.prev};  // mine, mine + 1, mine + 2
  const auto of = [&](Role role) {
    return all[(static_cast<int>(role) + 3 - static_cast<int>(side.role)) % 3];
  };
  const Verdict e = of(Role::kEvaluator), a = of(Role::kGarblerA), b = of(Role::kGarblerB);
  if (e == Verdict::kGood && a == Verdict::kGood && b == Verdict::kGood) return Ending::kDone;
  if (e == Verdict::kBad && a == Verdict::kCopiesDiffer && b == Verdict::kCopiesDiffer)
    return Ending::kCopiesDiffer;
  return std::nullopt;
}

}  // namespace

Task<Outcome> run(Runner runner, const Shape& shape, Instance instance, JobTag tag,
                  SharedBytes input) {
  Outcome outcome;
  const InstanceId id = id_of(instance);
  assert(id.circuit == shape.digest && input.size() == shape.in_bytes());
  if (!runner.ledger.burn(id)) co_return outcome;
  Lane& lane = runner.mail.lane();
  tag.course = lane.course().digest();
  Side side;
  side.role = runner.seat.role(id);
  side.public_digest = public_digest(id, tag);

  SecretVector m2;
  co_await send_m1(runner.mail, runner.seat, shape, std::move(instance), input, side, m2);
  co_await send_m2(runner.mail, runner.seat, shape, side, std::move(m2));
  // A garbler knows by itself that E's answer is no evaluation: it stands even if the tick fails.
  if (side.role == Role::kGarblerA && side.verdict == Verdict::kBad)
    lane.deviates_with_this_tick(kWrong);
  const Heard heard = co_await send_m3(lane, side);
  const std::optional<Ending> ending = ending_of(side, heard);
  if (!heard.same_job || !ending) {
    lane.set_deviation(heard.same_job ? kWrong : kDiffer);
    co_await std::suspend_always();
  }
  outcome.ending = *ending;
  if (*ending == Ending::kDone) outcome.share = std::move(side.share);
  co_return outcome;
}

}  // namespace tkdc::threegarble
