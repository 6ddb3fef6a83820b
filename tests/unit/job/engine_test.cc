// SPDX-License-Identifier: Apache-2.0
// Three whole engines in one process, joined by memory links: jobs as agents
// send them, against libkrb5, with the faults of dishonest agents.
#include "job/engine.h"

#include <gtest/gtest.h>
#include <krb5.h>
#include <stdlib.h>

#include <condition_variable>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "admit/policy.h"
#include "job/nonce.h"
#include "net/memory_ring.h"
#include "support/three_parties.h"

namespace tkdc {
namespace {

constexpr InstallationId kInstallation = {0x7d, 1, 2, 3};

PrincipalDigest digest_of(const std::string& name) {
  PrincipalDigest digest;
  crypto_hash_sha256(digest.data(), reinterpret_cast<const std::uint8_t*>(name.data()),
                     name.size());
  return digest;
}

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

class Engines {
 public:
  explicit Engines(std::size_t lanes = 2, std::uint32_t epoch = 1) : lanes_(lanes), epoch_(epoch) {
    char name[] = "/tmp/tkdc-engine-test-XXXXXX";
    root_ = mkdtemp(name);
    SecretBuffer key(32);
    for (int p = 0; p < 3; ++p) {
      StoreOptions options;
      options.path = root_ + "/store" + std::to_string(p);
      options.installation = kInstallation;
      options.party = p;
      options.map_bytes = 64 << 20;
      auto store = Store::open(options, key);
      EXPECT_TRUE(store.ok()) << (store.ok() ? "" : store.error().message);
      stores_[p] = std::move(*store);
      EngineOptions engine;
      engine.installation = kInstallation;
      engine.party = p;
      auto made = Engine::create(
          engine, *stores_[p],
          [this, p](const JobName& job, JobReply reply) { take(p, job, std::move(reply)); },
          [](const std::string&) {});
      EXPECT_TRUE(made.ok());
      engines_[p] = std::move(*made);
    }
    start_session();
  }
  ~Engines() {
    stop_session();
    std::filesystem::remove_all(root_);
  }

  void start_session() {
    std::vector<std::shared_ptr<MemoryRing>> rings;
    SecretVector keys = test::random_bytes(rng_, 3 * 32 * lanes_);
    for (std::size_t l = 0; l < lanes_; ++l) rings.push_back(MemoryRing::create());
    for (int p = 0; p < 3; ++p) {
      Session& session = sessions_[p];
      session.party = p;
      session.representation = Representation::kBytes;
      session.epoch = epoch_;
      for (std::size_t l = 0; l < lanes_; ++l) {
        Lane lane;
        lane.link = rings[l]->link(p);
        std::copy_n(keys.data() + 32 * (3 * l + static_cast<std::size_t>(p)), 32,
                    lane.keys.mine.data());
        std::copy_n(keys.data() + 32 * (3 * l + static_cast<std::size_t>(p + 1) % 3), 32,
                    lane.keys.next.data());
        session.lanes.push_back(std::move(lane));
      }
      threads_[p] = std::thread([this, p] { engines_[p]->run_session(sessions_[p]); });
    }
  }
  void stop_session() {
    for (auto& engine : engines_) engine->stop();
    for (auto& thread : threads_)
      if (thread.joinable()) thread.join();
  }

  struct Job {
    tkdc_wire_op op;
    KeyRef key;
    std::uint32_t usage = 0;
    Bytes opened;
    Bytes input;
    AgentRole role = AgentRole::kKdc;
  };
  using Edit = std::function<void(int party, JobRequest&)>;

