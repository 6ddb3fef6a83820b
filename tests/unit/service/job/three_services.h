// SPDX-License-Identifier: Apache-2.0
// Three whole job services in one process, joined by memory links, and jobs as
// agents send them: for their tests.
#pragma once

#include "service/job/job_service.h"

#include <gtest/gtest.h>
#include <krb5.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "link/memory_bulk_stream.h"
#include "link/memory_ring.h"
#include "protocol/plaintext.h"
#include "rep3/unit/rep3_offer.h"
#include "service/admit/policy.h"
#include "service/sealing/nonce.h"
#include "slow_store.h"
#include "support/principals.h"
#include "support/scratch.h"
#include "support/three_parties.h"

namespace tkdc {

// Replies of one job from the three servers.
struct Answer {
  JobReply reply[3];
  tkdc_status status() const {
    EXPECT_EQ(reply[0].status, reply[1].status);
    EXPECT_EQ(reply[0].status, reply[2].status);
    return reply[0].status;
  }
  // The output, after the digest check an agent makes.
  Bytes output() const {
    Bytes y(reply[0].output.size());
    for (int p = 0; p < 3; ++p) {
      EXPECT_EQ(output_digest(reply[p].output), reply[(p + 2) % 3].next_output);
      xor_bytes(y.data(), reply[p].output.data(), y.size());
    }
    return y;
  }
};

// Of servers that make masks for so many blocks (rep3/unit/rep3_offer.h).
inline ProtocolOffers rep3_offer(std::size_t masked_blocks = 0) {
  return {std::make_shared<const Rep3Offer>("auto", masked_blocks)};
}

class ThreeServices {
 public:
  explicit ThreeServices(std::size_t lanes = 2, std::uint32_t epoch = 1,
                         std::uint64_t seal_limit = std::uint64_t{1} << 38, int heads_every_ms = 0,
                         Security security = Security::kMalicious,
                         std::shared_ptr<MemoryRing> first_ring = nullptr,
                         const std::function<void(JobServiceOptions&)>& edit = nullptr,
                         bool two_parts = true)
      : lanes_(lanes), epoch_(epoch), security_(security), two_parts_(two_parts),
        first_ring_(std::move(first_ring)) {
    root_ = test::make_scratch("job-test");
    for (int p = 0; p < 3; ++p) open_store(p, "store" + std::to_string(p));
    make_services_ = [this, seal_limit, heads_every_ms, edit] {
      for (int p = 0; p < 3; ++p) make_service(p, seal_limit, heads_every_ms, edit);
    };
    make_services_();
    start_session();
  }
  ~ThreeServices() {
    stop_session();
    std::filesystem::remove_all(root_);
  }

  // As if all three servers were stopped, and started with sessions of this epoch.
  void restart(std::uint32_t epoch, const std::function<void(int)>& while_stopped) {
    stop_session();
    for (int p = 0; p < 3; ++p) {
      services_[p].reset();
      sessions_[p] = Session();
      while_stopped(p);
    }
    epoch_ = epoch;
    make_services_();
    start_session();
  }

  void ring_of_next_session(std::shared_ptr<MemoryRing> ring) { first_ring_ = std::move(ring); }
  // As if its disk were gone, and an empty one in its place. While its service is stopped.
  void lose_store(int p) {
    open_store(p, "store" + std::to_string(p) + "-" + std::to_string(++lost_stores_));
  }

