// SPDX-License-Identifier: Apache-2.0
// Three services whose sessions have MACs on shares, and stores of which a test may change what is
// read: for tests of what is done with all shares.
#pragma once

#include "service/job/features.h"
#include "service/store/mac_table.h"
#include "three_services.h"

namespace tkdc {

// The store's table, of which a test may change what is read.
class AlteredTable final : public MacTable {
 public:
  explicit AlteredTable(MacTable& table) : table_(table) {}
  Result<std::vector<StoredKey>> page(const std::optional<KeyId>& after,
                                      std::size_t most) override {
    auto read = table_.page(after, most);
    if (read.ok() && alter) alter(*read);
    return read;
  }
  Result<void> put(std::span<const NamedMacs> rows) override {
    if (full) return fail("store: full");
    return table_.put(rows);
  }
  std::size_t rows() override { return table_.rows(); }
  std::uint32_t refresh_epoch() override { return epoch.value_or(table_.refresh_epoch()); }
  Result<SecretVector> keys() override {
    if (fails_keys_once.exchange(false)) return fail("store: no MAC keys");
    return table_.keys();
  }
  Result<void> set_keys(ByteSpan keys) override {
    return refuses_keys ? Result<void>(fail("store: no key")) : table_.set_keys(keys);
  }

  std::function<void(std::vector<StoredKey>&)> alter;
  bool full = false;
  std::atomic<bool> refuses_keys{false}, fails_keys_once{false};
  std::optional<std::uint32_t> epoch;

 private:
  MacTable& table_;
};

class Shares : public testing::Test {
 protected:
  void start(Security security = Security::kMalicious) {
    e_ = std::make_unique<ThreeServices>(2, 1, std::uint64_t{1} << 38, 0, security);
    for (int p = 0; p < 3; ++p) {
      tables_[p] = std::make_unique<AlteredTable>(*e_->disk(p).macs());
      e_->disk(p).macs_over = tables_[p].get();
    }
  }
  // Sessions have MACs from the next one on, or have none.
  void new_session(
      bool macs, const std::function<void(int)>& meanwhile = [](int) {}) {
    e_->session_edit = [macs](int, Session& session) {
      session.features.clear();
      if (macs) session.features.push_back(kShareMacs);
    };
    e_->restart(++epoch_, meanwhile);
    // What is asked before it has begun is done in it, and ends no session.
    for (int p = 0; p < 3; ++p)
      for (int waited = 0; e_->service(p).status().shares.possible != macs && waited < 3'000;
           ++waited)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::vector<KeyRef> make_keys(std::size_t count) {
    std::vector<KeyRef> keys;
    for (std::size_t k = 0; k < count; ++k)
      keys.push_back(e_->make_key("user" + std::to_string(++made_) + "@A.TEST",
                                  k % 2 == 0 ? 18 : 20, some_bytes(32)));
    return keys;
  }
  ShareUpkeepStatus work(ShareTask task, int by = 0) {
    std::uint64_t before[3];
    for (int p = 0; p < 3; ++p) before[p] = e_->service(p).status().shares.finished;
    e_->service(by).ask_shares(task);
    ShareUpkeepStatus out;
    for (int p = 0; p < 3; ++p) {
      for (int waited = 0;; ++waited) {
        out = e_->service(p).status().shares;
        if (out.finished > before[p]) break;
        if (waited > 3'000) {
          ADD_FAILURE() << "the work does not end at server " << p;
          return out;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    }
    return out;
  }
  ShareUpkeepStatus ended() {
    for (int p = 0; p < 3; ++p)
      for (int waited = 0; e_->service(p).status().shares.finished == finished_[p]; ++waited) {
        if (waited > 3'000) {
          ADD_FAILURE() << "the work does not end at server " << p;
          break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    for (int p = 0; p < 3; ++p) finished_[p] = e_->service(p).status().shares.finished;
    return e_->service(0).status().shares;
  }
  // In a session of its own. All three end it: what one has said last still reaches the others.
  // The session before it is up: one that were still to begin would be the refresh's.
  ShareUpkeepStatus try_refresh(int by, std::shared_ptr<MemoryRing> ring = nullptr) {
    for (int waited = 0; !e_->service(by).status().session_up && waited < 500; ++waited)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (int p = 0; p < 3; ++p) finished_[p] = e_->service(p).status().shares.finished;
    e_->service(by).ask_shares(ShareTask::kRefresh);
    e_->join();
    e_->all_end = true;
    e_->start_session(std::move(ring));
    return ended();
  }
  // After which there is another.
  void refresh(int by) {
    EXPECT_EQ(try_refresh(by).trouble, "");
    e_->join();
    e_->all_end = false;
    e_->start_session(nullptr);
  }
  void expect_alarms(std::uint64_t count, const std::vector<std::string>& words) {
    for (int p = 0; p < 3; ++p) {
      const JobServiceStatus status = e_->service(p).status();
      EXPECT_EQ(status.share_alarms, count) << p;
      for (const std::string& word : words)
        EXPECT_NE(status.share_alarms_named.empty() ? std::string::npos
                                                    : status.share_alarms_named.back().find(word),
                  std::string::npos)
            << word;
    }
  }

  std::unique_ptr<ThreeServices> e_;
  std::unique_ptr<AlteredTable> tables_[3];
  std::uint32_t epoch_ = 1;
  std::size_t made_ = 0;
  std::uint64_t finished_[3] = {};
};

}  // namespace tkdc
