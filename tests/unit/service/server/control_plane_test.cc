// SPDX-License-Identifier: Apache-2.0
// The control plane with real ZeroMQ clients over loopback.
#include "service/server/control_plane.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <thread>
#include <zmq.hpp>

#include "base/machine.h"
#include "service/server/control_router.h"
#include "service/server/control_socket.h"

namespace tkdc {
namespace {

struct Keys {
  char public_key[41];
  char secret_key[41];
  Keys() { EXPECT_EQ(zmq_curve_keypair(public_key, secret_key), 0); }
};

// An agent's end.
class Client {
 public:
  Client(const std::string& endpoint, const Keys& own, const char* server_key) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::curve_serverkey, server_key);
    socket_.set(zmq::sockopt::curve_publickey, own.public_key);
    socket_.set(zmq::sockopt::curve_secretkey, own.secret_key);
    socket_.connect(endpoint);
  }

  void send(ByteSpan frame, zmq::send_flags flags = zmq::send_flags::none) {
    EXPECT_TRUE(socket_.send(zmq::buffer(frame.data(), frame.size()), flags));
  }
  void send(const JobRequest& request) { send(encode(request)); }

  // Nothing within the time: an empty reply with the status INTERNAL.
  std::optional<JobReply> receive(int timeout_ms = 3'000) {
    socket_.set(zmq::sockopt::rcvtimeo, timeout_ms);
    // Copied by libzmq: TSan does not see how its threads hand memory to each other.
    Bytes buffer(1 << 18);
    const auto got = socket_.recv(zmq::buffer(buffer));
    if (!got) return std::nullopt;
    auto reply = decode_reply(ByteSpan(buffer).first(got->size));
    EXPECT_TRUE(reply.ok());
    return std::move(*reply);
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_{context_, zmq::socket_type::dealer};
};

JobRequest request(std::uint64_t number, tkdc_wire_op op = TKDC_OP_SEAL) {
  JobRequest r;
  r.name.run = 77;
  r.name.number = number;
  r.op = op;
  r.deadline_ms = 1'000;
  r.component[0].assign(5, 0xaa);
  r.component[1].assign(5, 0xbb);
  return r;
}

class ControlPlaneTest : public testing::Test {
 protected:
  void start(std::size_t max_pending = 100) {
    ASSERT_GE(sodium_init(), 0);
    ControlSocketOptions at;
    at.listen = "tcp://127.0.0.1:*";
    at.curve_secret_key.assign(server_.secret_key, server_.secret_key + 40);
    ControlOptions options;
    at.agents = options.agents = {{"agent-kdc", AgentRole::kKdc, kdc_.public_key},
                                  {"agent-admin", AgentRole::kAdmin, admin_.public_key}};
    at.max_answers_waiting = options.max_pending_per_agent = max_pending;
    at.log = options.log = [this](const std::string& line) {
      std::lock_guard lock(mutex_);
      log_ += line + "\n";
    };
    auto socket = open_control_socket(at);
    ASSERT_TRUE(socket.ok()) << socket.error().message;
    endpoint_ = (*socket)->endpoint();
    plane_ = std::make_unique<ControlPlane>(
        std::move(*socket), std::move(options),
        [this](AgentRole role, JobRequest r) { take(role, std::move(r)); },
        [] { return std::string(R"({"session_up":true})"); });
    thread_ = std::thread([this] { EXPECT_TRUE(plane_->run().ok()); });
  }
  ~ControlPlaneTest() override {
    if (!plane_) return;
    plane_->stop();
    thread_.join();
  }

  // The job service's place: answers at once, from another thread, unless held.
  void take(AgentRole role, JobRequest r) {
    std::lock_guard lock(mutex_);
    roles_.push_back(role);
    agents_.push_back(r.name.agent);
    if (hold_) {
      held_.push_back(r.name);
      return;
    }
    JobReply reply;
    reply.output = r.component[0];
    std::thread([this, name = r.name, reply = std::move(reply)]() mutable {
      plane_->reply(name, std::move(reply));
    }).join();
  }