  void start_session() {
    std::vector<std::shared_ptr<MemoryRing>> rings;
    SecretVector keys = test::random_bytes(rng_, 3 * 32 * lanes_);
    std::array<std::uint8_t, 32> id{};
    std::ranges::copy(test::random_bytes(rng_, id.size()), id.begin());
    for (std::size_t l = 0; l < lanes_; ++l)
      rings.push_back(l == 0 && first_ring_ ? first_ring_ : MemoryRing::create());
    for (int p = 0; p < 3; ++p) {
      Session& session = sessions_[p];
      session.lanes.clear();
      session.id = id;
      session.goes_on = false;
      session.party = p;
      session.representation = Representation::kBytes;
      session.security = security_;
      session.epoch = epoch_;
      session.two_parts = two_parts_;
      session.protocols = protocols;
      for (std::size_t l = 0; l < lanes_; ++l) {
        LaneLink lane;
        lane.link = rings[l]->link(p);
        std::copy_n(keys.data() + 32 * (3 * l + static_cast<std::size_t>(p)), 32,
                    lane.keys.mine.data());
        std::copy_n(keys.data() + 32 * (3 * l + static_cast<std::size_t>(p + 1) % 3), 32,
                    lane.keys.next.data());
        session.lanes.push_back(std::move(lane));
      }
      session.streams = lane_streams;
      if (session_edit) session_edit(p, session);
    }
    if (lane_streams) join_streams();
    over_ = 0;
    for (int p = 0; p < 3; ++p) run_thread(p);
  }
  // New connections for the session whose connections were lost; see `holds`. Lane 0's ring is
  // the caller's, if there is one.
  void go_on(std::shared_ptr<MemoryRing> ring = nullptr) {
    for (std::size_t l = 0; l < lanes_; ++l) {
      if (l > 0 || !ring) ring = MemoryRing::create();
      for (int p = 0; p < 3; ++p) sessions_[p].lanes[l].link = ring->link(p);
    }
    if (lane_streams) {
      break_streams("the network is gone");
      join_streams();
    }
    for (int p = 0; p < 3; ++p) {
      sessions_[p].goes_on = true;
      run_thread(p);
    }
  }
  // Only this party, over the caller's ring.
  void go_on_alone(int p, const std::shared_ptr<MemoryRing>& ring) {
    sessions_[p].lanes[0].link = ring->link(p);
    if (lane_streams) {
      break_streams("the network is gone");
      join_streams();
    }
    sessions_[p].goes_on = true;
    run_thread(p);
  }
  void stop_session() {
    stopping_ = true;
    for (auto& service : services_) service->stop();
    join();
    stopping_ = false;
  }
  // As a network that is gone.
  void close_links(const std::string& why) {
    for (LaneLink& lane : sessions_[0].lanes) lane.link->abort(why);
  }
  void break_one_stream(const std::string& why) {
    stream_rings_.front()->fail(OctetRing::Failure::By::kConnection, why);
  }
  void break_streams(const std::string& why) {
    for (const auto& ring : stream_rings_) ring->fail(OctetRing::Failure::By::kConnection, why);
  }
  // Until the session has ended by itself.
  void join() {
    for (auto& thread : threads_)
      if (thread.joinable()) thread.join();
  }
  // The next one, as servers make it after one that failed. Lane 0's ring is the caller's.
  void start_session(std::shared_ptr<MemoryRing> ring) {
    first_ring_ = std::move(ring);
    ++epoch_;
    start_session();
  }
  const std::string& ended(int p) const { return ended_[p]; }
  // Whether a session whose connections were lost is held for go_on(); else it is given up, as
  // where another server has forgotten it.
  std::atomic<bool> holds{false};
  // Of the sessions that begin from here on.
  std::vector<std::string> protocols{"rep3"};
  bool lane_streams = false;  // bulk streams beside lanes; the same
  // Links stay until all three have ended, as they do when each ends by itself: what one sent last
  // still arrives.
  std::atomic<bool> all_end{false};
  // Jobs reach the leader last: it names each once, and one kind sends as many packets each time.
  bool leader_last = false;
  // Checks that a server has given up.
  std::vector<LostCheck> lost_checks(int p) {
    std::lock_guard lock(mutex_);
    return lost_checks_[p];
  }
  // What a party takes for agreed, if not the same as the others.
  std::function<void(int party, Session&)> session_edit;

  using Job = AskedJob;
  using Edit = std::function<void(int party, JobRequest&)>;

