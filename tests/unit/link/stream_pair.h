// SPDX-License-Identifier: Apache-2.0
// Two TLS streams joined by a socket pair, driven by one thread.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "link/tls_stream.h"

namespace tkdc {

struct StreamPair {
  std::unique_ptr<TlsStream> client, server;

  StreamPair() {
    EXPECT_GE(sodium_init(), 0);
    auto a = make_certificate("a"), b = make_certificate("b");
    auto client_tls = TlsContext::create(a->certificate_pem, a->private_key_pem);
    auto server_tls = TlsContext::create(b->certificate_pem, b->private_key_pem);
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    auto client_ssl = client_tls->client(b->sha256);
    auto server_ssl = server_tls->server(a->sha256);
    client = TlsStream::create(std::move(*client_ssl), UniqueFd(fds[0]), "server").value();
    server = TlsStream::create(std::move(*server_ssl), UniqueFd(fds[1]), "client").value();
    bool done = false;
    for (int i = 0; i < 100 && !done; ++i) {
      auto one = client->handshake();
      auto two = server->handshake();
      EXPECT_TRUE(one.ok()) << one.error().message;
      EXPECT_TRUE(two.ok()) << two.error().message;
      done = *one && *two;
    }
    EXPECT_TRUE(done);
  }

  // One packet across, in as many steps as the socket needs.
  static Result<ByteSpan> pass(TlsStream& from, TlsStream& to) {
    for (int i = 0; i < 100'000 && !to.has_packet(); ++i) {
      auto sent = from.flush();
      if (!sent.ok()) return sent.error();
      auto filled = to.fill();
      if (!filled.ok() && !to.has_packet()) return filled.error();
    }
    if (!to.has_packet()) return fail("no packet");
    return to.take();
  }
};

}  // namespace tkdc