  std::string log() {
    std::lock_guard lock(mutex_);
    return log_;
  }

  Keys server_, kdc_, admin_, stranger_;
  std::string endpoint_;
  std::unique_ptr<ControlPlane> plane_;
  std::thread thread_;
  std::mutex mutex_;
  std::string log_;
  std::vector<AgentRole> roles_;
  std::vector<std::uint64_t> agents_;
  bool hold_ = false;
  std::vector<JobName> held_;
};

TEST_F(ControlPlaneTest, JobAndAnswer) {
  start();
  Client kdc(endpoint_, kdc_, server_.public_key);
  kdc.send(request(1));
  auto reply = kdc.receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->run, 77u);
  EXPECT_EQ(reply->number, 1u);
  EXPECT_EQ(reply->output, SecretVector(5, 0xaa));
}

TEST_F(ControlPlaneTest, RoleAndNameFollowTheKey) {
  start();
  Client kdc(endpoint_, kdc_, server_.public_key);
  Client admin(endpoint_, admin_, server_.public_key);
  kdc.send(request(1));
  ASSERT_TRUE(kdc.receive());
  admin.send(request(1));  // the same number: another agent
  ASSERT_TRUE(admin.receive());
  std::lock_guard lock(mutex_);
  EXPECT_EQ(roles_, (std::vector<AgentRole>{AgentRole::kKdc, AgentRole::kAdmin}));
  EXPECT_EQ(agents_,
            (std::vector<std::uint64_t>{agent_id(kdc_.public_key), agent_id(admin_.public_key)}));
}

TEST_F(ControlPlaneTest, UnlistedKeyGetsNothing) {
  start();
  Client stranger(endpoint_, stranger_, server_.public_key);
  stranger.send(request(1));
  EXPECT_FALSE(stranger.receive(700));
  EXPECT_NE(log().find("refused a client"), std::string::npos) << log();
  EXPECT_EQ(plane_->counters().requests, 0u);
  // And the listed ones are still served.
  Client kdc(endpoint_, kdc_, server_.public_key);
  kdc.send(request(1));
  EXPECT_TRUE(kdc.receive());
}

TEST_F(ControlPlaneTest, PlainClientGetsNothing) {
  start();
  zmq::context_t context;
  zmq::socket_t socket(context, zmq::socket_type::dealer);
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::rcvtimeo, 500);
  socket.connect(endpoint_);
  SecretVector frame = encode(request(1));
  socket.send(zmq::buffer(frame.data(), frame.size()), zmq::send_flags::none);
  zmq::message_t message;
  EXPECT_FALSE(socket.recv(message));
  EXPECT_EQ(plane_->counters().requests, 0u);
}

TEST_F(ControlPlaneTest, WithoutAHandlerNobodyIsAdmitted) {
  zmq::context_t context;
  SecretVector secret(server_.secret_key, server_.secret_key + 40);
  auto socket = open_control_router(context, "tcp://127.0.0.1:*", secret, 10);
  ASSERT_TRUE(socket.ok()) << socket.error().message;
  Client kdc(socket->get(zmq::sockopt::last_endpoint), kdc_, server_.public_key);
  kdc.send(request(1));
  socket->set(zmq::sockopt::rcvtimeo, 700);
  zmq::message_t message;
  EXPECT_FALSE(socket->recv(message)) << "a dead handler let one in";
}

TEST_F(ControlPlaneTest, RepeatedNumbersRunOnce) {
  start();
  Client kdc(endpoint_, kdc_, server_.public_key);
  kdc.send(request(5));
  ASSERT_TRUE(kdc.receive());
  kdc.send(request(5));
  kdc.send(request(4));
  EXPECT_FALSE(kdc.receive(500));
  kdc.send(request(9));  // gaps are fine
  ASSERT_TRUE(kdc.receive());
  EXPECT_EQ(plane_->counters().replayed, 2u);
  std::lock_guard lock(mutex_);
  EXPECT_EQ(roles_.size(), 2u);
}