  JobName send(const Job& job, const Edit& edit = nullptr, int only = -1) {
    SecretVector c[3] = {test::random_bytes(rng_, job.input.size()),
                         test::random_bytes(rng_, job.input.size()),
                         SecretVector(job.input.begin(), job.input.end())};
    xor_bytes(c[2].data(), c[0].data(), job.input.size());
    xor_bytes(c[2].data(), c[1].data(), job.input.size());
    JobName name{7, 99, ++number_};
    for (int p : leader_last ? std::array{2, 1, 0} : std::array{0, 1, 2}) {
      if (only >= 0 && p != only) continue;
      JobRequest request;
      request.name = name;
      request.op = job.op;
      request.key = job.key;
      request.usage = job.usage;
      request.deadline_ms = 50'000;  // sanitizers take long; tests of deadlines set their own
      request.public_data = job.opened;
      request.component[0] = c[p];
      request.component[1] = c[(p + 1) % 3];
      if (edit) edit(p, request);
      services_[p]->submit(job.role, std::move(request));
    }
    return name;
  }
  Answer wait(const JobName& name) {
    std::unique_lock lock(mutex_);
    bool done =
        arrived_.wait_for(lock, std::chrono::seconds(60), [&] { return counts_[name] == 3; });
    EXPECT_TRUE(done) << "no answer from all three";
    return std::move(answers_[name]);
  }
  // What has come so far, from whom it has.
  const Answer& answer_so_far(const JobName& name) {
    std::lock_guard lock(mutex_);
    return answers_[name];
  }
  int answers_to(const JobName& name) {
    std::lock_guard lock(mutex_);
    return counts_[name];
  }
  Answer run(const Job& job, const Edit& edit = nullptr) { return wait(send(job, edit)); }

  // Drawn by the servers where no key is brought along.
  KeyRef stage(std::uint32_t enctype, const Bytes& imported, const Edit& edit = nullptr) {
    const KeyRef ref = new_key(enctype);
    const std::uint8_t origin = imported.empty() ? TKDC_ORIGIN_DRAWN : TKDC_ORIGIN_IMPORTED;
    JobName name = send({TKDC_OP_STAGE, ref, 0, {origin}, imported, AgentRole::kAdmin}, edit);
    if (edit) {
      JobRequest request;
      request.name = name;
      edit(0, request);
      name = request.name;
    }
    EXPECT_EQ(wait(name).status(), TKDC_STATUS_OK);
    return ref;
  }

  KeyRef make_key(const std::string& principal, std::uint32_t enctype, const Bytes& imported) {
    KeyRef ref = stage(enctype, imported);
    ref.principal = digest_of(principal);
    EXPECT_EQ(run(bind_job(ref, principal)).status(), TKDC_STATUS_OK);
    return ref;
  }
  static Job bind_job(const KeyRef& ref, const std::string& principal) {
    return {TKDC_OP_BIND, ref, 0, Bytes(principal.begin(), principal.end()), {}, AgentRole::kAdmin};
  }
  JobService& service(int p) { return *services_[p]; }
  // What server p has heard of q's audit log; the heads count how often one was asked for.
  std::vector<AuditHead> heard(int p, int q) {
    std::lock_guard lock(mutex_);
    return heard_[p][q];
  }
  Store& store(int p) { return *stores_[p]; }
  SlowStore& disk(int p) { return *stores_[p]; }
  void fail_audit(int p, bool fails) {
    std::lock_guard lock(mutex_);
    audit_fails_[p] = fails;
  }
  // What the server has written to its audit log.
  std::vector<std::string> audit(int p) {
    std::lock_guard lock(mutex_);
    return audit_[p];
  }

