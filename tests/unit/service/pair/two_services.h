// SPDX-License-Identifier: Apache-2.0
// Two whole job services in one process, each with a store of its own, joined by streams in memory;
// and an agent's part: it deals, and takes what both answer alike.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>

#include "ot/two_parties.h"
#include "pair/dealt.h"
#include "pair/output_rule.h"
#include "service/job/slow_store.h"
#include "service/pair/pair_job_service.h"
#include "service/pair/pair_pools.h"
#include "service/wire/recipe.h"
#include "support/principals.h"
#include "support/scratch.h"

namespace tkdc {

inline constexpr std::uint32_t kEnctype = 17;  // whose circuits are the smallest
inline void not_ahead(JobServiceOptions& options) { options.pair_ahead = false; }

inline Bytes random_octets(std::size_t bytes) {
  Bytes out(bytes);
  if (bytes > 0) randombytes_buf(out.data(), out.size());
  return out;
}

class TwoServices {
 public:
  // Hears what server p sends, on a thread of its own.
  using Tap = std::function<void(std::size_t p, ByteSpan octets)>;

  // `on_thread`: called first on the thread of server p in each session.
  explicit TwoServices(std::size_t pool_blocks = 512,
                       std::function<void(JobServiceOptions&)> edit = nullptr,
                       std::function<void(std::size_t)> on_thread = nullptr, Tap tap = nullptr)
      : pool_blocks_(pool_blocks), edit_(std::move(edit)), on_thread_(std::move(on_thread)),
        tap_(std::move(tap)) {
    root_ = test::make_scratch("pair-test");
    for (const std::size_t p : {0, 1}) {
      open_store(p);
      make_service(p);
    }
    start_session();
  }
  ~TwoServices() {
    stop();
    for (auto& service : services_) service.reset();
    std::filesystem::remove_all(root_);
  }

