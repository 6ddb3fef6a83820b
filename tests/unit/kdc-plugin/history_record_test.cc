// SPDX-License-Identifier: Apache-2.0
// The handles that a principal's history remembers, out of libkadm5's record.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>

#include "history_fixture.h"

extern "C" {
#include "history_record.h"
#include "trailer.h"
}

namespace {

using tkdc::test::kadm5_record;
using tkdc::test::Octets;

// As history_store() leaves key data.
Octets remembered(std::uint8_t first_of_id, std::uint32_t kvno = 1) {
  tkdc_wire_key id{};
  id.key_id[0] = first_of_id;
  id.kvno = kvno;
  id.enctype = 18;
  krb5_key_data kd{};
  kd.key_data_ver = 1;
  kd.key_data_length[0] = TKDC_WIRE_KEY_BYTES;
  kd.key_data_contents[0] = static_cast<krb5_octet*>(malloc(TKDC_WIRE_KEY_BYTES));
  tkdc_wire_put_key(kd.key_data_contents[0], &id);
  trailer t{};
  t.state = TRAILER_HISTORY;
  EXPECT_EQ(trailer_set(&kd, &t), 0);
  Octets out(kd.key_data_contents[0], kd.key_data_contents[0] + kd.key_data_length[0]);
  free(kd.key_data_contents[0]);
  return out;
}

struct Read {
  bool opened = false, bad = false;
  std::vector<int> ids;
  unsigned others = 0;
};

Read read(const Octets& record) {
  Read out;
  history_record r;
  tkdc_wire_key id;
  out.opened = history_record_open(&r, record.data(), record.size());
  while (history_record_next(&r, &id)) out.ids.push_back(id.key_id[0]);
  out.bad = r.at.bad;
  out.others = r.others;
  return out;
}

TEST(HistoryRecord, HandlesAreFoundAmongOtherKeys) {
  const Octets plain(63, 0xaa);  // as a stock KDC remembers one
  const Octets none = remembered(0);
  const Read found =
      read(kadm5_record("pol", {{remembered(7), plain}, {}, {none, remembered(9), remembered(7)}}));
  EXPECT_TRUE(found.opened);
  EXPECT_FALSE(found.bad);
  EXPECT_EQ(found.ids, (std::vector<int>{7, 9, 7}));
  EXPECT_EQ(found.others, 1u);
  EXPECT_TRUE(read(kadm5_record("", {})).ids.empty());
  EXPECT_TRUE(read({}).opened);
  EXPECT_FALSE(read({}).bad);
}

TEST(HistoryRecord, CutAnywhereItIsMalformedAndNothingIsReadPastItsEnd) {
  const Octets whole = kadm5_record("policy", {{remembered(1)}, {remembered(2), remembered(3)}});
  for (std::size_t n = 1; n < whole.size(); ++n) {
    const Octets cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_TRUE(read(cut).bad) << n;
  }
  Octets other = whole;
  other[0] ^= 1;
  EXPECT_FALSE(read(other).opened);
}

TEST(HistoryRecord, CountsAndLengthsAreNotBelieved) {
  const Octets whole = kadm5_record("policy", {{remembered(1)}, {remembered(2)}});
  for (std::size_t at = 0; at + 4 <= whole.size(); at += 4) {
    Octets changed = whole;
    std::memset(changed.data() + at, 0xff, 4);
    EXPECT_LE(read(changed).ids.size(), 2u) << at;
  }
}

}  // namespace
