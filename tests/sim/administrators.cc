// SPDX-License-Identifier: Apache-2.0
#include "sim/administrators.h"

#include <algorithm>

#include "base/hex.h"
#include "sim/asking.h"
#include "sim/dropped.h"

namespace tkdc::sim {
namespace {

using State = Key::State;

constexpr std::size_t kMostKeys = 40;
constexpr int kDrawn = -1;
constexpr const char* kKrbtgt = "krbtgt/R@R";
constexpr const char* kUsers[] = {"alice@R", "bob@R", "carol@R"};

// Where circuits are laid out, with the shorter ones; of three that garble, all of one enctype.
int any_known() {
  const Plan& plan = world().plan;
  const auto& known = known_keys(plan.keys);
  for (;;) {
    const std::size_t one = world().random.below(known.size());
    const std::uint32_t enctype = known[one].enctype;
    const bool serves = plan.garbles() ? enctype == kAes256 : enctype <= kAes256;
    if (!plan.has_few_circuits() || serves) return static_cast<int>(one);
  }
}

Bytes bytes_of(const KeyId& id) { return {id.begin(), id.end()}; }

// In the servers' memory, until it is bound, removed, or their session ends.
std::unique_ptr<Key> stage(int known) {
  auto key = std::make_unique<Key>();
  key->known = known;
  key->ref.installation = kInstallation;
  key->ref.kvno = 1;
  key->ref.enctype = known == kDrawn ? kAes256 : known_of(*key).enctype;
  Bytes body;
  Writer w(body);
  w.u8(known == kDrawn ? TKDC_ORIGIN_DRAWN : TKDC_ORIGIN_IMPORTED);
  w.u32(key->ref.kvno);
  w.u32(key->ref.enctype);
  w.bytes(known == kDrawn ? ByteSpan() : ByteSpan(known_of(*key).value));
  const Answer staged = admin().ask(TKDC_OP_STAGE, body);
  if (!ok(staged)) return nullptr;
  key->ref.id = staged.key_id;
  return key;
}

Answer ask_to_bind(Key& key, const std::string& principal) {
  key.principal = principal;
  key.ref.principal = digest_of(principal);
  Bytes body;
  Writer w(body);
  put_key(w, key.ref);
  w.bytes({reinterpret_cast<const std::uint8_t*>(principal.data()), principal.size()});
  return admin().ask(TKDC_OP_BIND, body);
}

// What was refused never comes.
Key* bind(std::unique_ptr<Key> staged, const std::string& principal, bool user,
          std::uint32_t kvno = 1) {
  Key& key = *staged;
  key.is_user = user;
  key.ref.kvno = kvno;
  key.state = State::kUnsure;
  key.principal = principal;
  realm().model.keys.push_back(std::move(staged));
  const Answer answer = ask_to_bind(key, principal);
  key.state = ok(answer) ? State::kBound : refused(answer) ? State::kGone : State::kUnsure;
  world().reached(ok(answer)        ? "bind: told of"
                  : refused(answer) ? "bind: refused"
                                    : "bind: nobody was told");
  if (key.state != State::kBound) return nullptr;
  return &key;
}

// One that must not be: it is looked for in the stores when all is over.
void expect_no_bind(std::unique_ptr<Key> staged, const std::string& principal, const char* what) {
  Key& key = *staged;
  key.state = State::kGone;
  key.principal = principal;
  realm().model.keys.push_back(std::move(staged));
  expect_refusal(ask_to_bind(key, principal), key, what);
}

// A drawn key leaves once, for a keytab, and never again; an imported one never. A krbtgt key that
// has left is none.
void try_exports(std::unique_ptr<Key>& staged) {
  const Bytes id = bytes_of(staged->ref.id);
  const Answer first = admin().ask(TKDC_OP_EXPORT, id);
  if (staged->known != kDrawn) return expect_refusal(first, *staged, "an imported key's export");
  if (!ok(first)) return;
  world().reached("export: once");
  expect_refusal(admin().ask(TKDC_OP_EXPORT, id), *staged, "a second export");
  if (world().random.percent(30))
    expect_no_bind(std::move(staged), "krbtgt/OTHER@R", "binding an exported krbtgt key");
}

Key* make_key(const std::string& principal, bool user, int known, std::uint32_t kvno = 1) {
  auto staged = stage(known);
  if (!staged) return nullptr;
  staged->principal = principal;
  if (principal != kKrbtgt && world().random.percent(20)) try_exports(staged);
  return staged ? bind(std::move(staged), principal, user, kvno) : nullptr;
}

void destroy_key(Key& key) {
  const State before = std::exchange(key.state, State::kUnsure);
  ++key.changes;
  Bytes body;
  Writer w(body);
  put_key(w, key.ref);
  const Answer answer = admin().ask(TKDC_OP_DESTROY, body);
  if (!ok(answer)) {
    if (!refused(answer)) world().reached("destroy: nobody was told");
    // One that nobody is sure of may not be there, or not be there yet.
    if (refused(answer) && before == State::kBound)
      world().broken("answers",
                     "the removal of " + named(key) + " was refused: " + answer.outcome.message);
    return;
  }
  key.state = State::kGone;
  // A staged one leaves none.
  key.buried = before == State::kBound;
  key.allowed = {};
  world().reached("destroy: told of");
}

// Removed before it was bound: no BIND keeps it.
void change_ones_mind() {
  auto staged = stage(any_known());
  if (!staged) return;
  Bytes body;
  Writer w(body);
  put_key(w, staged->ref);
  if (!ok(admin().ask(TKDC_OP_DESTROY, body))) return;
  world().reached("destroy: a staged key");
  expect_no_bind(std::move(staged), kUsers[0], "binding a removed key");
}

void use_a_dead_key() {
  Key* gone = realm().model.some(State::kGone, world().random.percent(50));
  if (gone == nullptr) return;
  const int changes = gone->changes;
  const Answer answer =
      kdc().ask(TKDC_OP_SEAL, use_body(*gone, usage::kTicket, some_plaintext(40, 50)));
  // It may have been given back meanwhile.
  if (gone->changes == changes) expect_refusal(answer, *gone, "sealing with a key that is gone");
}

// A value of the same enctype; the same one as often as not.
int known_like(const Key& key) {
  if (key.known != kDrawn && world().random.percent(50)) return key.known;
  for (;;)
    if (const int one = any_known();
        known_keys(world().plan.keys)[static_cast<std::size_t>(one)].enctype == key.ref.enctype)
      return one;
}

// Whether the new key is the old one: a history of passwords. None: no answer.
std::optional<bool> compare(const Key& old, const Key& fresh) {
  Bytes body;
  Writer w(body);
  put_key(w, old.ref);
  w.raw(fresh.ref.id);
  const Answer answer = admin().ask(TKDC_OP_EQUAL, body);
  // The new one may have been forgotten with its session.
  if (refused(answer) && answer.outcome.status != TKDC_STATUS_UNKNOWN_KEY &&
      old.principal != kKrbtgt && fresh.known != kDrawn)
    expect_no_refusal(answer, old, "a comparison");
  if (!ok(answer)) return std::nullopt;
  if (old.principal == kKrbtgt || fresh.known == kDrawn)
    expect_refusal(answer, old, "a comparison that gives a key away");
  const bool same = answer.outcome.output.size() == 1 && answer.outcome.output[0] == 1;
  if (same != (old.known == fresh.known))
    world().broken("answers", "a new key was called " + std::string(same ? "" : "un") +
                                  "equal to " + named(old));
  world().reached(same ? "equal: equal" : "equal: not equal");
  return same;
}

// A password is set: compared with the one before, bound as the next version. Once compared it is
// for that principal alone.
void set_password(Key& old) {
  const std::string principal = old.principal;
  const std::uint32_t kvno = old.ref.kvno + 1;
  auto fresh = stage(world().random.percent(10) ? kDrawn : known_like(old));
  if (!fresh) return;
  fresh->principal = principal;
  if (const auto same = compare(old, *fresh); same && world().random.percent(30))
    return expect_no_bind(std::move(fresh), "mallory@R", "binding a compared key to another");
  if (fresh->known == kDrawn) return;
  Key* now = bind(std::move(fresh), principal, old.is_user, kvno);
  if (now != nullptr && old.state == State::kBound && world().random.percent(50)) destroy_key(old);
}

// A new version of krbtgt seals; the old one opens what it sealed, until it is removed as others
// are.
void roll_krbtgt() {
  Model& model = realm().model;
  if (model.krbtgt == nullptr || world().random.percent(20)) {
    model.krbtgt = make_key(kKrbtgt, false, kDrawn, 1);
    return;
  }
  Key& old = *model.krbtgt;
  auto fresh = stage(any_known());
  if (fresh && world().random.percent(20)) (void)compare(old, *fresh);
  Key* now = make_key(kKrbtgt, false, kDrawn, old.ref.kvno + 1);
  if (now == nullptr) return;
  model.krbtgt = now;
  world().reached("krbtgt: rolled over");
}

void make_some_key(std::uint64_t what) {
  Random& random = world().random;
  const bool user = what < 4;
  // One draw after the other: compilers evaluate a call's arguments in orders of their own.
  const int known = !user && random.percent(50) ? kDrawn : any_known();
  const auto which = random.below(3);
  make_key(user ? kUsers[which] : "host/h" + std::to_string(which) + "@R", user, known);
}

void replace_some_key() {
  const auto what = world().random.below(10);
  if (what < 6) {
    if (Key* key = realm().model.some(State::kBound, world().random.percent(70)))
      if (!key->principal.starts_with("krbtgt/")) set_password(*key);
  } else if (what < 8) {
    roll_krbtgt();
  } else {
    change_ones_mind();
  }
}

void run_administrator() {
  while (!world().failed() && !world().quiet && !world().idle) {
    const Us pause = realm().model.keys.size() < 6 ? kSecond : 6 * kSecond;
    world().sleep(static_cast<Us>(world().random.below(static_cast<std::uint64_t>(pause))));
    manage();
  }
}

}  // namespace

void manage() {
  Model& model = realm().model;
  Random& random = world().random;
  if (model.krbtgt == nullptr) {
    model.krbtgt = make_key(kKrbtgt, false, kDrawn);
    return;
  }
  const bool room = model.keys.size() < kMostKeys;
  if (room && model.some(State::kBound, true) == nullptr) return make_some_key(0);
  if (keeps_dropped() && random.percent(25)) return change_a_dropped_key();
  const auto what = random.below(14);
  if (room && what < 7) return make_some_key(what);
  if (room && what >= 10) return replace_some_key();
  if (what == 7) {
    if (Key* key = model.some(State::kBound, random.percent(50))) destroy_key(*key);
  } else if (what == 8) {
    use_a_dead_key();
  } else if (Key* key = model.some(State::kUnsure, random.percent(50))) {
    destroy_key(*key);
  }
}

void start_administrators() { world().fibers.start(world().nature, run_administrator); }

}  // namespace tkdc::sim
