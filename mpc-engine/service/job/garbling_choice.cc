// SPDX-License-Identifier: Apache-2.0
#include "service/job/garbling_choice.h"

namespace tkdc {

// Far apart or near, a garbled circuit that is ready answers sooner; but it takes more of the CPUs,
// and many jobs at once share replicated sharing's rounds. One that has to be made first answers
// sooner if servers are far apart.
Garbled GarblingChoice::now() const {
  constexpr std::size_t kMostBeside = 16;
  const GarblingOptions& options = shared_.options.garbling;
  switch (options.use) {
    case GarblingOptions::Use::kNever: return Garbled::kNo;
    case GarblingOptions::Use::kAlways: return Garbled::kMade;
    case GarblingOptions::Use::kFar:
    case GarblingOptions::Use::kAuto: break;
  }
  const bool far = one_way_ >= options.far;
  if (!far && options.use == GarblingOptions::Use::kFar) return Garbled::kNo;
  if (running_.size() > kMostBeside) return Garbled::kLearn;
  if (far) return Garbled::kMade;
  // What is not taken need not be made again, so then nothing is.
  return load_.part() > options.most_busy ? Garbled::kLearn : Garbled::kReady;
}

Garbled GarblingChoice::choose(const JobName& name) {
  const Garbled garbled = now();
  if (garbled < Garbled::kReady) return garbled;
  const auto asked = shared_.pending.asked(name);
  if (!asked) return Garbled::kNo;
  // What it cannot read is refused when it is admitted.
  const auto record = shared_.store.get(asked->key);
  if (!record || *record == nullptr) return Garbled::kNo;
  const auto supply =
      garbling_.supply(**record, asked->op, asked->usage, asked->input_bytes, garbled);
  if (!supply) return Garbled::kNo;
  std::optional<PrincipalDigest> key;
  if ((*record)->key_class != KeyClass::kKrbtgt) key = (*record)->ref.principal;
  switch (quotas_.ask(name, key, *supply)) {
    case InstanceQuotas::Answer::kGranted: return garbled;
    case InstanceQuotas::Answer::kKeyHad: ++shared_.counters.garbled_key_had; break;
    case InstanceQuotas::Answer::kAgentHad: shared_.agents_garbled.had_its_quota(name.agent); break;
    case InstanceQuotas::Answer::kFull: break;
  }
  return Garbled::kLearn;
}

}  // namespace tkdc
