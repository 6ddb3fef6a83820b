// SPDX-License-Identifier: Apache-2.0
#include "lut/stock.h"

namespace tkdc::lut {

Result<void> Stock::fits(const pair::Session& session, std::size_t count) const {
  if (auto good = session.stands(); !good) return good;
  const std::string what = what_;
  if (!session.is(session_))
    return fail("lut: these " + what + " are of another session: make them anew");
  if (count > left())
    return fail("lut: " + std::to_string(count) + " wanted and only " + std::to_string(left()) +
                " " + what + " left: make more of them first");
  return {};
}

Result<std::size_t> Stock::take(const pair::Session& session, std::size_t count) {
  if (auto good = fits(session, count); !good) return good.error();
  return std::exchange(next_, next_ + count);
}

}  // namespace tkdc::lut
