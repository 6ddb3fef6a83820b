// SPDX-License-Identifier: Apache-2.0
// The mark that key data carries in memory.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

extern "C" {
#include "trailer.h"
}

namespace {

class Trailer : public testing::Test {
 protected:
  Trailer() {
    kd.key_data_ver = 1;
    kd.key_data_length[0] = 190;
    kd.key_data_contents[0] = static_cast<krb5_octet*>(std::malloc(190));
    std::memset(kd.key_data_contents[0], 0x42, 190);
    std::memset(t.id, 0x99, sizeof t.id);
  }
  ~Trailer() override { std::free(kd.key_data_contents[0]); }
  krb5_key_data kd{};
  trailer t{TRAILER_BOUND, 0, 5, 18, {}};
};

TEST_F(Trailer, RoundTrip) {
  trailer back{};
  EXPECT_FALSE(trailer_get(&kd, &back));
  ASSERT_EQ(trailer_set(&kd, &t), 0);
  EXPECT_EQ(kd.key_data_length[0], 190 + TRAILER_BYTES);
  ASSERT_TRUE(trailer_get(&kd, &back));
  EXPECT_EQ(std::memcmp(&t, &back, sizeof t), 0);
}

TEST_F(Trailer, SetReplacesAndHideTakesOff) {
  trailer back{};
  ASSERT_EQ(trailer_set(&kd, &t), 0);
  t.state = TRAILER_FRESH;
  t.origin = 2;
  ASSERT_EQ(trailer_set(&kd, &t), 0);
  EXPECT_EQ(kd.key_data_length[0], 190 + TRAILER_BYTES);
  ASSERT_TRUE(trailer_get(&kd, &back));
  EXPECT_EQ(back.state, TRAILER_FRESH);
  trailer_hide(&kd);
  EXPECT_EQ(kd.key_data_length[0], 190);
  EXPECT_FALSE(trailer_get(&kd, &back));
  for (int i = 0; i < 190; i++) ASSERT_EQ(kd.key_data_contents[0][i], 0x42);
}

TEST_F(Trailer, UnknownStateIsNoTrailer) {
  trailer back{};
  t.state = 9;
  ASSERT_EQ(trailer_set(&kd, &t), 0);
  EXPECT_FALSE(trailer_get(&kd, &back));
}

}  // namespace