  JobName send(const Job& job, const Edit& edit = nullptr, int only = -1) {
    SecretVector c[3] = {test::random_bytes(rng_, job.input.size()),
                         test::random_bytes(rng_, job.input.size()),
                         SecretVector(job.input.begin(), job.input.end())};
    xor_bytes(c[2].data(), c[0].data(), job.input.size());
    xor_bytes(c[2].data(), c[1].data(), job.input.size());
    JobName name{7, 99, ++number_};
    for (int p = 0; p < 3; ++p) {
      if (only >= 0 && p != only) continue;
      JobRequest request;
      request.name = name;
      request.op = job.op;
      request.key = job.key;
      request.usage = job.usage;
      request.deadline_ms = 5000;
      request.public_data = job.opened;
      request.component[0] = c[p];
      request.component[1] = c[(p + 1) % 3];
      if (edit) edit(p, request);
      engines_[p]->submit(job.role, std::move(request));
    }
    return name;
  }
  Answer wait(const JobName& name) {
    std::unique_lock lock(mutex_);
    bool done =
        arrived_.wait_for(lock, std::chrono::seconds(20), [&] { return counts_[name] == 3; });
    EXPECT_TRUE(done) << "no answer from all three";
    return std::move(answers_[name]);
  }
  Answer run(const Job& job, const Edit& edit = nullptr) { return wait(send(job, edit)); }

  KeyRef make_key(const std::string& principal, std::uint32_t enctype, const Bytes& imported) {
    KeyRef ref;
    ref.installation = kInstallation;
    randombytes_buf(ref.id.data(), ref.id.size());
    ref.kvno = 1;
    ref.enctype = enctype;
    const std::uint8_t origin = imported.empty() ? TKDC_ORIGIN_DRAWN : TKDC_ORIGIN_IMPORTED;
    EXPECT_EQ(run({TKDC_OP_STAGE, ref, 0, {origin}, imported, AgentRole::kAdmin}).status(),
              TKDC_STATUS_OK);
    ref.principal = digest_of(principal);
    EXPECT_EQ(run(bind_job(ref, principal)).status(), TKDC_STATUS_OK);
    return ref;
  }
  static Job bind_job(const KeyRef& ref, const std::string& principal) {
    return {TKDC_OP_BIND, ref, 0, Bytes(principal.begin(), principal.end()), {}, AgentRole::kAdmin};
  }
  Engine& engine(int p) { return *engines_[p]; }
  Store& store(int p) { return *stores_[p]; }

 private:
  void take(int p, const JobName& name, JobReply reply) {
    std::lock_guard lock(mutex_);
    answers_[name].reply[p] = std::move(reply);
    ++counts_[name];
    arrived_.notify_all();
  }
  std::size_t lanes_;
  std::uint32_t epoch_;
  std::string root_;
  std::mt19937_64 rng_{17};
  std::unique_ptr<Store> stores_[3];
  std::unique_ptr<Engine> engines_[3];
  Session sessions_[3];
  std::thread threads_[3];
  std::uint64_t number_ = 0;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<JobName, Answer> answers_;
  std::map<JobName, int> counts_;
};

Bytes some_bytes(std::size_t n) {
  Bytes out(n);
  randombytes_buf(out.data(), n);
  return out;
}

TEST(Engine, ImportedUserKeyWorksAsLibkrbExpects) {
  Engines e;
  Bytes key = some_bytes(32);
  KeyRef ref = e.make_key("alice@DEMO.TEST", 18, key);
  krb5_context context;
  ASSERT_EQ(krb5_init_context(&context), 0);
  krb5_keyblock kb{};
  kb.enctype = 18;
  kb.length = 32;
  kb.contents = key.data();

  Bytes plain = some_bytes(249);
  Answer sealed = e.run({TKDC_OP_SEAL, ref, 3, {}, plain});
  ASSERT_EQ(sealed.status(), TKDC_STATUS_OK);
  Bytes ciphertext = sealed.output();
  ASSERT_EQ(ciphertext.size(), plain.size() + 28);
  krb5_enc_data enc{};
  enc.enctype = 18;
  enc.ciphertext.length = static_cast<unsigned>(ciphertext.size());
  enc.ciphertext.data = reinterpret_cast<char*>(ciphertext.data());
  Bytes out(ciphertext.size());
  krb5_data result{};
  result.length = static_cast<unsigned>(out.size());
  result.data = reinterpret_cast<char*>(out.data());
  ASSERT_EQ(krb5_c_decrypt(context, &kb, 3, nullptr, &enc, &result), 0);
  EXPECT_EQ(Bytes(out.begin(), out.begin() + 249), plain);

  Bytes timestamp = some_bytes(28), sent(56);
  krb5_data clear{};
  clear.length = 28;
  clear.data = reinterpret_cast<char*>(timestamp.data());
  enc.ciphertext.length = 56;
  enc.ciphertext.data = reinterpret_cast<char*>(sent.data());
  ASSERT_EQ(krb5_c_encrypt(context, &kb, 1, nullptr, &clear, &enc), 0);
  Answer opened = e.run({TKDC_OP_OPEN, ref, 1, {}, sent});
  ASSERT_EQ(opened.status(), TKDC_STATUS_OK);
  EXPECT_EQ(opened.output(), timestamp);
  sent[20] ^= 1;
  EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 1, {}, sent}).status(), TKDC_STATUS_INTEGRITY);

  krb5_data data{};
  data.length = 249;
  data.data = reinterpret_cast<char*>(plain.data());
  krb5_checksum sum{};
  ASSERT_EQ(krb5_c_make_checksum(context, 0, &kb, 56, &data, &sum), 0);
  EXPECT_EQ(e.run({TKDC_OP_MAC, ref, 56, {}, plain}).output(),
            Bytes(sum.contents, sum.contents + 12));
  krb5_free_checksum_contents(context, &sum);
  krb5_free_context(context);
}

