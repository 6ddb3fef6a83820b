// SPDX-License-Identifier: Apache-2.0
// SHA_CTX shows the state in the middle of a message.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "fake_servers.h"

#include <openssl/sha.h>

#include <algorithm>

#include "enctype.h"

namespace tkdc::agent {
namespace {

SecretVector from_text(const std::string& text) { return {text.begin(), text.end()}; }

SecretVector confounded(ByteSpan plaintext) {
  SecretVector out(TKDC_SEAL_HEADER_BYTES);
  out.insert(out.end(), plaintext.begin(), plaintext.end());
  return out;
}

SHA_CTX hash_of(ByteSpan message) {
  const std::array<std::uint8_t, SHA_CBLOCK> pad{};
  SHA_CTX context{};
  SHA1_Init(&context);
  SHA1_Update(&context, pad.data(), pad.size());
  SHA1_Update(&context, message.data(), message.size());
  return context;
}

// After the pad and the first block.
SecretVector fake_state(ByteSpan message) {
  const SHA_CTX context = hash_of(message.first(SHA_CBLOCK));
  SecretVector out;
  SecretWriter w(out);
  for (SHA_LONG word : {context.h0, context.h1, context.h2, context.h3, context.h4}) w.u32(word);
  return out;
}

SecretVector fake_ciphertext(ByteSpan plaintext) {
  SecretVector out = fake_seal(plaintext);
  out.resize(TKDC_SEAL_HEADER_BYTES + plaintext.size());
  return out;
}

void append(SecretVector& out, const SecretVector& more) {
  out.insert(out.end(), more.begin(), more.end());
}

// Of a SEAL or MAC. Nothing: it is done whole.
std::optional<SecretVector> part_output(const JobRequest& request, ByteSpan input) {
  const Part part = part_of(request).value_or(Part());
  const bool seal = request.op == TKDC_OP_SEAL;
  if (part.kind == Part::Kind::kWhole) return std::nullopt;
  if (part.kind == Part::Kind::kTail)
    return SecretVector(input.begin(), input.begin() + TKDC_WIRE_CHECKSUM_BYTES);
  SecretVector out;
  if (seal) out = fake_ciphertext(input);
  append(out, fake_state(seal ? confounded(input) : SecretVector(input.begin(), input.end())));
  return out;
}

}  // namespace

SecretVector fake_mac_in_two_parts(ByteSpan data) {
  SHA_CTX context = hash_of(data);
  SecretVector digest(SHA_DIGEST_LENGTH);
  SHA1_Final(digest.data(), &context);
  digest.resize(TKDC_WIRE_CHECKSUM_BYTES);
  return digest;
}

SecretVector fake_seal_in_two_parts(ByteSpan plaintext) {
  SecretVector out = fake_ciphertext(plaintext);
  append(out, fake_mac_in_two_parts(confounded(plaintext)));
  return out;
}

SecretVector fake_seal(ByteSpan plaintext) {
  SecretVector out(plaintext.begin(), plaintext.end());
  out.insert(out.end(), TKDC_WIRE_SEAL_OVERHEAD_BYTES, 0xee);
  for (auto& octet : out) octet ^= 0xff;
  return out;
}

SecretVector fake_mac(ByteSpan data) {
  Digest digest{};
  crypto_hash_sha256(digest.data(), data.data(), data.size());
  return {digest.begin(), digest.begin() + TKDC_WIRE_CHECKSUM_BYTES};
}

FakeServers::FakeServers() {
  for (std::size_t party = 0; party < 3; ++party) {
    char public_key[41];
    char secret_key[41];
    if (zmq_curve_keypair(public_key, secret_key) != 0) throw zmq::error_t();
    public_keys_[party] = public_key;
    secret_keys_[party] = secret_key;
    addresses_[party] = "tcp://127.0.0.1:*";
    open(static_cast<int>(party));
    addresses_[party] = sockets_[party].get(zmq::sockopt::last_endpoint);
  }
  thread_ = std::thread([this] { loop(); });
}

FakeServers::~FakeServers() {
  stop_ = true;
  thread_.join();
}

void FakeServers::open(int party) {
  auto p = static_cast<std::size_t>(party);
  sockets_[p] = zmq::socket_t(context_, zmq::socket_type::router);
  sockets_[p].set(zmq::sockopt::curve_server, true);
  sockets_[p].set(zmq::sockopt::curve_secretkey, secret_keys_[p]);
  sockets_[p].set(zmq::sockopt::linger, 0);
  sockets_[p].set(zmq::sockopt::sndhwm, 0);
  sockets_[p].set(zmq::sockopt::rcvhwm, 0);
  sockets_[p].bind(addresses_[p]);
  open_[p] = true;
}

void FakeServers::set_mood(int party, Mood mood, tkdc_status refusal) {
  std::lock_guard lock(mutex_);
  mood_[std::size_t(party)] = mood;
  refusal_[std::size_t(party)] = refusal;
}

void FakeServers::set_running(int party, bool running) {
  std::lock_guard lock(mutex_);
  running_[std::size_t(party)] = running;
}

std::vector<JobRequest> FakeServers::view(int party) {
  std::lock_guard lock(mutex_);
  return views_[std::size_t(party)];
}

std::size_t FakeServers::jobs_seen(int party) {
  std::lock_guard lock(mutex_);
  return views_[std::size_t(party)].size();
}

std::vector<std::string> FakeServers::complaints() {
  std::lock_guard lock(mutex_);
  return complaints_;
}

void FakeServers::loop() {
  while (!stop_) {
    apply_running();
    std::vector<zmq::pollitem_t> items;
    std::vector<int> parties;
    for (int party = 0; party < 3; ++party) {
      if (!open_[std::size_t(party)]) continue;
      items.push_back({sockets_[std::size_t(party)].handle(), 0, ZMQ_POLLIN, 0});
      parties.push_back(party);
    }
    zmq::poll(items, std::chrono::milliseconds(5));
    for (std::size_t i = 0; i < items.size(); ++i)
      if ((items[i].revents & ZMQ_POLLIN) != 0) receive(parties[i]);
  }
  for (auto& socket : sockets_) socket.close();
}

void FakeServers::apply_running() {
  std::lock_guard lock(mutex_);
  for (std::size_t party = 0; party < 3; ++party) {
    if (running_[party] == open_[party]) continue;
    if (running_[party]) {
      try {
        open(static_cast<int>(party));
      } catch (const zmq::error_t&) {  // the old socket still holds the port: next time
        sockets_[party].close();
      }
    } else {
      sockets_[party].close();
      open_[party] = false;
    }
  }
}

void FakeServers::receive(int party) {
  auto p = static_cast<std::size_t>(party);
  zmq::message_t route;
  zmq::message_t frame;
  while (sockets_[p].recv(route, zmq::recv_flags::dontwait)) {
    (void)sockets_[p].recv(frame);
    Result<JobRequest> decoded = decode_request({frame.data<std::uint8_t>(), frame.size()});
    std::lock_guard lock(mutex_);
    if (!decoded) {
      complaints_.push_back(decoded.error().message);
      continue;
    }
    JobRequest& request = decoded.value();
    if (request.op != TKDC_OP_STATUS) views_[p].push_back(request);
    std::uint64_t& last = last_number_[p][request.name.run];
    if (request.name.number <= last) complaints_.push_back("job numbers do not grow");
    last = request.name.number;
    if (request.op == TKDC_OP_STATUS) {
      answer_status(party, route.to_string(), request);
      continue;
    }
    JobKey key{request.name.run, request.name.number};
    Arrived& job = arrived_[key];
    job.here[p] = true;
    job.route[p] = route.to_string();
    job.request[p] = std::move(request);
    if (!(job.here[0] && job.here[1] && job.here[2])) continue;
    check(job);
    answer(job);
    arrived_.erase(key);
  }
}

void FakeServers::check(const Arrived& job) {
  for (std::size_t party = 0; party < 3; ++party) {
    std::size_t next = (party + 1) % 3;
    const JobRequest& a = job.request[party];
    const JobRequest& b = job.request[next];
    if (a.component[1] != b.component[0])
      complaints_.push_back("two holders of a component got different copies");
    if (a.op != b.op || a.key != b.key || a.usage != b.usage || a.public_data != b.public_data)
      complaints_.push_back("two servers got different jobs");
  }
}

JobReply FakeServers::compute(const JobRequest& request, ByteSpan input) {
  JobReply reply;
  reply.run = request.name.run;
  reply.number = request.name.number;
  reply.cost = {60, 6048, 12, 0};
  auto integrity = [&] {
    reply.status = TKDC_STATUS_INTEGRITY;
    reply.message = "the tag does not hold";
  };
  if (auto output = two_parts_ ? part_output(request, input) : std::nullopt) {
    reply.output = std::move(*output);
    return reply;
  }
  switch (request.op) {
    case TKDC_OP_SEAL: reply.output = fake_seal(input); break;
    case TKDC_OP_OPEN: {
      std::size_t n = input.size() - TKDC_WIRE_SEAL_OVERHEAD_BYTES;
      SecretVector plain(input.begin(), input.begin() + std::ptrdiff_t(n));
      for (auto& octet : plain) octet ^= 0xff;
      if (std::equal(input.begin(), input.end(), fake_seal(plain).begin()))
        reply.output = plain;
      else
        integrity();
      break;
    }
    case TKDC_OP_MAC: reply.output = fake_mac(input); break;
    case TKDC_OP_VERIFY: {
      ByteSpan data = input.first(input.size() - TKDC_WIRE_CHECKSUM_BYTES);
      ByteSpan checksum = input.last(TKDC_WIRE_CHECKSUM_BYTES);
      if (!std::equal(checksum.begin(), checksum.end(), fake_mac(data).begin())) integrity();
      break;
    }
    case TKDC_OP_EXPORT: reply.output = from_text("sixteen octets!!"); break;
    default: break;
  }
  return reply;
}

void FakeServers::answer(Arrived& job) {
  SecretVector input = job.request[0].component[0];
  for (std::size_t i = 0; i < input.size(); ++i)
    input[i] ^= job.request[1].component[0][i] ^ job.request[2].component[0][i];
  JobReply good = compute(job.request[0], input);
  const Tails tails = tails_;
  const Part::Kind kind = part_of(job.request[0]).value_or(Part()).kind;
  const bool tail = kind == Part::Kind::kTail;
  if (kind == Part::Kind::kHead) std::this_thread::sleep_for(head_delay_.load());
  if (tail && tails == Tails::kSwallowed) return;
  if (tail && tails == Tails::kRefused) {
    good.status = TKDC_STATUS_UNAVAILABLE;
    good.output.clear();
  }

  std::array<SecretVector, 3> y;
  y[2] = good.output;
  for (std::size_t i = 0; i < 2; ++i) {
    y[i].resize(good.output.size());
    if (!y[i].empty()) randombytes_buf(y[i].data(), y[i].size());
    for (std::size_t k = 0; k < y[i].size(); ++k) y[2][k] ^= y[i][k];
  }
  for (std::size_t party = 0; party < 3; ++party) {
    JobReply reply = good;
    reply.output = y[party];
    reply.next_output = output_digest(y[(party + 1) % 3]);
    switch (tails == Tails::kLiedIn && !tail ? Mood::kHonest : mood_[party]) {
      case Mood::kSilent: continue;
      case Mood::kWrongOutput:
        if (!reply.output.empty()) reply.output[0] ^= 1;
        break;
      case Mood::kWrongDigest: reply.next_output[31] ^= 0x80; break;
      case Mood::kShortOutput: reply.output.pop_back(); break;
      case Mood::kRefuses:
        reply.status = refusal_[party];
        reply.message = "refused";
        break;
      default: break;
    }
    if (mood_[party] == Mood::kRepeats) send(static_cast<int>(party), job.route[party], reply);
    send(static_cast<int>(party), job.route[party], std::move(reply));
  }
}

void FakeServers::answer_status(int party, const std::string& route, const JobRequest& request) {
  ++statuses_;
  if (mood_[std::size_t(party)] == Mood::kSilent) return;
  JobReply reply;
  reply.run = request.name.run;
  reply.number = request.name.number;
  reply.output = from_text(R"({"session_up":true,"lanes":2,"party":99,"backend":"scalar",)"
                           R"("security":"malicious"})");
  send(party, route, std::move(reply));
}

void FakeServers::send(int party, const std::string& route, JobReply reply) {
  auto p = static_cast<std::size_t>(party);
  if (!open_[p]) return;
  SecretVector frame = encode(reply);
  if (mood_[p] == Mood::kGarbage) frame.assign(7, 0x2a);
  sockets_[p].send(zmq::buffer(route), zmq::send_flags::sndmore | zmq::send_flags::dontwait);
  sockets_[p].send(zmq::buffer(frame.data(), frame.size()), zmq::send_flags::dontwait);
}

}  // namespace tkdc::agent
