// SPDX-License-Identifier: Apache-2.0
#include "link/tls_network.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/system_error.h"
#include "link/socket.h"
#include "link/tls_bulk_stream.h"
#include "link/tls_link.h"

namespace tkdc {
namespace {

// What a network's streams have in common.
struct Habits {
  std::uint64_t records_per_key;
  std::string pin_advice;
};

Result<std::unique_ptr<PacketStream>> make_stream(Result<SslPtr> ssl, UniqueFd fd, std::string peer,
                                                  const Habits& habits) {
  if (!ssl.ok()) return ssl.error();
  auto stream = TlsStream::create(std::move(*ssl), std::move(fd), std::move(peer));
  if (!stream.ok()) return stream.error();
  (*stream)->set_records_per_key(habits.records_per_key);
  (*stream)->set_pin_advice(habits.pin_advice);
  return std::unique_ptr<PacketStream>(std::move(*stream));
}

class TlsListener final : public Listener {
 public:
  TlsListener(const TlsContext& tls, const Habits& habits, UniqueFd fd, int port, UniqueFd wake,
              const PeerPin& pin)
      : tls_(tls), habits_(habits), fd_(std::move(fd)), port_(port), wake_(std::move(wake)),
        pin_(pin) {}

  Result<std::unique_ptr<PacketStream>> accept() override {
    for (;;) {
      UniqueFd fd(accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!fd) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) return std::unique_ptr<PacketStream>();
        return system_error("cannot accept", "raise LimitNOFILE of the service");
      }
      tune_socket(fd.get());
      return make_stream(tls_.server(pin_), std::move(fd), "an unknown caller", habits_);
    }
  }

  void wait(std::vector<pollfd>& watched, int most_ms) override {
    watched.push_back({fd_.get(), POLLIN, 0});
    watched.push_back({wake_.get(), POLLIN, 0});
    if (poll(watched.data(), watched.size(), most_ms) < 0)
      for (pollfd& one : watched) one.revents = 0;
    watched.resize(watched.size() - 2);
  }

  void interrupt() override {
    std::uint64_t one = 1;
    [[maybe_unused]] ssize_t n = write(wake_.get(), &one, sizeof one);
  }

  int port() const override { return port_; }

 private:
  const TlsContext& tls_;
  const Habits& habits_;
  const UniqueFd fd_;
  const int port_;
  const UniqueFd wake_;
  const PeerPin pin_;
};

class TlsNetwork final : public Network {
 public:
  TlsNetwork(TlsContext tls, Habits habits) : tls_(std::move(tls)), habits_(std::move(habits)) {}

  Result<std::unique_ptr<Listener>> listen(const std::string& address,
                                           const PeerPin& pin) override {
    auto fd = listen_on(address);
    if (!fd.ok()) return fd.error();
    auto port = local_port(fd->get());
    if (!port.ok()) return port.error();
    UniqueFd wake(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!wake) return system_error("link: no eventfd", "raise LimitNOFILE of the service");
    return std::unique_ptr<Listener>(
        std::make_unique<TlsListener>(tls_, habits_, std::move(*fd), *port, std::move(wake), pin));
  }

  Result<std::unique_ptr<PacketStream>> dial(const std::string& address, const PeerPin& pin,
                                             std::string name) override {
    auto fd = start_dial(address);
    if (!fd.ok()) return fd.error();
    return make_stream(tls_.client(pin), std::move(*fd), std::move(name), habits_);
  }

  Result<std::unique_ptr<Link>> link(std::unique_ptr<PacketStream> prev,
                                     std::unique_ptr<PacketStream> next,
                                     std::shared_ptr<LinkBreaker> breaker) override {
    auto made = TlsLink::create(own(std::move(prev)), own(std::move(next)), std::move(breaker));
    if (!made.ok()) return made.error();
    return std::unique_ptr<Link>(std::move(*made));
  }

  Result<std::unique_ptr<BulkWriter>> bulk_writer(std::unique_ptr<PacketStream> stream) override {
    return make_tls_bulk_writer(own(std::move(stream)));
  }
  Result<std::unique_ptr<BulkReader>> bulk_reader(std::unique_ptr<PacketStream> stream) override {
    return make_tls_bulk_reader(own(std::move(stream)));
  }

 private:
  static std::unique_ptr<TlsStream> own(std::unique_ptr<PacketStream> stream) {
    return std::unique_ptr<TlsStream>(static_cast<TlsStream*>(stream.release()));
  }

  const TlsContext tls_;
  const Habits habits_;
};

}  // namespace

Result<std::unique_ptr<Network>> make_tls_network(const TlsNetworkOptions& options) {
  auto tls = options.anonymous ? TlsContext::anonymous()
                               : TlsContext::create(options.certificate_pem,
                                                    options.private_key_pem, options.records);
  if (!tls.ok()) return tls.error();
  return std::unique_ptr<Network>(std::make_unique<TlsNetwork>(
      std::move(*tls), Habits{options.records_per_key, options.pin_advice}));
}

}  // namespace tkdc