TEST(Engine, TicketsUnderDrawnKrbtgtKeys) {
  Engines e;
  KeyRef ref = e.make_key("krbtgt/DEMO.TEST@DEMO.TEST", 18, {});
  Bytes plain = some_bytes(309);
  Bytes ticket = e.run({TKDC_OP_SEAL, ref, 2, {}, plain}).output();
  Bytes second = e.run({TKDC_OP_SEAL, ref, 2, {}, plain}).output();
  ASSERT_EQ(ticket.size(), plain.size() + 28);
  EXPECT_NE(Bytes(ticket.begin(), ticket.begin() + 12), Bytes(second.begin(), second.begin() + 12));
  EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 2, {}, ticket}).output(), plain);
  for (std::size_t at : {0u, 11u, 12u, 200u, 336u}) {
    Bytes forged = ticket;
    forged[at] ^= 1;
    EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 2, {}, forged}).status(), TKDC_STATUS_INTEGRITY) << at;
  }
  Bytes truncated(ticket.begin(), ticket.begin() + 30);
  EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 2, {}, truncated}).status(), TKDC_STATUS_INTEGRITY);
  EXPECT_EQ(e.run({TKDC_OP_OPEN, ref, 2, {}, Bytes(27)}).status(), TKDC_STATUS_BAD_REQUEST);

  Bytes pac = some_bytes(112);
  Bytes signature = e.run({TKDC_OP_MAC, ref, 17, {}, pac}).output();
  ASSERT_EQ(signature.size(), 12u);
  Bytes claim = pac;
  claim.insert(claim.end(), signature.begin(), signature.end());
  EXPECT_EQ(e.run({TKDC_OP_VERIFY, ref, 17, {}, claim}).status(), TKDC_STATUS_OK);
  claim[5] ^= 1;
  EXPECT_EQ(e.run({TKDC_OP_VERIFY, ref, 17, {}, claim}).status(), TKDC_STATUS_INTEGRITY);
}

// A key version holds independent values: none of them may follow from K_std.
TEST(Engine, KrbtgtFieldsAreIndependent) {
  Engines e;
  KeyRef ref = e.make_key("krbtgt/DEMO.TEST@DEMO.TEST", 18, {});
  auto rebuild = [&](const std::string& field) {
    Bytes x;
    for (int p = 0; p < 3; ++p) {
      auto record = e.store(p).get(ref.id);
      const SecretVector& c = (*record)->fields.at(field).component[0];
      x.resize(c.size());
      xor_bytes(x.data(), c.data(), c.size());
    }
    return x;
  };
  Bytes standard = rebuild("key"), gcm = rebuild("gcm.rk"), sign = rebuild("sign.rk");
  EXPECT_NE(Bytes(gcm.begin(), gcm.begin() + 32), standard);
  EXPECT_NE(Bytes(sign.begin(), sign.begin() + 32), standard);
  EXPECT_NE(Bytes(sign.begin(), sign.begin() + 32), Bytes(gcm.begin(), gcm.begin() + 32));
  Bytes gcm_h = rebuild("gcm.h"), sign_h = rebuild("sign.h");
  EXPECT_NE(Bytes(gcm_h.begin(), gcm_h.begin() + 16), Bytes(sign_h.begin(), sign_h.begin() + 16));
}

