// SPDX-License-Identifier: Apache-2.0
// Two ends of a TCP connection on loopback, with TLS as servers use it; and a peer that writes
// into its TLS connection what it likes.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <csignal>
#include <thread>

#include "link/socket.h"
#include "link/tls_stream.h"

namespace tkdc {

inline constexpr int kLongMs = 60'000;  // never passes where all is well

inline testing::AssertionResult says(const Error& error, const std::string& what) {
  if (error.message.find(what) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << error.message << "' lacks '" << what << "'";
}

struct LoopbackPair {
  UniqueFd client_fd, server_fd;
  SslPtr client_ssl, server_ssl;

  LoopbackPair() {
    EXPECT_GE(sodium_init(), 0);
    auto a = make_certificate("a"), b = make_certificate("b");
    auto client_tls = TlsContext::create(a->certificate_pem, a->private_key_pem);
    auto server_tls = TlsContext::create(b->certificate_pem, b->private_key_pem);
    client_ssl = client_tls->client(b->sha256).value();
    server_ssl = server_tls->server(a->sha256).value();
    auto listening = listen_on("127.0.0.1:0");
    auto port = local_port(listening->get());
    client_fd = start_dial("127.0.0.1:" + std::to_string(*port)).value();
    EXPECT_TRUE(wait_ready(listening->get(), POLLIN, monotonic_ms() + 10'000));
    server_fd =
        UniqueFd(::accept4(listening->get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    EXPECT_TRUE(wait_ready(client_fd.get(), POLLOUT, monotonic_ms() + 10'000));
  }

  // The client is party 0, the server party 1.
  std::unique_ptr<TlsStream> client, server;
  void shake_hands() {
    client = TlsStream::create(std::move(client_ssl), std::move(client_fd), "party 1").value();
    server = TlsStream::create(std::move(server_ssl), std::move(server_fd), "party 0").value();
    bool done = false;
    for (int i = 0; i < 10'000 && !done; ++i) {
      auto one = client->handshake();
      auto two = server->handshake();
      ASSERT_TRUE(one.ok()) << one.error().message;
      ASSERT_TRUE(two.ok()) << two.error().message;
      done = *one && *two;
      if (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_TRUE(done);
  }
};

// The client of a pair, party 0, blocking and without any of TlsStream's rules.
class RawPeer {
 public:
  // Returns the server's end.
  std::unique_ptr<TlsStream> connect() {
    std::signal(SIGPIPE, SIG_IGN);  // of writes to an end that has gone
    LoopbackPair pair;
    fd_ = std::move(pair.client_fd);
    ssl_ = std::move(pair.client_ssl);
    const int flags = fcntl(fd_.get(), F_GETFL);
    EXPECT_EQ(fcntl(fd_.get(), F_SETFL, flags & ~O_NONBLOCK), 0);
    EXPECT_EQ(SSL_set_fd(ssl_.get(), fd_.get()), 1);
    auto server =
        TlsStream::create(std::move(pair.server_ssl), std::move(pair.server_fd), "party 0").value();
    std::thread dialling([&] { EXPECT_EQ(SSL_connect(ssl_.get()), 1); });
    for (;;) {
      auto done = server->handshake();
      EXPECT_TRUE(done.ok());
      if (!done.ok() || *done) break;
      (void)wait_ready(server->fd(), POLLIN, monotonic_ms() + 10'000);
    }
    dialling.join();
    return server;
  }

  // Octets as they are, no packet made of them.
  void write(ByteSpan octets) {
    while (!octets.empty()) {
      std::size_t n = 0;
      ASSERT_EQ(SSL_write_ex(ssl_.get(), octets.data(), octets.size(), &n), 1);
      octets = octets.subspan(n);
    }
  }
  // A packet that announces `bytes`, with this kind and so many octets behind it.
  void packet(std::size_t bytes, int kind, std::size_t octets, std::uint8_t value = 7) {
    Bytes all(5 + octets, value);
    for (std::size_t i = 0; i < 4; ++i) all[i] = static_cast<std::uint8_t>(bytes >> (24 - 8 * i));
    all[4] = static_cast<std::uint8_t>(kind);
    write(all);
  }
  // The next packet as it came, its length first; empty where the connection has ended.
  Bytes receive() {
    Bytes head = exactly(4);
    if (head.empty()) return {};
    const std::size_t bytes = std::size_t{head[0]} << 24 | std::size_t{head[1]} << 16 |
                              std::size_t{head[2]} << 8 | head[3];
    Bytes body = exactly(bytes);
    head.insert(head.end(), body.begin(), body.end());
    return head;
  }
  void die() { fd_ = UniqueFd(); }
  void say_goodbye() { SSL_shutdown(ssl_.get()); }
  int fd() const { return fd_.get(); }

 private:
  Bytes exactly(std::size_t bytes) {
    Bytes out(bytes);
    std::size_t got = 0, n = 0;
    while (got < bytes && SSL_read_ex(ssl_.get(), out.data() + got, bytes - got, &n) == 1) got += n;
    if (got < bytes) out.clear();
    return out;
  }

  UniqueFd fd_;
  SslPtr ssl_;
};

}  // namespace tkdc