TEST_F(ControlPlaneTest, MalformedFramesAreDropped) {
  start();
  Client kdc(endpoint_, kdc_, server_.public_key);
  SecretVector frame = encode(request(1));
  for (std::size_t length : {std::size_t{0}, std::size_t{1}, frame.size() - 1})
    kdc.send(ByteSpan(frame).first(length));
  SecretVector longer = frame;
  longer.push_back(0);
  kdc.send(longer);
  kdc.send(frame, zmq::send_flags::sndmore);  // two parts where one belongs
  kdc.send(frame);
  kdc.send(request(2));
  auto reply = kdc.receive();
  ASSERT_TRUE(reply) << "the connection survives";
  EXPECT_EQ(reply->number, 2u);
  EXPECT_EQ(plane_->counters().malformed, 5u);
  EXPECT_EQ(plane_->counters().requests, 1u);
}

TEST_F(ControlPlaneTest, OversizedFrameCostsTheConnectionOnly) {
  start();
  Client kdc(endpoint_, kdc_, server_.public_key);
  kdc.send(request(1));
  ASSERT_TRUE(kdc.receive());
  kdc.send(Bytes(1 << 20));
  EXPECT_FALSE(kdc.receive(300));
  Client again(endpoint_, kdc_, server_.public_key);
  again.send(request(2));
  EXPECT_TRUE(again.receive());
}

TEST_F(ControlPlaneTest, StatusIsAnsweredByTheServer) {
  start();
  Client kdc(endpoint_, kdc_, server_.public_key);
  kdc.send(request(1, TKDC_OP_STATUS));
  auto reply = kdc.receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(std::string(reply->output.begin(), reply->output.end()), R"({"session_up":true})");
  std::lock_guard lock(mutex_);
  EXPECT_TRUE(roles_.empty());
}

TEST_F(ControlPlaneTest, ItKnowsWhenEachAgentLastSpoke) {
  start();
  EXPECT_EQ(plane_->heard_ms(), std::vector<long long>(2));
  const long long before = monotonic_ms();
  Client admin(endpoint_, admin_, server_.public_key);
  admin.send(request(1, TKDC_OP_STATUS));
  ASSERT_TRUE(admin.receive());
  const std::vector<long long> heard = plane_->heard_ms();
  EXPECT_EQ(heard[0], 0) << "no word of the other one";
  EXPECT_GE(heard[1], before);
  EXPECT_LE(heard[1], monotonic_ms());
}

TEST_F(ControlPlaneTest, OneAgentsLimitIsNotTheOthers) {
  start(3);
  {
    std::lock_guard lock(mutex_);
    hold_ = true;
  }
  Client kdc(endpoint_, kdc_, server_.public_key);
  for (std::uint64_t n = 1; n <= 5; ++n) kdc.send(request(n));
  for (std::uint64_t n = 4; n <= 5; ++n) {
    auto reply = kdc.receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->number, n);
    EXPECT_EQ(reply->status, TKDC_STATUS_LIMIT);
  }
  Client admin(endpoint_, admin_, server_.public_key);
  admin.send(request(1, TKDC_OP_STATUS));
  EXPECT_TRUE(admin.receive());
  // Room again after answers.
  std::vector<JobName> held;
  {
    std::lock_guard lock(mutex_);
    held.swap(held_);
    hold_ = false;
  }
  ASSERT_EQ(held.size(), 3u);
  for (const JobName& name : held) plane_->reply(name, {});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(kdc.receive());
  kdc.send(request(6));
  auto reply = kdc.receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, TKDC_STATUS_OK);
}

