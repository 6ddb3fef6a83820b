// SPDX-License-Identifier: Apache-2.0
// Three services of which one has lost its store, and sessions for its repair.
#pragma once

#include "service/store/refresh_table.h"
#include "service/store/repair_table.h"
#include "shares_at_work.h"

namespace tkdc {

class SharesRepair : public Shares {
 protected:
  void start_with_keys(Security security = Security::kMalicious) {
    start(security);
    new_session(true);
    made_ = 0;
    secret_ = some_bytes(32);
    alice_ = e_->make_key("alice@A.TEST", 18, secret_);
    const std::vector<KeyRef> others = make_keys(3);
    EXPECT_EQ(e_->run({TKDC_OP_DESTROY, others[1], 0, {}, {}, AgentRole::kAdmin}).status(),
              TKDC_STATUS_OK);
    for (int p = 0; p < 3; ++p) {
      EXPECT_TRUE(e_->store(p).set_seal_mark(alice_.id, 5u + static_cast<unsigned>(p)).ok());
      before_[p] = e_->store(p).get(alice_.id).value();
    }
    inventory_ = e_->store((lost_ + 1) % 3).inventory().value();
  }
  // Its session begins with an empty store in that server's place.
  void begin_repair(const std::shared_ptr<MemoryRing>& ring = nullptr, bool lose = true) {
    stop();
    e_->all_end = true;
    e_->session_edit = [this](int, Session& session) {
      session.features = {kShareMacs};
      session.newcomer = lost_;
    };
    e_->ring_of_next_session(ring);
    e_->restart(++epoch_, [&](int p) {
      if (p != lost_ || !lose) return;
      e_->lose_store(p);
      tables_[p] = std::make_unique<AlteredTable>(*e_->disk(p).macs());
      e_->disk(p).macs_over = tables_[p].get();
    });
    for (std::uint64_t& one : finished_) one = 0;
  }
  // One that ends by itself waits for the others; one that is stopped does not.
  void stop() {
    e_->all_end = false;
    e_->close_links("the test goes on");
    e_->join();
    e_->stop_session();
    e_->ring_of_next_session(nullptr);
  }
  void TearDown() override {
    if (e_) stop();
  }
  // Why it ended, at all three.
  std::array<std::string, 3> try_repair() {
    begin_repair();
    ended();
    std::array<std::string, 3> out;
    for (int p = 0; p < 3; ++p)
      out[static_cast<std::size_t>(p)] = e_->service(p).status().shares.trouble;
    return out;
  }
  // As the next handshake settles it.
  void settle() {
    for (int p = 0; p < 3; ++p) {
      const std::vector<KeyId> prepared = e_->store(p).prepared().value();
      for (const KeyId& id : prepared) {
        const bool done = e_->store((p + 1) % 3).committed(id).value() ||
                          e_->store((p + 2) % 3).committed(id).value();
        ASSERT_TRUE((done ? e_->store(p).commit(id) : e_->store(p).abandon(id)).ok());
      }
    }
  }
  void next_session() {
    e_->join();
    e_->all_end = false;
    new_session(true);
  }
  static Bytes sum_of(const KeyRecord& x0_x1, const KeyRecord& x1_x2) {
    const SharedBytes &a = x0_x1.fields.at("key"), &b = x1_x2.fields.at("key");
    Bytes out(a.size());
    for (const SecretVector* component : {&a.component[0], &a.component[1], &b.component[1]})
      xor_bytes(out.data(), component->data(), out.size());
    return out;
  }
  std::shared_ptr<const KeyRecord> alice(int p) { return e_->store(p).get(alice_.id).value(); }
  void expect_repaired(std::uint64_t keys) {
    const Digest inventory = e_->store(0).inventory().value();
    for (int p = 0; p < 3; ++p) {
      EXPECT_EQ(e_->service(p).status().refresh_epoch, 1u);
      EXPECT_EQ(e_->store(p).inventory().value(), inventory);
      ASSERT_NE(alice(p), nullptr);
    }
    for (int p = 0; p < 3; ++p) EXPECT_EQ(sum_of(*alice(p), *alice((p + 1) % 3)), secret_) << p;
    EXPECT_EQ(work(ShareTask::kAudit).audited, keys);
    expect_alarms(0, {});
  }
  void expect_nothing_changed() {
    EXPECT_EQ(e_->store(lost_).count(), 0u);
    EXPECT_TRUE(e_->store(lost_).repair()->blank());
    for (int p = 0; p < 3; ++p) {
      if (p == lost_) continue;
      EXPECT_EQ(e_->store(p).refresh()->state().epoch, 0u);
      EXPECT_EQ(e_->store(p).inventory().value(), inventory_);
      EXPECT_EQ(alice(p)->version, before_[p]->version);
    }
  }

  int lost_ = 2;
  Bytes secret_;
  KeyRef alice_;
  Digest inventory_{};
  std::shared_ptr<const KeyRecord> before_[3];
};

}  // namespace tkdc