  // ---- sessions
  // A new one, as servers make it after one that ended. Octets of what server `cheat` sends are
  // changed.
  void start_session(int cheat = 0, ot::Change change = {}) {
    join();
    std::array<std::uint8_t, 32> id;
    randombytes_buf(id.data(), id.size());
    ot::Ends up("server 0", "server 1"), up2("server 0", "server 1"), down("server 1", "server 0"),
        down2("server 1", "server 0");
    const auto change_of = [&](int p) {
      ot::Change of = cheat == p ? change : ot::Change();
      if (tap_)
        of.rewrite = [tap = tap_, rewrite = of.rewrite, p](std::uint64_t first,
                                                           MutableByteSpan octets) {
          if (rewrite) rewrite(first, octets);
          tap(static_cast<std::size_t>(p), octets);
        };
      return of;
    };
    wires_from_ = {std::move(up.stream.reader), std::move(down.stream.reader)};
    wires_to_ = {std::move(up2.stream.writer), std::move(down2.stream.writer)};
    for (const int p : {0, 1})
      wires_[p] =
          std::make_unique<ot::Wire>(*wires_from_[p], *wires_to_[p], change_of(p), hash_[p]);
    for (const std::size_t p : {0, 1}) {
      Session& session = sessions_[p];
      session = Session();
      session.id = id;
      session.party = static_cast<int>(p);
      session.security = Security::kMalicious;
      session.protocols = {"pair"};
      LaneLink lane;
      lane.streams.emplace();
      lane.streams->to_next = std::move(p == 0 ? up.stream.writer : down.stream.writer);
      lane.streams->from_next = std::move(p == 0 ? down2.stream.reader : up2.stream.reader);
      session.lanes.push_back(std::move(lane));
      if (session_edit) session_edit(p, session);
    }
    over_ = 0;
    for (const std::size_t p : {0, 1})
      threads_[p] = std::thread([this, p] {
        if (on_thread_) on_thread_(p);
        ended_[p] = services_[p]->run_session(sessions_[p]);
        ++over_;
      });
  }
  void break_link() {
    for (auto& writer : wires_to_) writer->abort("the network is gone");
    for (auto& reader : wires_from_) reader->abort("the network is gone");
  }
  // Until the session has ended by itself.
  void join() {
    for (auto& thread : threads_)
      if (thread.joinable()) thread.join();
    for (auto& wire : wires_) wire.reset();
  }
  void stop() {
    for (auto& service : services_)
      if (service) service->stop();
    for (int k = 0; k < 400 && !is_over() && threads_[0].joinable(); ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (is_left_alone()) break;
    }
    if (!is_over() && threads_[0].joinable()) break_link();
    join();
  }
  // As if both had been stopped, and started again.
  void restart(const std::function<void(std::size_t)>& while_stopped = nullptr) {
    stop();
    for (const std::size_t p : {0, 1}) {
      services_[p].reset();
      if (while_stopped) while_stopped(p);
      make_service(p);
    }
    start_session();
  }
  // Services that have no session yet, on the same stores.
  void restart_service() {
    for (const std::size_t p : {0, 1}) {
      services_[p].reset();
      make_service(p);
    }
  }
  const std::string& ended(std::size_t p) const { return ended_[p]; }
  bool is_over() const { return over_ == 2; }
  // One has ended for a while, of which the other one hears nothing here: it waits for an answer.
  bool is_left_alone() {
    alone_for_ = over_ == 1 ? alone_for_ + 1 : 0;
    return alone_for_ > 40;
  }
  bool is_up() const {
    return services_[0]->status().session_up && services_[1]->status().session_up;
  }
  // Whether the agent gets an answer that both give alike.
  bool serves_or_ends(const AskedJob& job, const std::function<void(const Bytes&)>& answer) {
    std::atomic<bool> done{false};
    std::thread clock([&] {
      while (!done) {
        for (auto& service : services_) service->expire();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (over_ > 0) break_link();
      }
    });
    Taken out = ask_once(job);
    if (out.status[0] == TKDC_STATUS_DEAL_AGAIN && out.status[1] == TKDC_STATUS_DEAL_AGAIN &&
        out.reply[0].output == out.reply[1].output) {
      std::memcpy(&known_, out.reply[0].output.data(), sizeof known_);
      out = ask_once(job);
    }
    done = true;
    clock.join();
    const bool good =
        out.status[0] == TKDC_STATUS_OK && out.status[1] == TKDC_STATUS_OK && out.alike;
    if (good) answer(out.output);
    return good;
  }
  std::function<void(std::size_t, Session&)> session_edit;

  // ---- an agent's part
  using Job = AskedJob;
  using Edit = std::function<void(std::size_t, JobRequest&)>;
  struct Taken {
    tkdc_status status[2] = {TKDC_STATUS_INTERNAL, TKDC_STATUS_INTERNAL};
    std::string message[2];
    JobReply reply[2];
    Bytes output;  // where both answered alike
    bool alike = false;
    tkdc_status both() const {
      EXPECT_EQ(status[0], status[1]) << message[0] << "; " << message[1];
      return status[0];
    }
  };