TEST_F(ControlPlaneTest, AnswersForGoneAgentsAreDropped) {
  start();
  {
    std::lock_guard lock(mutex_);
    hold_ = true;
  }
  {
    Client kdc(endpoint_, kdc_, server_.public_key);
    kdc.send(request(1));
    for (int i = 0; i < 100 && plane_->counters().requests == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  JobName name;
  {
    std::lock_guard lock(mutex_);
    ASSERT_EQ(held_.size(), 1u);
    name = held_[0];
  }
  plane_->reply(name, {});
  for (int i = 0; i < 100 && plane_->counters().undelivered == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(plane_->counters().undelivered, 1u);
}

// All that it will ever receive is there from the start; what is done is written down.
class FullSocket final : public AgentSocket {
 public:
  FullSocket(std::vector<SecretVector> requests, std::string& course, std::function<void()> stop)
      : requests_(std::move(requests)), course_(course), stop_(std::move(stop)) {}
  Result<Ready> wait(int) override {
    if (next_ == requests_.size() && !woken_) stop_();
    return Ready{next_ < requests_.size(), std::exchange(woken_, false)};
  }
  void wake() override { woken_ = true; }
  bool receive(const std::function<void(const Message&)>& handle) override {
    if (next_ == requests_.size()) return false;
    course_ += 'r';
    handle({1, true, "route", requests_[next_++]});
    return true;
  }
  bool send(const std::string&, SecretVector) override {
    course_ += 's';
    return true;
  }
  std::string endpoint() const override { return {}; }

 private:
  std::vector<SecretVector> requests_;
  std::size_t next_ = 0;
  std::string& course_;
  std::function<void()> stop_;
  bool woken_ = false;
};

std::string course_of(const std::vector<tkdc_wire_op>& asked) {
  std::vector<SecretVector> requests;
  for (const tkdc_wire_op op : asked) requests.push_back(encode(request(requests.size() + 1, op)));
  ControlOptions options;
  const Keys kdc, admin;
  options.agents = {{"agent-kdc", AgentRole::kKdc, kdc.public_key},
                    {"agent-admin", AgentRole::kAdmin, admin.public_key}};
  std::string course;
  std::unique_ptr<ControlPlane> plane;
  auto socket = std::make_unique<FullSocket>(std::move(requests), course, [&] { plane->stop(); });
  plane = std::make_unique<ControlPlane>(
      std::move(socket), std::move(options), [](AgentRole, JobRequest) {},
      [] { return std::string("{}"); });
  plane->list_keys_by([](tkdc_wire_op, const KeyId&) { return Result<Bytes>(Bytes(5)); });
  EXPECT_TRUE(plane->run().ok());
  return course;
}

TEST(ControlPlane, ABurstOfListsHoldsNoAnswerBack) {
  EXPECT_EQ(course_of({TKDC_OP_STATUS, TKDC_OP_STATUS, TKDC_OP_STATUS}), "rrrsss");
  EXPECT_EQ(course_of({TKDC_OP_STATUS, TKDC_OP_LIST, TKDC_OP_LIST, TKDC_OP_STATUS}), "rrssrsrs");
}

TEST(AgentRuns, OldIdleSessionsAreForgotten) {
  AgentRuns runs;
  for (std::uint64_t s = 0; s < AgentRuns::kMaxRuns; ++s) {
    ASSERT_EQ(runs.arrived(s, 1, "r"), AgentRuns::Arrival::kNew);
    runs.started(s);
  }
  EXPECT_EQ(runs.arrived(1000, 1, "r"), AgentRuns::Arrival::kTooManyRuns);
  ASSERT_NE(runs.answered(3), nullptr);
  EXPECT_EQ(runs.answered(3), nullptr) << "answered once only";
  EXPECT_EQ(runs.arrived(1000, 1, "r"), AgentRuns::Arrival::kNew);
  EXPECT_EQ(runs.answered(3), nullptr);
}

}  // namespace
}  // namespace tkdc