TEST(Engine, PolicyTableIsDefaultDeny) {
  Engines e;
  const std::pair<KeyClass, std::string> kNames[] = {
      {KeyClass::kUser, "alice@R"}, {KeyClass::kService, "host/a@R"},
      {KeyClass::kKadmin, "kadmin/admin@R"}, {KeyClass::kKrbtgt, "krbtgt/R@R"},
      {KeyClass::kCrossRealm, "krbtgt/S@R"}};
  for (const auto& [key_class, name] : kNames) {
    KeyRef ref = e.make_key(name, 17, {});
    for (AgentRole role : {AgentRole::kKdc, AgentRole::kAdmin})
      for (tkdc_wire_op op : {TKDC_OP_SEAL, TKDC_OP_OPEN, TKDC_OP_MAC, TKDC_OP_VERIFY})
        for (std::uint32_t u : {0u, 1u, 2u, 3u, 8u, 11u, 17u, 56u, 64u, 513u, 514u}) {
          auto status = e.run({op, ref, u, {}, some_bytes(60), role}).status();
          EXPECT_EQ(status != TKDC_STATUS_DENIED, may_use(key_class, role, op, u))
              << name << " op " << op << " usage " << u;
        }
  }
}

TEST(Engine, KeyManagementIsForAdminAgents) {
  Engines e;
  KeyRef ref;
  ref.installation = kInstallation;
  ref.enctype = 18;
  const std::uint8_t drawn = TKDC_ORIGIN_DRAWN;
  for (tkdc_wire_op op : {TKDC_OP_STAGE, TKDC_OP_EXPORT, TKDC_OP_BIND, TKDC_OP_DESTROY})
    EXPECT_EQ(e.run({op, ref, 0, {drawn}, {}}).status(), TKDC_STATUS_DENIED) << op;
}

TEST(Engine, ServiceKeyIsExportedOnceAndKrbtgtNever) {
  Engines e;
  KeyRef ref;
  ref.installation = kInstallation;
  ref.enctype = 18;
  ref.kvno = 2;
  ref.id[0] = 1;
  const Bytes drawn = {TKDC_ORIGIN_DRAWN};
  ASSERT_EQ(e.run({TKDC_OP_STAGE, ref, 0, drawn, {}, AgentRole::kAdmin}).status(), TKDC_STATUS_OK);
  Bytes key = e.run({TKDC_OP_EXPORT, ref, 0, {}, {}, AgentRole::kAdmin}).output();
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(e.run({TKDC_OP_EXPORT, ref, 0, {}, {}, AgentRole::kAdmin}).status(),
            TKDC_STATUS_DENIED);
  KeyRef as_krbtgt = ref;
  as_krbtgt.principal = digest_of("krbtgt/R@R");
  EXPECT_EQ(e.run(Engines::bind_job(as_krbtgt, "krbtgt/R@R")).status(), TKDC_STATUS_DENIED);
  ref.principal = digest_of("host/a@R");
  EXPECT_EQ(e.run(Engines::bind_job(ref, "host/a@R")).status(), TKDC_STATUS_OK);
  EXPECT_EQ(e.run({TKDC_OP_EXPORT, ref, 0, {}, {}, AgentRole::kAdmin}).status(),
            TKDC_STATUS_UNKNOWN_KEY);
  EXPECT_EQ(e.run({TKDC_OP_SEAL, ref, 2, {}, some_bytes(100)}).status(), TKDC_STATUS_OK);
}

