// SPDX-License-Identifier: Apache-2.0
// Which shape of SHA-1 the derivations of keys take: those of many keys that are bound at
// once the fewest bits, those that an operation waits for the fewest rounds.
#include "service/operation/keys.h"

#include "service/admit/policy.h"
#include "support/parties_with_ciphers.h"

namespace tkdc {
namespace {

using test::PartiesWithCiphers;
using Shares = PartiesWithCiphers::Shares;

// An imported user's key: 3 HMAC keys with two pads each, 6 compressions.
constexpr std::size_t kBlocksOfUser = 6;

KeyRecord user_record() {
  KeyRecord record;
  record.ref.enctype = 18;
  record.ref.kvno = 1;
  record.principal_name = "alice@A.TEST";
  record.key_class = *classify_principal(record.principal_name);
  record.origin = TKDC_ORIGIN_IMPORTED;
  return record;
}

Task<void> bind(Rep3Protocol& c, SharedBytes key, SharedBytes& all_fields) {
  KeyRecord record = user_record();
  co_await derive_fields(c, record, std::move(key));
  co_await c.rep3.verified();
  for (const auto& [name, field] : record.fields) all_fields.append(field);
}

// As run_late() and FAST's operations do.
Task<void> derive_for_operation(Rep3Protocol& c, SharedBytes key, SharedBytes& all_fields) {
  KeyRecord record = user_record();
  Usages usages = usages_of(record.key_class);
  co_await derive_standard(c, record, std::move(key), std::move(usages));
  co_await c.rep3.verified();
  for (const auto& [name, field] : record.fields) all_fields.append(field);
}

using Derive = Task<void> (*)(Rep3Protocol&, SharedBytes, SharedBytes&);

// The octets of all fields of each key.
std::vector<Bytes> derive(PartiesWithCiphers& s, const Shares& key, std::size_t keys, Derive how) {
  std::vector<Shares> out(keys);
  s.run_all(keys, [&](Rep3Protocol& c, int p, std::size_t k) {
    const auto party = static_cast<std::size_t>(p);
    return how(c, key[party], out[k][party]);
  });
  std::vector<Bytes> values;
  for (const Shares& shares : out) values.push_back(test::ThreeParties::rebuild(shares));
  return values;
}

TEST(KeysThatAreBound, TakeTheFewestBitsWhereTheyAreMany) {
  PartiesWithCiphers s(1, rep3_backend_scalar(), Security::kMalicious);
  const Shares key = s.net.share(test::random_bytes(s.net.rng(), 32));
  const Sha1& sha1 = s.ciphers[0]->sha1;
  const std::size_t enough = Sha1::kRippleFromMalicious / kBlocksOfUser + 1;
  const Bytes one = derive(s, key, 1, bind).front();
  EXPECT_EQ(sha1.blocks(), kBlocksOfUser);
  derive(s, key, enough - 1, bind);
  EXPECT_EQ(sha1.ripple_blocks(), 0u);
  const std::vector<Bytes> many = derive(s, key, enough, bind);
  EXPECT_EQ(sha1.ripple_blocks(), enough * kBlocksOfUser);
  for (const Bytes& each : many) EXPECT_EQ(each, one);
}

TEST(KeysThatAreBound, AnOperationsDerivationsTakeTheFewestRounds) {
  PartiesWithCiphers s(2, rep3_backend_scalar(), Security::kMalicious);
  for (auto& ciphers : s.ciphers) ciphers->sha1.set_ripple_from(1);
  const Shares key = s.net.share(test::random_bytes(s.net.rng(), 32));
  derive(s, key, 3, derive_for_operation);
  EXPECT_EQ(s.ciphers[0]->sha1.blocks(), 3 * kBlocksOfUser);
  EXPECT_EQ(s.ciphers[0]->sha1.ripple_blocks(), 0u);
}

}  // namespace
}  // namespace tkdc
