// SPDX-License-Identifier: Apache-2.0
// lie.so: preloaded into the server's program as it is installed, this stands between it and
// OpenSSL, and between it and libzmq. It puts the neighbours' packets together (u32 length, octets;
// link/packet_input.h) and lets a Liar change what its server says and hears; and what it answers
// agents. Records are encrypted behind it, so that no link finds them broken: only the protocols
// can. Not armed, it passes everything on.
//
// With TKDC_TEST_LIES_OF_TWO the server is one of two: their streams pass as they are, but for the
// record that a Liar changes.
//
// TKDC_TEST_LIES names the folder of liar.h. Never installed; called by all of a server's threads.
#include <dlfcn.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <zmq.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "liar.h"
#include "link/packet_input.h"

namespace {

using namespace tkdc;
using test::Liar;
using Write = int (*)(SSL*, const void*, std::size_t, std::size_t*);
using SendMessage = int (*)(zmq_msg_t*, void*, int);
using Read = int (*)(SSL*, void*, std::size_t, std::size_t*);

constexpr std::size_t kRecordBytes = 16 * 1024;

struct Connection {
  test::Peer peer;
  PacketInput out, in;
  SecretVector held;  // a whole packet that has not left
  SecretVector arrived;
  std::size_t delivered = 0;  // octets of it, to the program
  bool lingered = false;
};

std::mutex mutex;
std::map<SSL*, Connection> connections;

template <class Function>
Function next_of(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

Liar& liar() {
  static Liar* one = [] {
    const char* folder = std::getenv("TKDC_TEST_LIES");
    return new Liar(folder != nullptr ? folder : "");  // threads use it until the process ends
  }();
  return *one;
}

SecretVector framed(ByteSpan packet) {
  SecretVector out;
  SecretWriter(out).bytes(packet);
  return out;
}

bool of_two() {
  static const bool is = std::getenv("TKDC_TEST_LIES_OF_TWO") != nullptr;
  return is;
}

int write_of_two(SSL* ssl, ByteSpan record, std::size_t* written) {
  static const auto next = next_of<Write>("SSL_write_ex");
  SecretVector said(record.begin(), record.end());
  {
    const std::lock_guard lock(mutex);
    if (liar().says_of_two(said) == Liar::Fate::kCut) return 0;
  }
  return next(ssl, said.data(), said.size(), written);
}

int send_packet(SSL* ssl, ByteSpan packet) {
  static const auto next = next_of<Write>("SSL_write_ex");
  const SecretVector octets = framed(packet);
  for (std::size_t at = 0; at < octets.size(); at += kRecordBytes) {
    std::size_t written = 0;
    const std::size_t bytes = std::min(kRecordBytes, octets.size() - at);
    if (const int rc = next(ssl, octets.data() + at, bytes, &written); rc != 1) return rc;
  }
  return 1;
}

// What is held goes out before anything else does.
void let_go(int lane) {
  for (auto& [ssl, connection] : connections)
    if (connection.peer.lane == lane && !connection.held.empty())
      (void)send_packet(ssl, std::exchange(connection.held, {}));
}

SecretVector* held_packet(int lane) {
  for (auto& [ssl, connection] : connections)
    if (connection.peer.lane == lane && !connection.held.empty()) return &connection.held;
  return nullptr;
}

void drop_held(int lane) {
  while (SecretVector* held = held_packet(lane)) held->clear();
}

// The program would see that the others were told something else, and close its connections. They
// are to wait for it for as long as they do (Ticker::kReceiveTimeoutMs).
void outwait() { std::this_thread::sleep_for(std::chrono::milliseconds(6'000)); }

int send_or_not(SSL* ssl, Connection& connection, SecretVector packet) {
  const int lane = connection.peer.lane;
  // The held one is of this tick if this is the tick's other packet.
  if (connection.peer.side == Neighbour::kPrev) let_go(lane);
  switch (liar().says(connection.peer, packet, held_packet(lane))) {
    case Liar::Fate::kCut: drop_held(lane); return 0;
    case Liar::Fate::kHold: connection.held = std::move(packet); return 1;
    case Liar::Fate::kWithhold:
      drop_held(lane);
      outwait();
      return 1;
    case Liar::Fate::kSend: break;
  }
  let_go(lane);
  return send_packet(ssl, packet);
}

// The program's next octets of what has arrived.
int deliver(Connection& connection, void* out, std::size_t room, std::size_t* got) {
  *got = std::min(room, connection.arrived.size() - connection.delivered);
  std::copy_n(connection.arrived.data() + connection.delivered, *got,
              static_cast<std::uint8_t*>(out));
  connection.delivered += *got;
  return 1;
}

// Its program has seen enough and closes; what the others still send is for the tap alone.
void linger(SSL* ssl) {
  constexpr int kSlices = 10, kSliceMs = 25;
  static const auto next = next_of<Read>("SSL_read_ex");
  const auto found = connections.find(ssl);
  if (found == connections.end() || found->second.lingered) return;
  Connection& connection = found->second;
  if (!liar().has_lied(connection.peer)) return;
  connection.lingered = true;
  for (int slice = 0; slice < kSlices; ++slice) {
    for (;;) {
      const MutableByteSpan wanted = connection.in.room();
      std::size_t read = 0;
      if (next(ssl, wanted.data(), wanted.size(), &read) != 1) break;
      const auto complete = connection.in.filled(read);
      if (!complete) break;
      if (!*complete) continue;
      const ByteSpan packet = connection.in.take();
      SecretVector heard(packet.begin(), packet.end());
      (void)liar().hears(connection.peer, heard);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kSliceMs));
  }
  ERR_clear_error();
  liar().closed();
}

}  // namespace

extern "C" int SSL_write_ex(SSL* ssl, const void* data, std::size_t bytes, std::size_t* written) {
  if (of_two()) return write_of_two(ssl, {static_cast<const std::uint8_t*>(data), bytes}, written);
  const std::lock_guard lock(mutex);
  Connection& connection = connections[ssl];
  const auto* from = static_cast<const std::uint8_t*>(data);
  for (std::size_t left = bytes; left > 0;) {
    const MutableByteSpan room = connection.out.room();
    const std::size_t taken = std::min(left, room.size());
    std::copy_n(from, taken, room.data());
    from += taken;
    left -= taken;
    const auto complete = connection.out.filled(taken);
    if (!complete) return 0;
    if (!*complete) continue;
    const ByteSpan packet = connection.out.take();
    const int rc = send_or_not(ssl, connection, SecretVector(packet.begin(), packet.end()));
    if (rc != 1) return rc;
  }
  *written = bytes;
  return 1;
}

extern "C" int SSL_read_ex(SSL* ssl, void* out, std::size_t room, std::size_t* got) {
  static const auto next = next_of<Read>("SSL_read_ex");
  if (of_two()) return next(ssl, out, room, got);
  const std::lock_guard lock(mutex);
  Connection& connection = connections[ssl];
  let_go(connection.peer.lane);
  while (connection.delivered == connection.arrived.size()) {
    // No octet beyond this packet: the program looks for those in OpenSSL.
    const MutableByteSpan wanted = connection.in.room();
    std::size_t read = 0;
    if (const int rc = next(ssl, wanted.data(), wanted.size(), &read); rc != 1) return rc;
    const auto complete = connection.in.filled(read);
    if (!complete) return 0;
    if (!*complete) continue;
    const ByteSpan packet = connection.in.take();
    SecretVector heard(packet.begin(), packet.end());
    if (!liar().hears(connection.peer, heard)) continue;
    connection.arrived = framed(heard);
    connection.delivered = 0;
  }
  return deliver(connection, out, room, got);
}

extern "C" int SSL_shutdown(SSL* ssl) {
  static const auto next = next_of<int (*)(SSL*)>("SSL_shutdown");
  {
    const std::lock_guard lock(mutex);
    linger(ssl);
  }
  return next(ssl);
}

extern "C" void SSL_free(SSL* ssl) {
  static const auto next = next_of<void (*)(SSL*)>("SSL_free");
  {
    const std::lock_guard lock(mutex);
    linger(ssl);
    connections.erase(ssl);
  }
  next(ssl);
}

// An answer to an agent is a message's last frame (service/server/control_plane.cc).
extern "C" int zmq_msg_send(zmq_msg_t* message, void* socket, int flags) {
  static const auto next = next_of<SendMessage>("zmq_msg_send");
  auto reply = decode_reply(
      {static_cast<const std::uint8_t*>(zmq_msg_data(message)), zmq_msg_size(message)});
  if (reply) {
    const std::lock_guard lock(mutex);
    if (!liar().answers(*reply)) reply = fail("as it is");
  }
  if (!reply) return next(message, socket, flags);
  const SecretVector frame = encode(*reply);
  zmq_msg_t changed;
  if (zmq_msg_init_size(&changed, frame.size()) != 0) return -1;
  std::copy(frame.begin(), frame.end(), static_cast<std::uint8_t*>(zmq_msg_data(&changed)));
  const int rc = next(&changed, socket, flags);
  (void)zmq_msg_close(rc < 0 ? &changed : message);
  if (rc >= 0) (void)zmq_msg_init(message);  // libzmq leaves an empty one
  return rc;
}