  // Asks once, for the session that the agent knows of.
  Taken ask_once(const Job& job, const Edit& edit = nullptr, int only = -1) {
    const JobName name{agent, 99, ++number_};
    JobRequest plain;
    plain.name = name;
    plain.op = job.op;
    plain.key = job.key;
    plain.usage = job.usage;
    plain.deadline_ms = deadline_ms;
    plain.public_data = job.opened;
    plain.component[0].assign(job.input.begin(), job.input.end());  // for its length
    const std::size_t pad_octets = pad_bytes(plain).value_or(0);
    plain.component[0].clear();
    const Bytes pad = random_octets(pad_octets);
    const pair::Bits pad_bits = pair::unpacked(pad, 8 * pad.size());
    const std::array<SecretVector, 2> dealt = deal_for(job, pad, name);
    for (const std::size_t p : {1, 0}) {
      if (only >= 0 && p != static_cast<std::size_t>(only)) continue;
      JobRequest request = plain;
      if (!dealt[p].empty()) {
        request.dealt = dealt[p];
        request.dealt_input_bytes = static_cast<std::uint32_t>(job.input.size());
      }
      if (edit) edit(p, request);
      services_[p]->submit(job.role, std::move(request));
    }
    return wait(name, pad_bits, only >= 0 ? 1 : 2);
  }
  // Deals again where both say so.
  Taken ask(const Job& job, const Edit& edit = nullptr) {
    Taken out;
    for (int turn = 0; turn < 4; ++turn) {
      out = ask_once(job, edit);
      if (out.status[0] != TKDC_STATUS_DEAL_AGAIN || out.status[1] != TKDC_STATUS_DEAL_AGAIN)
        return out;
      EXPECT_EQ(out.reply[0].output, out.reply[1].output);
      if (out.reply[0].output.size() != sizeof known_) return out;
      std::memcpy(&known_, out.reply[0].output.data(), sizeof known_);
    }
    return out;
  }
  std::uint32_t deadline_ms = 120'000;
  std::uint64_t agent = 7;
  // The next deal is behind this one.
  void number_is(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    number_ = number;
    answers_.clear();
    counts_.clear();
  }

  KeyRef stage(std::uint32_t enctype, const Bytes& imported) {
    const KeyRef ref = new_key(enctype);
    const std::uint8_t origin = imported.empty() ? TKDC_ORIGIN_DRAWN : TKDC_ORIGIN_IMPORTED;
    const Taken out = ask({TKDC_OP_STAGE, ref, 0, {origin}, imported, AgentRole::kAdmin});
    EXPECT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0];
    return ref;
  }
  Taken bind(KeyRef& ref, const std::string& principal) {
    ref.principal = digest_of(principal);
    return ask(
        {TKDC_OP_BIND, ref, 0, Bytes(principal.begin(), principal.end()), {}, AgentRole::kAdmin});
  }
  KeyRef make_key(const std::string& principal, std::uint32_t enctype, const Bytes& imported) {
    KeyRef ref = stage(enctype, imported);
    const Taken out = bind(ref, principal);
    EXPECT_EQ(out.both(), TKDC_STATUS_OK) << out.message[0];
    return ref;
  }

  JobService& service(std::size_t p) { return *services_[p]; }
  SlowStore& store(std::size_t p) { return *stores_[p]; }
  std::vector<std::string> audit(std::size_t p) {
    const std::lock_guard lock(mutex_);
    return audit_[p];
  }
  std::vector<std::string> troubles(std::size_t p) {
    const std::lock_guard lock(mutex_);
    return troubles_[p];
  }
  void close_store(std::size_t p) { stores_[p].reset(); }
  StoreOptions store_options(std::size_t p) const {
    StoreOptions options;
    options.path = root_ + "/store" + std::to_string(p);
    options.installation = kInstallation;
    options.party = static_cast<int>(p);
    options.map_bytes = std::size_t{1} << 30;
    return options;
  }
  void open_store(std::size_t p) {
    auto store = Store::open(store_options(p), SecretBuffer(32));
    EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
    stores_[p] = std::make_unique<SlowStore>(std::move(*store));
  }

 private:
  void make_service(std::size_t p) {
    JobServiceOptions options;
    options.installation = kInstallation;
    options.party = static_cast<int>(p);
    options.pair_pool_blocks = pool_blocks_;
    options.trouble = [this, p](const std::string& text) {
      const std::lock_guard lock(mutex_);
      troubles_[p].push_back(text);
    };
    if (edit_) edit_(options);
    auto made = make_pair_job_service(
        options, *stores_[p],
        [this, p](const JobName& name, JobReply reply) {
          const std::lock_guard lock(mutex_);
          auto& entry = answers_[name];
          entry.status[p] = reply.status;
          entry.message[p] = reply.message;
          entry.reply[p] = std::move(reply);
          ++counts_[name];
          arrived_.notify_all();
        },
        [this, p](const std::string& line) {
          const std::lock_guard lock(mutex_);
          audit_[p].push_back(line);
          return true;
        });
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    services_[p] = std::move(*made);
  }