TEST(Engine, ImportedKeysAreNeverExported) {
  Engines e;
  KeyRef ref;
  ref.installation = kInstallation;
  ref.enctype = 17;
  const Bytes imported = {TKDC_ORIGIN_IMPORTED};
  ASSERT_EQ(e.run({TKDC_OP_STAGE, ref, 0, imported, some_bytes(16), AgentRole::kAdmin}).status(),
            TKDC_STATUS_OK);
  EXPECT_EQ(e.run({TKDC_OP_EXPORT, ref, 0, {}, {}, AgentRole::kAdmin}).status(),
            TKDC_STATUS_DENIED);
}

TEST(Engine, HandlesAreBoundToPrincipalKvnoEnctypeAndInstallation) {
  Engines e;
  KeyRef ref = e.make_key("alice@R", 18, some_bytes(32));
  for (int which = 0; which < 5; ++which) {
    KeyRef other = ref;
    if (which == 0) other.principal = digest_of("bob@R");
    if (which == 1) other.kvno = 2;
    if (which == 2) other.enctype = 17;
    if (which == 3) other.installation[0] ^= 1;
    if (which == 4) other.id[3] ^= 1;
    EXPECT_EQ(e.run({TKDC_OP_SEAL, other, 3, {}, some_bytes(50)}).status(), TKDC_STATUS_UNKNOWN_KEY)
        << which;
  }
}

TEST(Engine, DestroyedKeysAreGone) {
  Engines e;
  KeyRef ref = e.make_key("alice@R", 18, some_bytes(32));
  EXPECT_EQ(e.run({TKDC_OP_DESTROY, ref, 0, {}, {}, AgentRole::kAdmin}).status(), TKDC_STATUS_OK);
  EXPECT_EQ(e.run({TKDC_OP_SEAL, ref, 3, {}, some_bytes(50)}).status(), TKDC_STATUS_UNKNOWN_KEY);
}

// ---- dishonest agents: the job is dropped alone, jobs beside it go on

class DishonestAgent : public testing::TestWithParam<tkdc_wire_op> {};

TEST_P(DishonestAgent, IsRefusedInEveryOperationAndTheCohortGoesOn) {
  Engines e;
  KeyRef ref = e.make_key("krbtgt/R@R", 18, {}), other = e.make_key("krbtgt/R@R", 18, {});
  Engines::Job job{GetParam(), ref, 2, {}, some_bytes(80), AgentRole::kKdc};
  if (job.op == TKDC_OP_OPEN) {
    job.input = e.run({TKDC_OP_SEAL, ref, 2, {}, some_bytes(80)}).output();
  } else if (job.op == TKDC_OP_MAC || job.op == TKDC_OP_VERIFY) {
    job.usage = 17;
    if (job.op == TKDC_OP_VERIFY) {
      Bytes sum = e.run({TKDC_OP_MAC, ref, 17, {}, job.input}).output();
      job.input.insert(job.input.end(), sum.begin(), sum.end());
    }
  } else if (job.op != TKDC_OP_SEAL) {
    job.role = AgentRole::kAdmin;
    job.usage = 0;
    job.key.id[0] ^= 0x55;
    job.input.clear();
    if (job.op == TKDC_OP_STAGE) {
      job.opened = {TKDC_ORIGIN_IMPORTED};
      job.input = some_bytes(32);
    } else if (job.op == TKDC_OP_DESTROY) {
      job.key = ref;
    } else {
      job.opened = {TKDC_ORIGIN_DRAWN};
      Engines::Job stage = job;
      stage.op = TKDC_OP_STAGE;
      ASSERT_EQ(e.run(stage).status(), TKDC_STATUS_OK);
      job.opened.clear();
      if (job.op == TKDC_OP_BIND) {
        job = Engines::bind_job(job.key, "host/a@R");
        job.key.principal = digest_of("host/a@R");
      }
    }
  }
  const std::pair<const char*, Engines::Edit> kEdits[] = {
      {"component 0 differs",
       [](int p, JobRequest& r) {
         if (p == 1 && !r.component[0].empty()) r.component[0][3] ^= 1;
       }},
      {"component 1 differs",
       [](int p, JobRequest& r) {
         if (p == 2 && !r.component[1].empty()) r.component[1][3] ^= 1;
       }},
      {"usage differs",
       [](int p, JobRequest& r) {
         if (p == 0) r.usage ^= 1;
       }},
      {"handle differs",
       [&](int p, JobRequest& r) {
         if (p == 1) {
           r.key = other;
         }
       }},
      {"public data differ",
       [](int p, JobRequest& r) {
         if (p == 2) r.public_data.push_back(1);
       }},
      {"operation differs",
       [](int p, JobRequest& r) {
         if (p == 1) r.op = r.op == TKDC_OP_SEAL ? TKDC_OP_OPEN : TKDC_OP_SEAL;
       }},
      {"length differs",
       [](int p, JobRequest& r) {
         if (p == 0)
           for (auto& c : r.component) c.resize(c.size() + 4);
       }},
  };
  for (const auto& [what, edit] : kEdits) {
    if (job.input.empty() && std::string(what).starts_with("component")) continue;
    JobName honest = e.send({TKDC_OP_SEAL, other, 2, {}, some_bytes(100)});
    JobName dishonest = e.send(job, edit);
    JobName honest_too = e.send({TKDC_OP_SEAL, other, 2, {}, some_bytes(100)});
    EXPECT_NE(e.wait(dishonest).status(), TKDC_STATUS_OK) << what;
    EXPECT_EQ(e.wait(honest).status(), TKDC_STATUS_OK) << what;
    EXPECT_EQ(e.wait(honest_too).status(), TKDC_STATUS_OK) << what;
  }
  EXPECT_EQ(e.run(job).status(), TKDC_STATUS_OK) << "the honest form of the same job";
}

