// SPDX-License-Identifier: Apache-2.0
#include "api/impl.h"

namespace tkdc::mpc {
namespace {

Task<void> keep(Task<SharedBytes> task, SharedBytes& out) { out = co_await task; }

}  // namespace

Party::Impl::Impl(std::shared_ptr<void> needed, Session made, const AesBackend& backend,
                  int receive_timeout_ms)
    : owners(std::move(needed)), session(std::move(made)),
      rep3(session.party, session.representation, session.lanes[0].keys, session.security),
      protocol(rep3, backend), ticker(rep3, *session.lanes[0].link),
      timeout_ms(receive_timeout_ms) {}

// Links first: what they are made of goes with `owners`.
Party::Impl::~Impl() { session.lanes.clear(); }

Error Party::Impl::close(const std::string& why) {
  closed = why;
  session.lanes[0].link->abort("this party has closed the computation");
  return fail(why);
}

Result<void> Party::Impl::run(const char* what, Task<void> task) {
  if (closed) return fail(*closed);
  const std::string step = "party " + std::to_string(rep3.party()) + ", " + what + ": ";
  rep3.spawn(std::move(task));
  while (rep3.advance()) {
    if (rep3.deviation()) break;
    auto ticked = ticker.tick(false, {}, timeout_ms);
    if (!ticked && !rep3.deviation()) return close(step + ticked.error().message);
    if (!ticked) break;
  }
  if (rep3.deviation())
    return close(step + *rep3.deviation() +
                 "; nothing was released. One of the parties computes "
                 "wrongly, and nobody can tell which: look at all three before you start again");
  if (rep3.tasks() != 0) return close(step + "the protocol stopped half way");
  return {};
}

Result<SharedBytes> Party::Impl::result(const char* what, Task<SharedBytes> task) {
  SharedBytes out;
  if (auto ran = run(what, keep(std::move(task), out)); !ran) return ran.error();
  return out;
}

}  // namespace tkdc::mpc
