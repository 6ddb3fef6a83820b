// SPDX-License-Identifier: Apache-2.0
// What the owners of three parties offer beside protocols: a session has what all three offer
// alike.
#include <gtest/gtest.h>

#include "trio.h"

namespace tkdc {
namespace {

// It stands among the protocols, where a release that does not know it passes it over.
TEST(Features, AFeatureIsTheSessionsWhereAllThreeOfferItAlike) {
  for (int without : {-1, 0, 1, 2})
    for (std::uint64_t other : {0u, 9u}) {
      Trio trio(1);
      for (int p = 0; p < 3; ++p) {
        if (p != without || other != 0)
          trio.options(p).features.push_back({"one-feature", p == without ? other : 7});
        trio.options(p).features.push_back({"another", 1});
      }
      auto sessions = trio.establish();
      ASSERT_EQ(trio.errors(), "");
      for (const auto& session : sessions) {
        EXPECT_EQ(session->has("one-feature"), without == -1) << without;
        EXPECT_TRUE(session->has("another"));
        EXPECT_EQ(session->protocols.size(), 1u);
      }
    }
}

TEST(Features, ASessionIsForANewcomerWhereAllThreeOfferTheSame) {
  const NewcomerOffer offered{"filling", "one-feature", 1, 7};
  NewcomerOffer another = offered;
  another.order = 8;
  for (const auto& [third, feature] :
       {std::pair(std::optional(offered), true), std::pair(std::optional(offered), false),
        std::pair(std::optional(another), true), std::pair(std::optional<NewcomerOffer>(), true)}) {
    Trio trio(1);
    for (int p = 0; p < 3; ++p) {
      if (feature) trio.options(p).features = {{"one-feature", 7}};
      trio.options(p).newcomer = [=] { return p == 2 ? third : offered; };
    }
    auto sessions = trio.establish();
    ASSERT_EQ(trio.errors(), "");
    const bool agreed = feature && third && third->order == offered.order;
    for (const auto& session : sessions) {
      EXPECT_EQ(session->newcomer, agreed ? std::optional(1) : std::nullopt);
      EXPECT_EQ(session->protocols.size(), 1u);
    }
  }
}

}  // namespace
}  // namespace tkdc
