// SPDX-License-Identifier: Apache-2.0
#include "api/impl.h"

namespace tkdc::mpc {

Party::Impl::Impl(std::shared_ptr<void> needed, Session made, const Rep3Backend& backend,
                  int receive_timeout_ms)
    : owners(std::move(needed)), session(std::move(made)), lane(session.party, session.security),
      rep3(lane, session.representation, session.lanes[0].keys), protocol(rep3, backend),
      ticker(lane, *session.lanes[0].link), timeout_ms(receive_timeout_ms) {}

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
  lane.spawn(std::move(task));
  auto ran = ticker.run(timeout_ms);
  if (lane.deviation())
    return close(step + *lane.deviation() +
                 "; nothing was released. One of the parties computes "
                 "wrongly, and nobody can tell which: look at all three before you start again");
  if (!ran) return close(step + ran.error().message);
  if (lane.tasks() != 0) return close(step + "the protocol stopped half way");
  return {};
}

Result<SharedBytes> Party::Impl::result(const char* what, Task<SharedBytes> task) {
  SharedBytes out;
  if (auto ran = run(what, store(std::move(task), out)); !ran) return ran.error();
  return out;
}

}  // namespace tkdc::mpc
