// SPDX-License-Identifier: Apache-2.0
#include "threegarble/run.h"

#include "base/now_public.h"
#include "garble/wiped_memory.h"

namespace tkdc::threegarble {
namespace {

constexpr const char* kDiffer =
    "the servers were told different things about which job an instance serves";
constexpr const char* kWrong = "a server garbles or evaluates wrongly";
constexpr const char* kCopies =
    "a garbler's copy of an input is not the one that was compared at admission";
constexpr const char* kNotAlike =
    "the servers do not say the same of a garbled job: one of them was told of another job, or "
    "garbles or evaluates wrongly";

// Of m3.
constexpr std::uint8_t kBad = 0, kGood = 1;

// This party's side while it runs.
struct Running {
  Role role;
  Digest public_digest{};
  std::optional<Encoded> encoded;  // A's and B's
  const char* wrong = nullptr;     // what this party knows by itself
  SharedBytes share;
};

Task<void> send_m1(LaneSide& mine, const Shape& shape, Instance instance, const SharedBytes& input,
                   Running& job, SecretVector& m2) {
  Letters out;
  if (job.role == Role::kEvaluator) {
    const std::size_t bytes = m1_bytes(shape);
    Letters m1 = co_await mine.mail().tell(out, bytes, bytes);
    // A is E's next party, B its previous one.
    auto evaluated = evaluate(mine.seat(), shape, std::get<CheckedTables>(std::move(instance)),
                              job.public_digest, input, m1.next, m1.prev);
    m2.resize(m2_bytes(shape));
    if (!evaluated) {
      const bool same =
          is_of_job(m1.next, job.public_digest) && is_of_job(m1.prev, job.public_digest);
      job.wrong = same ? kWrong : kDiffer;
      co_return;
    }
    m2 = std::move(evaluated->m2);
    job.share = std::move(evaluated->share);
    co_return;
  }
  job.encoded.emplace(encode(mine.seat(), shape, std::get<GarbledInstance>(std::move(instance)),
                             job.public_digest, input));
  garble::wipe_stack();  // copies of Δ, of encode()'s own frame too
  SecretVector& to = job.role == Role::kGarblerA ? out.prev : out.next;
  to = std::move(job.encoded->m1);
  Letters nothing = co_await mine.mail().tell(out, 0, 0);
}

// What A and B have of the result, but for A's y_{e+1}.
SharedBytes garblers_share(const Seat& seat, const Shape& shape, const Running& job) {
  const bool is_a = job.role == Role::kGarblerA;
  const GarbledInstance& instance = job.encoded->instance;
  SharedBytes share(shape.out_bytes());
  share.component[component_with(job.role, is_a ? Role::kGarblerB : Role::kGarblerA)] =
      garblers_component(shape, instance);
  if (!is_a)
    share.component[component_with(job.role, Role::kEvaluator)] = mask_of(seat, shape, instance.id);
  return share;
}

Task<void> send_m2(LaneSide& mine, const Shape& shape, Running& job, SecretVector m2) {
  Letters out;
  if (job.role == Role::kEvaluator) {
    out.next = std::move(m2);
    Letters nothing = co_await mine.mail().tell(out, 0, 0);
    co_return;
  }
  const bool is_a = job.role == Role::kGarblerA;
  (is_a ? out.next : out.prev) = job.encoded->component_digest;
  const std::size_t from_prev = is_a ? m2_bytes(shape) : kDigestBytes;
  const std::size_t from_next = is_a ? kDigestBytes : 0;
  Letters got = co_await mine.mail().tell(out, from_prev, from_next);
  job.share = garblers_share(mine.seat(), shape, job);
  int differ = sodium_memcmp((is_a ? got.next : got.prev).data(),
                             job.encoded->component_digest.data(), kDigestBytes);
  now_public(&differ, sizeof differ);
  if (differ != 0) job.wrong = kCopies;
  if (!is_a || differ != 0) co_return;
  auto accepted = accept_m2(shape, *job.encoded, job.public_digest, got.prev);
  garble::wipe_stack();
  if (!accepted) {
    job.wrong = kWrong;
    co_return;
  }
  job.share.component[component_with(job.role, Role::kEvaluator)] = std::move(*accepted);
}

// Goes on only where all three say of one job that it is good.
Task<void> send_m3(Lane& lane, const Running& job) {
  Bytes expected(job.public_digest.begin(), job.public_digest.end());
  expected.push_back(kGood);
  Bytes mine = expected;
  if (job.wrong != nullptr) mine.back() = kBad;
  Lane::Expected from_both{expected, expected};
  FromBoth heard = co_await lane.exchange(std::move(mine), std::move(from_both),
                                          job.wrong != nullptr ? job.wrong : kNotAlike);
  if (job.wrong == nullptr) co_return;
  lane.set_deviation(job.wrong);
  co_await std::suspend_always();
}

// It is told in m3 first; and stands even if the ticks until then fail.
void note_wrong(LaneSide& mine, const InstanceId& id, const Running& job) {
  if (job.wrong == nullptr) return;
  mine.note(Step::kBad, id);
  mine.lane().deviates_with_this_tick(job.wrong);
}

}  // namespace

Task<Outcome> run(LaneSide& mine, const Shape& shape, Instance instance, Admitted admitted) {
  Outcome outcome;
  const InstanceId id = id_of(instance);
  assert(id.lane == mine.number() && id.circuit == shape.digest);
  assert(admitted.input().size() == shape.in_bytes());
  if (!mine.ledger().burn(id)) co_return outcome;
  mine.note(Step::kUsed, id);
  JobTag tag = admitted.tag();
  tag.course = mine.lane().course().digest();
  Running job;
  job.role = mine.seat().role(id);
  job.public_digest = public_digest(id, tag);

  SecretVector m2;
  co_await send_m1(mine, shape, std::move(instance), admitted.input(), job, m2);
  note_wrong(mine, id, job);
  co_await send_m2(mine, shape, job, std::move(m2));
  note_wrong(mine, id, job);
  co_await send_m3(mine.lane(), job);
  mine.note(Step::kGood, id);
  outcome.ending = Ending::kDone;
  outcome.share = std::move(job.share);
  co_return outcome;
}

}  // namespace tkdc::threegarble
