// SPDX-License-Identifier: Apache-2.0
// An order as the other server hears it, for tests of what is none.
#pragma once

#include <gtest/gtest.h>

#include "ot/two_parties.h"
#include "service/pair/pair_talk.h"

namespace tkdc {

// What one said is what the other hears, or an error.
inline Result<PairOrder> heard(const Bytes& octets) {
  ot::Ends ends("server 0", "server 1"), back("server 1", "server 0");
  ot::Channel from(*ends.stream.writer, *back.stream.reader, 1000),
      to(*back.stream.writer, *ends.stream.reader, 1000);
  EXPECT_TRUE(from.write(octets).ok());
  ends.stream.writer->finish();
  return hear_order(to);
}

}  // namespace tkdc
