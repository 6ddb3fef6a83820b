// SPDX-License-Identifier: Apache-2.0
#include "support/protocol_parties.h"

#include <cstdlib>

#include "service/server/protocol_list.h"
#include "support/three_parties.h"

namespace tkdc::test {
namespace {

class ThreeSides final : public Parties {
 public:
  ThreeSides(const ProtocolOffer& offer, std::uint64_t seed) : net_(seed) {
    for (int p = 0; p < 3; ++p) {
      Session session;
      session.party = p;
      session.representation = Representation::kBytes;
      session.protocols = {std::string(offer.name())};
      const PairwiseKeys keys = net_.keys_of(p);
      auto joined = offer.join(*net_.lane[p], {session, 0, keys});
      EXPECT_TRUE(joined.ok());
      if (joined.ok()) side_[static_cast<std::size_t>(p)] = std::move(*joined);
    }
  }
  int count() const override { return 3; }
  Protocol& at(int party) override { return *side_[static_cast<std::size_t>(party)]; }
  Shares share(ByteSpan value) override { return net_.share(value); }
  Bytes rebuild(const Shares& shares) const override {
    EXPECT_TRUE(ThreeLanes::consistent(shares));
    return ThreeLanes::rebuild(shares);
  }
  Result<void> run(const std::function<Task<void>(int)>& make) override { return net_.run(make); }

 private:
  ThreeLanes net_;
  std::array<std::unique_ptr<Protocol>, 3> side_;
};

}  // namespace

std::unique_ptr<Parties> make_parties(std::uint64_t seed) {
  const char* set = std::getenv("TKDC_TEST_PROTOCOL");
  const std::string name = set == nullptr ? "rep3" : set;
  ServerConfig config;
  config.backend = "scalar";
  for (const KnownProtocol& one : known_protocols())
    if (one.name == name) return std::make_unique<ThreeSides>(**one.make(config), seed);
  ADD_FAILURE() << "no protocol is called " << name;
  std::abort();
}

}  // namespace tkdc::test