  // A known half by itself, before the rest.
  std::array<SecretVector, 2> deal_for(const Job& job, const Bytes& pad,
                                       const JobName& name) const {
    const auto by = is_derived(job.op) ? decode_derivation(job.opened) : std::nullopt;
    const std::size_t half = by ? std::min(known_half_bytes(*by), job.input.size()) : 0;
    Bytes rest(job.input.begin() + static_cast<std::ptrdiff_t>(half), job.input.end());
    rest.insert(rest.end(), pad.begin(), pad.end());
    std::array<SecretVector, 2> out;
    for (const auto part : {pair::DealPart::kHalf, pair::DealPart::kRest}) {
      const bool first = part == pair::DealPart::kHalf;
      const ByteSpan secret = first ? ByteSpan(job.input).first(half) : ByteSpan(rest);
      if (secret.empty()) continue;
      const auto dealt = pair::deal_input(pair::unpacked(secret, 8 * secret.size()), known_,
                                          pair::deal_number(name.run, name.number, part));
      for (const std::size_t p : {0, 1}) {
        const SecretVector octets = pair::put_dealt(dealt[p]);
        out[p].insert(out[p].end(), octets.begin(), octets.end());
      }
    }
    return out;
  }

  Taken wait(const JobName& name, const pair::Bits& pad, int answers) {
    std::unique_lock lock(mutex_);
    const bool done = arrived_.wait_for(lock, std::chrono::seconds(100),
                                        [&] { return counts_[name] >= answers; });
    EXPECT_TRUE(done) << "no answer from both";
    Taken out = std::move(answers_[name]);
    lock.unlock();
    if (answers < 2) return out;
    const auto bits = [](const JobReply& reply) {
      return pair::unpacked(reply.output, 8 * reply.output.size());
    };
    out.alike = out.reply[0].output == out.reply[1].output;
    if (auto taken = pair::output_of_both(bits(out.reply[0]), bits(out.reply[1]), pad))
      out.output = pair::packed(*taken);
    return out;
  }

  const std::size_t pool_blocks_;
  const std::function<void(JobServiceOptions&)> edit_;
  const std::function<void(std::size_t)> on_thread_;
  const Tap tap_;
  std::string root_;
  std::unique_ptr<SlowStore> stores_[2];
  std::unique_ptr<JobService> services_[2];
  Session sessions_[2];
  std::array<std::unique_ptr<BulkReader>, 2> wires_from_;
  std::array<std::unique_ptr<BulkWriter>, 2> wires_to_;
  std::unique_ptr<ot::Wire> wires_[2];
  std::string hash_[2];
  std::thread threads_[2];
  std::string ended_[2];
  std::atomic<int> over_{0};
  int alone_for_ = 0;  // looks
  pair::Label known_;
  std::uint64_t number_ = 0;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<JobName, Taken> answers_;
  std::map<JobName, int> counts_;
  std::vector<std::string> audit_[2], troubles_[2];
};

// So that so many are left of the only pool.
inline void use_up_to(TwoServices& two, std::uint64_t left) {
  for (const std::size_t p : {0, 1}) {
    PairPools pools(*two.store(p).values(), p == 0 ? pair::Side::kGarbler : pair::Side::kEvaluator);
    ASSERT_TRUE(pools.load().ok());
    const PairPools::Count one = pools.counts().at(0);
    ASSERT_TRUE(*pools.take(one.id, one.next, one.blocks - left - one.next));
  }
}

}  // namespace tkdc