 private:
  void open_store(int p, const std::string& folder) {
    StoreOptions options;
    options.path = root_ + "/" + folder;
    options.installation = kInstallation;
    options.party = p;
    options.map_bytes = std::size_t{2} << 30;
    auto store = Store::open(options, SecretBuffer(32));
    EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
    stores_[p] = std::make_unique<SlowStore>(std::move(*store));
  }
  void make_service(int p, std::uint64_t seal_limit, int heads_every_ms,
                    const std::function<void(JobServiceOptions&)>& edit) {
    JobServiceOptions options;
    options.installation = kInstallation;
    options.party = p;
    options.seal_limit = seal_limit;
    if (heads_every_ms > 0) tell_heads(options, heads_every_ms);
    options.lost_check = [this, p](const LostCheck& lost) {
      std::lock_guard lock(mutex_);
      lost_checks_[p].push_back(lost);
    };
    options.protocols = rep3_offer();
    options.protocols.push_back(std::make_shared<const PlaintextOffer>());
    if (edit) edit(options);
    auto made = JobService::create(
        options, *stores_[p],
        [this, p](const JobName& job, JobReply reply) { take(p, job, std::move(reply)); },
        [this, p](const std::string& line) {
          std::lock_guard lock(mutex_);
          if (audit_fails_[p]) return false;
          audit_[p].push_back(line);
          return true;
        });
    EXPECT_TRUE(made.ok());
    services_[p] = std::move(*made);
  }
  void tell_heads(JobServiceOptions& options, int every_ms) {
    const int p = options.party;
    options.audit_head_every = std::chrono::milliseconds(every_ms);
    options.audit_head = [this, p] {
      std::lock_guard lock(mutex_);
      AuditHead head;
      head.lines = ++heads_told_[p];
      head.hash.fill(static_cast<std::uint8_t>(p));
      return head;
    };
    options.peer_audit_head = [this, p](int q, const AuditHead& head) {
      std::lock_guard lock(mutex_);
      heard_[p][q].push_back(head);
    };
  }
  void join_streams() {
    stream_rings_.clear();
    ++handshakes_;
    const auto join = [this](std::unique_ptr<BulkWriter>& writer,
                             std::unique_ptr<BulkReader>& reader) {
      stream_rings_.push_back(std::make_shared<OctetRing>(std::size_t{1} << 16, 10'000));
      writer = std::make_unique<BulkWriter>(stream_rings_.back(), nullptr, "a reader");
      reader = std::make_unique<BulkReader>(stream_rings_.back(), nullptr, "a writer");
    };
    for (std::size_t l = 0; l < lanes_; ++l) {
      if (!has_streams(static_cast<int>(l), static_cast<int>(lanes_))) continue;
      for (Session& session : sessions_) session.lanes[l].streams.emplace().handshake = handshakes_;
      for (std::size_t p = 0; p < 3; ++p) {
        LaneStreams &mine = *sessions_[p].lanes[l].streams,
                    &next = *sessions_[(p + 1) % 3].lanes[l].streams;
        join(mine.to_next, next.from_prev);
        join(next.to_prev, mine.from_next);
      }
    }
  }
  void run_thread(int p) {
    threads_[p] = std::thread([this, p] {
      ended_[p] = services_[p]->run_session(sessions_[p]);
      ++over_;
      for (int waited_ms = 0; all_end && over_ < 3 && waited_ms < 2'000; waited_ms += 10)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      // A lane that makes instances is in the middle of a tick.
      if (!ended_[p].empty() || (stopping_ && lane_streams))
        for (LaneLink& lane : sessions_[p].lanes) lane.link->abort("a party has ended the session");
      if (!holds) services_[p]->give_up(std::nullopt);
    });
  }
  void take(int p, const JobName& name, JobReply reply) {
    std::lock_guard lock(mutex_);
    answers_[name].reply[p] = std::move(reply);
    ++counts_[name];
    arrived_.notify_all();
  }
  std::size_t lanes_;
  std::uint32_t epoch_;
  Security security_;
  bool two_parts_;
  std::shared_ptr<MemoryRing> first_ring_;  // lane 0's, for tests whose wires do harm
  std::string root_;
  std::mt19937_64 rng_{17};
  std::unique_ptr<SlowStore> stores_[3];
  std::unique_ptr<JobService> services_[3];
  std::function<void()> make_services_;
  Session sessions_[3];
  std::atomic<bool> stopping_{false};
  std::uint8_t handshakes_ = 0;
  int lost_stores_ = 0;
  std::atomic<int> over_{0};  // parties whose session has ended
  std::vector<std::shared_ptr<OctetRing>> stream_rings_;
  std::thread threads_[3];
  std::string ended_[3];
  std::uint64_t number_ = 0;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<JobName, Answer> answers_;
  std::map<JobName, int> counts_;
  std::vector<std::string> audit_[3];
  bool audit_fails_[3] = {};
  std::uint64_t heads_told_[3] = {};
  std::vector<AuditHead> heard_[3][3];
  std::vector<LostCheck> lost_checks_[3];
};

// A reply leaves before the tick's counters are published.
inline JobServiceStatus settled(ThreeServices& e) {
  for (JobServiceStatus last = e.service(0).status();;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    JobServiceStatus now = e.service(0).status();
    if (now.rounds == last.rounds && now.sha2_blocks == last.sha2_blocks) return now;
    last = now;
  }
}

// So that two jobs of one kind send as many packets, however slow the machine is.
inline void no_clocks(JobServiceOptions& options) { options.clock_every = std::chrono::hours(1); }

inline Bytes some_bytes(std::size_t n) {
  Bytes out(n);
  randombytes_buf(out.data(), n);
  return out;
}

}  // namespace tkdc
