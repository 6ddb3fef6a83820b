// SPDX-License-Identifier: Apache-2.0
#include "base/progress_line.h"

#include <gtest/gtest.h>

#include <sstream>
#include <thread>

namespace tkdc {
namespace {

TEST(ProgressLine, SaysHowFarAndHowLongYet) {
  EXPECT_EQ(how_far(0, 50, "keys", 9), "0 of 50 keys");
  EXPECT_EQ(how_far(3, 50, "keys", 0.1), "3 of 50 keys") << "too soon to say";
  EXPECT_EQ(how_far(400, 1'000, "keys", 10), "400 of 1000 keys, 40 a second, some 15 s left");
  EXPECT_EQ(how_far(40, 10'000, "keys", 16), "40 of 10000 keys, 2.5 a second, some 66 min left");
  EXPECT_EQ(how_far(60, 50, "keys", 10), "60 of 50 keys, 6.0 a second, some 0 s left")
      << "more than was counted before";
  EXPECT_EQ(how_far(900'000, 1'000'000, "keys", 10, 900'000), "900000 of 1000000 keys");
  EXPECT_EQ(how_far(900'400, 1'000'000, "keys", 10, 900'000),
            "900400 of 1000000 keys, 40 a second, some 42 min left")
      << "what was done before says nothing of the rate";
}

TEST(ProgressLine, LooksAtWorkThatOthersBegan) {
  std::ostringstream out;
  ProgressLine line(out, true);
  line.show(900'000, 1'000'000, "keys");
  EXPECT_EQ(out.str(), "\r\033[K900000 of 1000000 keys");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  out.str("");
  line.show(900'001, 1'000'000, "keys");
  EXPECT_TRUE(out.str().starts_with("\r\033[K900001 of 1000000 keys, 0.")) << out.str();
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  out.str("");
  line.show(5, 1'000'000, "keys");
  EXPECT_EQ(out.str(), "\r\033[K5 of 1000000 keys") << "other work has begun";
}

TEST(ProgressLine, IsWrittenOverOnATerminal) {
  std::ostringstream out;
  {
    ProgressLine line(out, true);
    line.show(1, 9, "keys");
    line.show(2, 9, "keys");
    EXPECT_EQ(out.str(), "\r\033[K1 of 9 keys") << "at once, and not again at once";
    line.say("one was left out");
    EXPECT_EQ(out.str(), "\r\033[K1 of 9 keys\r\033[Kone was left out\n");
  }
  EXPECT_TRUE(out.str().ends_with("left out\n")) << "nothing stands there to be cleared";
  {
    ProgressLine line(out, true);
    line.show(3, 9, "keys");
  }
  EXPECT_TRUE(out.str().ends_with("3 of 9 keys\r\033[K")) << "what follows begins a line";
}

TEST(ProgressLine, IsSeldomElsewhere) {
  std::ostringstream out;
  ProgressLine line(out, false);
  line.show(1, 9, "keys");
  line.clear();
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace tkdc
