// SPDX-License-Identifier: Apache-2.0
#include "pair/inputs.h"

#include <algorithm>
#include <string>

#include "base/now_public.h"
#include "pair/input_check.h"

namespace tkdc::pair {

Inputs& Inputs::add(Source source, std::size_t bits) {
  sources_.insert(sources_.end(), bits, source);
  return *this;
}
Inputs& Inputs::held(const Held& of) {
  held_.insert(held_.end(), of.bits.begin(), of.bits.end());
  sessions_.push_back(of.session);
  return add(Source::kHeld, of.bits.size());
}
Inputs& Inputs::dealt(std::size_t bits) { return add(Source::kDealt, bits); }
Inputs& Inputs::known(std::span<const std::uint8_t> bits) {
  known_.insert(known_.end(), bits.begin(), bits.end());
  return add(Source::kKnown, bits.size());
}
Inputs& Inputs::random(std::size_t bits) { return add(Source::kRandom, bits); }
Inputs& Inputs::own(std::span<const std::uint8_t> share) {
  own_.insert(own_.end(), share.begin(), share.end());
  return add(Source::kOwn, share.size());
}

class Entry {
 public:
  Entry(Session& session, const Prepared& prepared, Inputs& inputs)
      : session_(session), prepared_(prepared), inputs_(inputs) {}

  static Result<void> fits(const Session& session, const Prepared& prepared, const Inputs& inputs) {
    if (inputs.size() != prepared.inputs.size())
      return fail("pair: " + std::to_string(inputs.size()) +
                  " input bits for a circuit that takes " + std::to_string(prepared.inputs.size()));
    if (!is_unused(inputs.used_))
      return fail("pair: these inputs have served: a job that is tried again is dealt again");
    for (const Label& of : inputs.sessions_)
      if (!session.is(of)) return fail("pair: bits of another session");
    const auto wanted = static_cast<std::size_t>(
        std::count(inputs.sources_.begin(), inputs.sources_.end(), Source::kDealt));
    const std::size_t blocks = blocks_for(wanted);
    if (!inputs.dealt_
            ? wanted != 0
            : inputs.dealt_->share.size() != wanted || inputs.dealt_->tags.size() != blocks + 1)
      return fail("pair: what the client dealt is not as long as the circuit's input");
    if (!inputs.dealt_) return {};
    if (!session.is(inputs.dealt_->session))
      return fail("pair: a client dealt this for another session: it is dealt again for this one");
    const auto deal = session.state_of_deal(inputs.dealt_->client, inputs.dealt_->number);
    if (!is_unused(deal != ServedDeals::Is::kNew))
      return fail("pair: this deal has served: a job that is tried again is dealt again");
    return {};
  }

  Result<Entered> run() {
    if (auto good = fits(session_, prepared_, inputs_); !good) return good.error();
    inputs_.used_ = true;
    if (inputs_.dealt_) session_.deal_serves(inputs_.dealt_->client, inputs_.dealt_->number);
    mask();
    Bytes octets = packed(said_);
    auto done = session_.channel().write(octets);
    if (done && !told_.empty()) done = session_.tell(told_);
    if (done) done = session_.channel().read(octets);
    if (!done) return session_.end(done.error().message);
    const Bits heard = unpacked(octets, said_.size());
    Bits opened;
    if (!told_.empty()) {
      auto peers = session_.hear(told_);
      if (!peers) return peers.error();
      opened = std::move(*peers);
    }
    return entered(heard, opened);
  }

 private:
  using Source = Inputs::Source;

  void say(std::uint8_t own, const AuthBit& mask) {
    said_.push_back(static_cast<std::uint8_t>(own ^ mask.own()));
  }

  void mask() {
    std::size_t held = 0, known = 0, own = 0, dealt = 0;
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      const AuthBit& mask = prepared_.inputs[k];
      switch (inputs_.sources_[k]) {
        case Source::kHeld: told_.push_back(inputs_.held_[held++] ^ mask); break;
        case Source::kKnown:
          told_.push_back(session_.deltas().plus(mask, inputs_.known_[known++]));
          break;
        case Source::kOwn: say(inputs_.own_[own++], mask); break;
        case Source::kDealt: say(inputs_.dealt_->share[dealt++], mask); break;
        case Source::kRandom: break;
      }
    }
    if (inputs_.dealt_)
      for (std::size_t j = 0; j < kBlockBits; ++j)
        say(bit_of(inputs_.dealt_->mask, j), prepared_.proof_mask[j]);
    now_public(said_.data(), said_.size());
  }

  Entered entered(const Bits& heard, const Bits& opened) const {
    Entered out{Bits(inputs_.size()), {}};
    AuthBits dealt;
    std::size_t said = 0, told = 0;
    const auto next = [&](const AuthBit& mask) {  // the mask moved by what both have said
      const AuthBit moved = session_.deltas().moved(mask, said_[said], heard[said]);
      ++said;
      return moved;
    };
    for (std::size_t k = 0; k < inputs_.size(); ++k) switch (inputs_.sources_[k]) {
        case Source::kHeld:
        case Source::kKnown:
          out.values[k] = static_cast<std::uint8_t>(told_[told].own() ^ opened[told]);
          ++told;
          break;
        case Source::kDealt:
          out.values[k] = said_[said] ^ heard[said];
          dealt.push_back(next(prepared_.inputs[k]));
          break;
        case Source::kOwn:
          out.values[k] = said_[said] ^ heard[said];
          ++said;
          break;
        case Source::kRandom: break;
      }
    now_public(out.values.data(), out.values.size());
    if (!inputs_.dealt_) return out;
    Proved& proved = out.dealt.emplace();
    proved.in_session = blocks_of(dealt);
    AuthBits mask;
    for (const AuthBit& one : prepared_.proof_mask) mask.push_back(next(one));
    proved.in_session.push_back(block_of(mask));
    proved.other_macs = inputs_.dealt_->tags;
    const DealtKeys keys(inputs_.dealt_->peers_key, proved.in_session.size());
    proved.other_delta = keys.delta();
    proved.other_keys.assign(keys.q().begin(), keys.q().end());
    return out;
  }

  Session& session_;
  const Prepared& prepared_;
  Inputs& inputs_;
  Bits said_;
  AuthBits told_;
};

Result<void> inputs_fit(const Session& session, const Prepared& prepared, const Inputs& inputs) {
  return Entry::fits(session, prepared, inputs);
}

Result<Entered> exchange_inputs(Session& session, const Prepared& prepared, Inputs& inputs) {
  return Entry(session, prepared, inputs).run();
}

}  // namespace tkdc::pair
