// SPDX-License-Identifier: Apache-2.0
#include "session/settle.h"

#include <algorithm>
#include <span>

namespace tkdc {
namespace {

constexpr std::size_t kPageIds = 1024;
constexpr std::size_t kMaxUnsettled = 65'536;

// A record between the two steps of being made or removed.
struct Unsettled {
  EntryId id{};
  bool removal = false;
};
constexpr std::size_t kUnsettledBytes = sizeof(Unsettled::id) + sizeof(Unsettled::removal);

class Settling {
 public:
  Settling(StepExchange& others, Entries& entries, const SessionAdvice& advice)
      : others_(others), names_(others.names()), entries_(entries), advice_(advice) {}

  Result<void> run();

 private:
  using Page = std::span<const Unsettled>;
  Result<bool> settle_page(Page mine, bool last);
  Result<std::vector<Bytes>> answer(const std::vector<Bytes>& lists, bool* others_last);
  Result<Bytes> answer_one(const Bytes& list, const std::string& whose, bool* others_last);
  Result<void> apply(Page mine, const std::vector<Bytes>& answers);
  Result<void> apply_one(const Unsettled& mine, bool others_did);

  StepExchange& others_;
  const std::vector<std::string> names_;
  Entries& entries_;
  const SessionAdvice& advice_;
};

// One octet for each record of a page, whether it is done (committed, or buried) here.
Result<Bytes> Settling::answer_one(const Bytes& list, const std::string& whose, bool* others_last) {
  Reader r(list);
  const bool last = r.u8() != 0;
  const std::size_t ids = r.u16();
  if (r.failed() || ids > kPageIds || r.remaining() != ids * kUnsettledBytes)
    return fail("session: malformed list of unsettled entries from " + whose);
  if (!last) *others_last = false;
  Bytes out;
  for (std::size_t i = 0; i < ids; ++i) {
    EntryId id{};
    r.array(id);
    const bool removal = r.u8() != 0;
    auto done = removal ? entries_.buried(id) : entries_.committed(id);
    if (!done.ok()) return done.error();
    out.push_back(*done ? 1 : 0);
  }
  return out;
}

Result<std::vector<Bytes>> Settling::answer(const std::vector<Bytes>& lists, bool* others_last) {
  std::vector<Bytes> out;
  for (std::size_t k = 0; k < lists.size(); ++k) {
    auto one = answer_one(lists[k], names_[k], others_last);
    if (!one.ok()) return one.error();
    out.push_back(std::move(*one));
  }
  return out;
}

Result<void> Settling::apply_one(const Unsettled& mine, bool others_did) {
  if (mine.removal) return others_did ? entries_.destroy(mine.id) : entries_.pardon(mine.id);
  return others_did ? entries_.commit(mine.id) : entries_.abandon(mine.id);
}

Result<void> Settling::apply(Page mine, const std::vector<Bytes>& answers) {
  for (std::size_t k = 0; k < answers.size(); ++k)
    if (answers[k].size() != mine.size())
      return fail("session: malformed answer about unsettled entries from " + names_[k]);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const bool others_did =
        std::ranges::any_of(answers, [i](const Bytes& one) { return one[i] == 1; });
    if (auto done = apply_one(mine[i], others_did); !done.ok()) return done;
  }
  return {};
}

// True when all have sent their last page.
Result<bool> Settling::settle_page(Page mine, bool last) {
  Bytes list;
  Writer w(list);
  w.u8(last ? 1 : 0);
  w.u16(static_cast<std::uint16_t>(mine.size()));
  for (const Unsettled& u : mine) {
    w.raw(u.id);
    w.u8(u.removal ? 1 : 0);
  }
  auto lists = others_.exchange(Step::kPrepared, std::vector<Bytes>(names_.size(), list));
  if (!lists.ok()) return lists.error();
  bool all_last = last;
  auto bodies = answer(*lists, &all_last);
  if (!bodies.ok()) return bodies.error();
  auto answers = others_.exchange(Step::kCommitted, *bodies);
  if (!answers.ok()) return answers.error();
  auto applied = apply(mine, *answers);
  if (!applied.ok()) return applied.error();
  // All see all lists, so they stop at the same page; who is through
  // earlier goes on with empty pages.
  return all_last;
}

Result<void> Settling::run() {
  std::vector<Unsettled> unsettled;
  auto prepared = entries_.prepared();
  if (!prepared.ok()) return prepared.error();
  auto condemned = entries_.condemned();
  if (!condemned.ok()) return condemned.error();
  for (const EntryId& id : *prepared) unsettled.push_back({id, false});
  for (const EntryId& id : *condemned) unsettled.push_back({id, true});
  if (unsettled.size() > kMaxUnsettled)
    return fail("session: " + std::to_string(unsettled.size()) +
                " entries are half made or half removed" + followed_by(advice_.unsettled));
  std::size_t at = 0;
  for (std::size_t page = 0; page <= kMaxUnsettled / kPageIds; ++page) {
    std::size_t n = std::min(kPageIds, unsettled.size() - at);
    bool last = at + n == unsettled.size();
    auto all_last = settle_page({unsettled.data() + at, n}, last);
    if (!all_last.ok()) return all_last.error();
    at += n;
    if (*all_last) return {};
  }
  return fail("session: a neighbour's list of unsettled entries does not end");
}

}  // namespace

Result<void> settle_entries(StepExchange& others, Entries& entries, const SessionAdvice& advice) {
  return Settling(others, entries, advice).run();
}

}  // namespace tkdc
