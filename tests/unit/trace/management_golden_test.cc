// SPDX-License-Identifier: Apache-2.0
// Golden traces of key management (session/wire-format-later.txt, docs/adr/0023): what an agent
// asks to make and remove keys, and every octet that three servers say to each other for it, votes
// above all. By the plaintext protocol, which draws nothing that a seed does not give; in whole
// lanes whose packets have which sizes is in lane_golden_test.cc.
#include <filesystem>

#include "golden.h"
#include "protocol/plaintext.h"
#include "service/job/slow_store.h"
#include "service/lifecycle/management.h"
#include "support/principals.h"
#include "support/scratch.h"
#include "support/three_parties.h"

namespace tkdc {
namespace {

constexpr const char* kHost = "host/a.test@A.TEST";
constexpr std::uint64_t kNow = 1'700'000'000;

class ManagementGolden : public testing::TestWithParam<Security> {
 protected:
  ManagementGolden() {
    for (int p = 0; p < 3; ++p) {
      StoreOptions options;
      options.path = root_ + "/" + std::to_string(p);
      options.installation = kInstallation;
      options.party = p;
      options.map_bytes = std::size_t{64} << 20;
      store_[p] = std::make_unique<SlowStore>(Store::open(options, SecretBuffer(32)).value());
      protocol_[p] = std::make_unique<Plaintext>(*three_.lane[p], std::array<std::uint8_t, 32>{5});
    }
    three_.record = [&](int p, const SecretVector& to_prev, const SecretVector& to_next) {
      for (const SecretVector* packet : {&to_prev, &to_next})
        hashes_[static_cast<std::size_t>(p)].add(*packet);
    };
  }
  ~ManagementGolden() override { std::filesystem::remove_all(root_); }

  // Of which key; an imported one's components are the same each time.
  JobRequest request_of(tkdc_wire_op op, std::uint8_t key, const Bytes& said, int party) {
    JobRequest request;
    request.name = {7, 8, number_};
    request.op = op;
    request.key.installation = kInstallation;
    request.key.id = {key};
    request.key.kvno = 1;
    request.key.enctype = 17;
    if (op != TKDC_OP_STAGE) request.key.principal = digest_of(kHost);
    request.public_data = said;
    if (said == Bytes{TKDC_ORIGIN_IMPORTED})
      for (int c = 0; c < 2; ++c)
        request.component[c].assign(16, static_cast<std::uint8_t>(1 << (party + c) % 3));
    return request;
  }

  // At all three; what their stores say of it is up to `disk`.
  void ask(tkdc_wire_op op, std::uint8_t key, const Bytes& said = {},
           tkdc_status expected = TKDC_STATUS_OK) {
    ++number_;
    JobRequest request[3];
    JobOutcome outcome[3];
    std::shared_ptr<const KeyRecord> record[3];
    for (int p = 0; p < 3; ++p) {
      request[p] = request_of(op, key, said, p);
      hashes_[static_cast<std::size_t>(p)].add(encode(request[p]));
      ASSERT_EQ(check_management(staged_[p], *store_[p], AgentRole::kAdmin, request[p],
                                 [](const KeyRecord&) { return true; }),
                TKDC_STATUS_OK);
      record[p] = store_[p]->get(request[p].key.id).value();
      const auto number = static_cast<std::uint8_t>(number_);
      three_.lane[p]->course().note(Course::Kind::kSaid, {ByteSpan(&number, 1)});
    }
    auto run = [&](int p) -> Task<void> {
      SharedBytes input;
      for (int c = 0; c < 2; ++c) input.component[c] = request[p].component[c];
      ManagementContext context{*protocol_[p], *three_.lane[p], staged_[p],
                                *store_[p],    nullptr,         alarm_,
                                kNow,          record[p].get(), {true, given_back_}};
      outcome[p] = co_await run_management(context, request[p], std::move(input));
    };
    ASSERT_TRUE(three_.run(run).ok());
    for (const JobOutcome& one : outcome) EXPECT_EQ(one.status, expected) << one.message;
  }
  void import(std::uint8_t key) { ask(TKDC_OP_STAGE, key, {TKDC_ORIGIN_IMPORTED}); }
  void bind(std::uint8_t key, tkdc_status expected = TKDC_STATUS_OK) {
    ask(TKDC_OP_BIND, key, Bytes(kHost, kHost + std::string_view(kHost).size()), expected);
  }
  void expect_later(std::string name) {
    if (GetParam() == Security::kMalicious) name += "-malicious";
    test::Traces now;
    test::add_trace(now, name, "later", {hashes_[0].hex(), hashes_[1].hex(), hashes_[2].hex()});
    test::expect_golden("later", now);
  }

  const std::string root_ = test::make_scratch("management");
  test::ThreeLanes three_{1, GetParam()};
  std::unique_ptr<SlowStore> store_[3];
  std::unique_ptr<Plaintext> protocol_[3];
  StagedKeys staged_[3];
  ShareAlarm alarm_{[](const std::string&, const KeyRecord*) {}};
  std::function<void(const KeyId&)> given_back_ = [](const KeyId&) {};
  test::Hashes hashes_;
  std::uint64_t number_ = 0;
};

TEST_P(ManagementGolden, KeysAreMadeComparedAndRemoved) {
  import(1);
  bind(1);
  import(2);
  Bytes other(sizeof(KeyId));
  other[0] = 2;
  ask(TKDC_OP_EQUAL, 1, other);
  ask(TKDC_OP_DESTROY, 2);  // staged
  ask(TKDC_OP_STAGE, 3, {TKDC_ORIGIN_DRAWN});
  ask(TKDC_OP_EXPORT, 3);
  bind(3);
  ask(TKDC_OP_DESTROY, 1);
  ask(TKDC_OP_GIVE_BACK, 1);
  ask(TKDC_OP_DESTROY, 1);
  ask(TKDC_OP_PURGE, 1);
  EXPECT_EQ(store_[0]->count(), 1u);
  expect_later("management");
}

// One says no to the first step, and all undo it; one says no to the second.
TEST_P(ManagementGolden, VotesOfAStoreThatFails) {
  import(1);
  store_[1]->refuses_first = true;
  bind(1, TKDC_STATUS_INTERNAL);
  store_[1]->refuses_first = false;
  import(1);
  bind(1);
  store_[2]->refuses_first = true;
  ask(TKDC_OP_DESTROY, 1, {}, TKDC_STATUS_INTERNAL);
  store_[2]->refuses_first = false;
  store_[0]->refuses_rest = true;
  ask(TKDC_OP_DESTROY, 1, {}, TKDC_STATUS_INTERNAL);
  expect_later("management-fails");
}

INSTANTIATE_TEST_SUITE_P(Modes, ManagementGolden,
                         testing::Values(Security::kSemiHonest, Security::kMalicious));

}  // namespace
}  // namespace tkdc