INSTANTIATE_TEST_SUITE_P(Operations, DishonestAgent,
                         testing::Values(TKDC_OP_SEAL, TKDC_OP_OPEN, TKDC_OP_MAC, TKDC_OP_VERIFY,
                                         TKDC_OP_STAGE, TKDC_OP_EXPORT, TKDC_OP_BIND,
                                         TKDC_OP_DESTROY));

TEST(Engine, JobThatOneServerNeverGetsExpires) {
  Engines e;
  KeyRef ref = e.make_key("krbtgt/R@R", 18, {});
  for (int only : {0, 1}) {
    JobName name = e.send({TKDC_OP_SEAL, ref, 2, {}, some_bytes(100)},
                          [](int, JobRequest& r) { r.deadline_ms = 100; }, only);
    EXPECT_EQ(e.run({TKDC_OP_SEAL, ref, 2, {}, some_bytes(100)}).status(), TKDC_STATUS_OK);
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    for (int p = 0; p < 3; ++p) e.engine(p).expire();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(e.engine(only).status().pending_jobs, 0u);
    (void)name;
  }
}

TEST(Engine, ManyJobsAtOnce) {
  Engines e;
  KeyRef tgt = e.make_key("krbtgt/R@R", 18, {}), alice = e.make_key("alice@R", 18, some_bytes(32));
  std::vector<JobName> names;
  for (int k = 0; k < 200; ++k)
    names.push_back(k % 2 ? e.send({TKDC_OP_SEAL, tgt, 2, {}, some_bytes(200)})
                          : e.send({TKDC_OP_SEAL, alice, 3, {}, some_bytes(60)}));
  std::set<Bytes> nonces;
  for (std::size_t k = 0; k < names.size(); ++k) {
    Answer answer = e.wait(names[k]);
    ASSERT_EQ(answer.status(), TKDC_STATUS_OK);
    Bytes out = answer.output();
    if (k % 2) nonces.insert(Bytes(out.begin(), out.begin() + 12));
  }
  EXPECT_EQ(nonces.size(), 100u);
}

TEST(Nonce, EncodesItsCoordinates) {
  NonceCoordinates c{0, 0xabcde, 0x123456, 0x2a, 0x0abcdef01234};
  EXPECT_EQ(decode_nonce(encode_nonce(c)), c);
}

}  // namespace
}  // namespace tkdc
