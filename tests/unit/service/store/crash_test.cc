// SPDX-License-Identifier: Apache-2.0
// kill -9 at random instants: what a call returned for is there, nothing is
// half there. TKDC_TEST_SEED repeats a run.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <random>

#include "scratch_store.h"

namespace tkdc {
namespace {

// Shared with the child: how far each kind of call had returned.
struct Progress {
  std::atomic<std::uint32_t> prepared{0};
  std::atomic<std::uint32_t> committed{0};
  std::atomic<std::uint32_t> destroyed{0};
  std::atomic<std::uint32_t> epoch{0};
};

class CrashTest : public ScratchStore {
 protected:
  // Key n is committed after it is prepared; every fourth is destroyed.
  void write_for_ever(Progress& done, std::uint32_t first) {
    auto opened = Store::open(options_, key_);
    if (!opened.ok()) _exit(2);
    Store& store = **opened;
    for (std::uint32_t n = first;; ++n) {
      if (!store.prepare(record(n)).ok()) _exit(3);
      done.prepared = n;
      if (!store.commit(id_of(n)).ok()) _exit(4);
      done.committed = n;
      if (n % 4 == 0) {
        if (!store.destroy(id_of(n)).ok()) _exit(5);
        done.destroyed = n;
      }
      if (!store.set_epochs({0, n, n}).ok()) _exit(6);
      done.epoch = n;
    }
  }

  void check(const Progress& done, std::uint32_t from) {
    for (std::uint32_t n = from; n <= done.committed; ++n) {
      auto got = store_->get(id_of(n));
      ASSERT_TRUE(got.ok()) << got.error().message;
      if (n % 4 != 0) {
        ASSERT_NE(*got, nullptr) << "committed key " << n << " is gone";
        EXPECT_EQ((*got)->ref.kvno, n);
      } else if (n <= done.destroyed) {
        EXPECT_EQ(*got, nullptr) << "destroyed key " << n << " is back";
      }
    }
    EXPECT_GE(store_->epochs().used, done.epoch);
    EXPECT_LE(store_->epochs().used, done.epoch + 1);
    EXPECT_LE(store_->prepared().value().size(), 1u);
    EXPECT_TRUE(store_->inventory().ok());
  }
};

TEST_F(CrashTest, NothingAcknowledgedIsLost) {
  const char* given = std::getenv("TKDC_TEST_SEED");
  unsigned seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                                   : std::random_device()();
  SCOPED_TRACE("TKDC_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  auto* done = new (mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Progress;
  open();
  std::uint32_t next = 1;
  for (int round = 0; round < 25; ++round) {
    store_.reset();
    done->prepared = done->committed = next - 1;
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_for_ever(*done, next);
    usleep(2'000 + random() % 40'000);
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer gave up: " << WEXITSTATUS(status);
    open();
    check(*done, 1);
    if (HasFatalFailure()) break;
    const std::vector<KeyId> half_made = store_->prepared().value();
    for (const KeyId& id : half_made) ASSERT_TRUE(store_->abandon(id).ok());
    // The kill may have hit between the disk and the counter.
    next = std::max({done->prepared.load(), store_->epochs().used, done->committed.load()}) + 2;
    done->epoch = next - 1;
    ASSERT_NO_FATAL_FAILURE(use_epochs(next - 1));
    // Ids skipped over were never committed.
    for (std::uint32_t n = done->committed + 1; n < next; ++n)
      if (!store_->committed(id_of(n)).value()) add(n);
    done->committed = next - 1;
    for (std::uint32_t n = 4; n < next; n += 4) ASSERT_TRUE(store_->destroy(id_of(n)).ok());
    done->destroyed = (next - 1) / 4 * 4;
  }
  munmap(done, sizeof(Progress));
}

}  // namespace
}  // namespace tkdc
