// SPDX-License-Identifier: Apache-2.0
#include "service/pair/pair_by_tables.h"

#include "lut/held_aes.h"
#include "pair/carried.h"
#include "pair/dealt_entry.h"

namespace tkdc {
namespace {

using lut::RoundKeys;
using pair::Held;
using Way = PairTables::Way;

class ByTables {
 public:
  ByTables(const PairAtWork& at_work, PairJob& of)
      : at_work_(at_work), of_(of), job_(*of.by_tables), record_(*of.job->found.record) {}

  Result<PairOutput> run() {
    auto kind = at_work_.circuits.get(job_.kind);
    if (!kind) return differs(kind.error());
    auto prepared = at_work_.reserve.take(*kind);
    if (!prepared) return prepared.error();
    auto entered = enter();
    if (!entered) return entered.error();
    auto keys = round_keys();
    if (!keys) return keys.error();
    auto inputs = inputs_of(**kind, **keys, entered->input);
    if (!inputs) return inputs.error();
    return compute_prepared(at_work_, **kind, *prepared, inputs->held(std::move(entered->pad)));
  }

 private:
  // What both have looked at before. A check that failed has ended the session already.
  Error differs(const Error& why) const {
    return at_work_.session.stands() ? at_work_.session.end(why.message, pair::EndedBy::kState)
                                     : why;
  }
  lut::PairDealer& dealer() const { return at_work_.tables.dealer(); }

  Result<pair::EnteredDeal> enter() {
    const auto draw = [&](std::span<pair::AuthBit> bits) { return dealer().draw(bits); };
    auto masks =
        pair::EntryMasks::draw(at_work_.session, 8 * (of_.input_bytes + of_.pad_bytes), draw);
    if (!masks) return differs(masks.error());
    auto entered = pair::enter_dealt(at_work_.session, std::move(*masks), std::move(of_.dealt),
                                     8 * of_.pad_bytes);
    if (!entered && entered.went() == pair::Went::kRefused) return differs(entered.error());
    if (!entered) return entered.error();
    return std::move(*entered);
  }

  Result<const RoundKeys*> round_keys() {
    const std::string& field = of_.whole.held.front().field;
    const KeyId& id = record_.ref.id;
    if (of_.has_round_keys) {
      const RoundKeys* kept = at_work_.records.round_keys(id, field);
      if (kept == nullptr) return differs(fail("a record's round keys are not there any more"));
      return kept;
    }
    auto key = at_work_.records.part(record_, field, 8 * job_.key_bytes);
    if (!key) return differs(key.error());
    auto made = RoundKeys::expand(dealer(), at_work_.tables.of(Way::kForward), *key);
    if (!made) return differs(made.error());
    keys_.emplace(std::move(*made));
    return &at_work_.records.keep_round_keys(id, field, *keys_);
  }

  // All but the pad. RFC 3962's MAC is of the message, RFC 8009's of the ciphertext.
  Result<pair::Inputs> inputs_of(const PairKind& kind, const RoundKeys& keys, const Held& input) {
    const bool seals = job_.way == Way::kForward;
    auto ki = at_work_.records.part(record_, of_.whole.held.back().field, kind.input_bits.front());
    if (!ki) return differs(ki.error());
    auto text = seals ? with_confounder(input) : pair::part_of(input, 0, 8 * job_.text_bytes);
    if (!text) return differs(text.error());
    auto out = lut::BitsOut::make(dealer(), job_.text_bytes);
    if (!out) return differs(out.error());
    const auto cipher = seals ? lut::seal_held : lut::open_held;
    auto made = cipher(dealer(), at_work_.tables.of(job_.way), *out, keys, *text);
    if (!made) return differs(made.error());
    pair::Inputs inputs;
    inputs.held(*ki);
    constexpr std::size_t kSealOfPlain = 3, kOpenOfCiphertext = 4;  // inputs
    if (seals) {
      if (kind.input_bits.size() == kSealOfPlain) inputs.held(*text);
      return std::move(inputs.held(*made));
    }
    auto mac = pair::part_of(input, 8 * job_.text_bytes, kind.input_bits.back());
    if (!mac) return differs(mac.error());
    inputs.held(*made);
    if (kind.input_bits.size() == kOpenOfCiphertext) inputs.held(*text);
    return std::move(inputs.held(*mac));
  }

  Result<Held> with_confounder(const Held& input) {
    Held out{at_work_.session.id(), pair::AuthBits(8 * of_.whole.confounder)};
    if (auto drawn = dealer().draw(std::span(out.bits)); !drawn) return drawn.error();
    out.bits.insert(out.bits.end(), input.bits.begin(), input.bits.end());
    return out;
  }

  const PairAtWork& at_work_;
  PairJob& of_;
  const PairTableJob& job_;
  const KeyRecord& record_;
  std::optional<RoundKeys> keys_;  // that were made here
};

}  // namespace

Result<PairOutput> compute_by_tables(const PairAtWork& at_work, PairJob& of) {
  return ByTables(at_work, of).run();
}

}  // namespace tkdc
