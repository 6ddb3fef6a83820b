// SPDX-License-Identifier: Apache-2.0
// storm-wan: machines far from one another, on one machine. It makes network namespaces, one
// for each node, joined by nothing but this program: in each a TUN device with the address
// 10.99.0.(k+1), and what leaves one arrives at another after the delay.
//
// Nothing of the host's network is touched, no name or file is left, and all of it ends with
// the last process in it: namespaces live by the descriptors that this program holds, which
// others enter by /proc/PID/fd/N (nsenter --net=...).
//
// stdout: one line for each node, "node K ADDRESS PATH", then "ready". stdin: "delay MS", one
// way, answered by "delay MS"; its end ends the program. Packets pass whole up to 64 KB, as
// the kernel forms them for a device that segments (TUN_F_TSO4): the line's width is not what
// is measured. Exit status: 2 where namespaces or TUN devices cannot be had (it needs root).
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/system_error.h"
#include "storm/delay_line.h"
#include "storm/transport.h"

namespace {

using namespace tkdc;
using namespace tkdc::storm;

constexpr std::size_t kMaxNodes = 16;
constexpr std::size_t kPacketBytes = 70'000;  // 64 KB, and headers
constexpr std::size_t kLineBytes = 512 << 20;
constexpr double kMaxDelayMs = 10'000;
constexpr int kMtu = 1500;
// struct virtio_net_hdr, whose header is no C++: what the kernel says of a packet to be segmented.
constexpr int kVnetHeader = 10;
constexpr const char* kDevice = "wan0";

struct Node {
  int tun = -1, net = -1;
};

std::string address_of(std::size_t node) {
  std::string text;
  for (std::uint8_t part : kWanPrefix) text += std::to_string(part) + ".";
  return text + std::to_string(node + 1);
}

Error failed(const std::string& what) {
  return system_error(what, errno == EPERM || errno == EACCES ? "it needs root" : "");
}

void set_ipv4(sockaddr& where, const std::string& text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  std::memcpy(&where, &address, sizeof address);
}

ifreq request_for(const char* device) {
  ifreq request{};
  std::strncpy(request.ifr_name, device, sizeof request.ifr_name - 1);
  return request;
}

bool bring_up(int control, const char* device) {
  ifreq request = request_for(device);
  if (::ioctl(control, SIOCGIFFLAGS, &request) != 0) return false;
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_RUNNING);
  return ::ioctl(control, SIOCSIFFLAGS, &request) == 0;
}

// In the namespace of the calling thread.
bool set_up_interfaces(std::size_t node) {
  const int control = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (control < 0) return false;
  ifreq request = request_for(kDevice);
  set_ipv4(request.ifr_addr, address_of(node));
  bool good = ::ioctl(control, SIOCSIFADDR, &request) == 0;
  set_ipv4(request.ifr_netmask, "255.255.255.0");
  good = good && ::ioctl(control, SIOCSIFNETMASK, &request) == 0;
  request.ifr_mtu = kMtu;
  good = good && ::ioctl(control, SIOCSIFMTU, &request) == 0;
  request.ifr_qlen = 10'000;
  good = good && ::ioctl(control, SIOCSIFTXQLEN, &request) == 0;
  good = good && bring_up(control, kDevice) && bring_up(control, "lo");
  const int error = errno;
  ::close(control);
  errno = error;
  return good;
}

// This thread is in the node's namespace afterwards.
Result<Node> make_node(std::size_t number) {
  if (::unshare(CLONE_NEWNET) != 0) return failed("no network namespace");
  Node node;
  node.net = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (node.net < 0) return failed("/proc/thread-self/ns/net");
  node.tun = ::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (node.tun < 0) return failed("/dev/net/tun");
  ifreq request = request_for(kDevice);
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  if (::ioctl(node.tun, TUNSETIFF, &request) != 0) return failed("no TUN device");
  if (::ioctl(node.tun, TUNSETVNETHDRSZ, &kVnetHeader) != 0) return failed("TUNSETVNETHDRSZ");
  if (::ioctl(node.tun, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) != 0)
    return failed("a TUN device that does not segment");
  if (!set_up_interfaces(number)) return failed("the interfaces of a namespace");
  return node;
}

class Wan {
 public:
  explicit Wan(std::vector<Node> nodes)
      : nodes_(std::move(nodes)), line_(kLineBytes), buffer_(kPacketBytes) {
    for (const Node& node : nodes_) waiting_.push_back({node.tun, POLLIN, 0});
    waiting_.push_back({STDIN_FILENO, POLLIN, 0});
  }

  // Until stdin ends.
  void run() {
    for (;;) {
      const auto next = line_.next();
      timespec pause{};
      if (next) {
        const Nanoseconds left = std::max<Nanoseconds>(0, *next - monotonic());
        pause = {left / kSecond, left % kSecond};
      }
      if (::ppoll(waiting_.data(), waiting_.size(), next ? &pause : nullptr, nullptr) < 0 &&
          errno != EINTR)
        return;
      deliver();
      for (std::size_t k = 0; k < nodes_.size(); ++k)
        if (waiting_[k].revents != 0) take(nodes_[k]);
      if (waiting_.back().revents != 0 && !hear()) return;
    }
  }

 private:
  // A packet that the other side does not take is lost.
  void deliver() {
    while (auto packet = line_.pop(monotonic()))
      if (::write(nodes_[packet->node].tun, packet->octets.data(), packet->octets.size()) < 0)
        ++refused_;
  }

  void take(const Node& node) {
    for (;;) {
      const ssize_t got = ::read(node.tun, buffer_.data(), buffer_.size());
      if (got <= kVnetHeader) return;
      const ByteSpan whole(buffer_.data(), static_cast<std::size_t>(got));
      if (auto to = wan_destination(whole.subspan(kVnetHeader), nodes_.size()))
        line_.push(monotonic(), *to, whole);
    }
  }

  // False when stdin has ended.
  bool hear() {
    char text[256];
    const ssize_t got = ::read(STDIN_FILENO, text, sizeof text);
    if (got <= 0) return false;
    heard_.append(text, static_cast<std::size_t>(got));
    for (std::size_t end; (end = heard_.find('\n')) != std::string::npos;) {
      obey(heard_.substr(0, end));
      heard_.erase(0, end + 1);
    }
    return heard_.size() < sizeof text;
  }

  void obey(const std::string& line) {
    constexpr std::string_view kWord = "delay ";
    double ms = -1;
    if (line.starts_with(kWord))
      std::from_chars(line.data() + kWord.size(), line.data() + line.size(), ms);
    if (!(ms >= 0 && ms <= kMaxDelayMs)) {
      std::cout << "not understood" << std::endl;
      return;
    }
    line_.set_delay(static_cast<Nanoseconds>(ms * kMs));
    std::cout << "delay " << ms << " lost " << line_.lost() + refused_ << std::endl;
  }

  const std::vector<Node> nodes_;
  DelayLine line_;
  Bytes buffer_;
  std::vector<pollfd> waiting_;
  std::string heard_;
  std::uint64_t refused_ = 0;
};

int give_up(const std::string& why) {
  std::cerr << "storm-wan: " << why << "\n";
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  CLI::App app("joins network namespaces, and delays what goes between them");
  app.add_option("nodes", count, "how many")
      ->required()
      ->check(CLI::Range(std::size_t{1}, kMaxNodes));
  CLI11_PARSE(app, argc, argv);
  std::vector<Node> nodes;
  for (std::size_t k = 0; k < count; ++k) {
    auto node = make_node(k);
    if (!node) return give_up(node.error().message);
    nodes.push_back(*node);
  }
  ::prctl(PR_SET_TIMERSLACK, 1UL);            // arrive when due, not 50 us later
  (void)::setpriority(PRIO_PROCESS, 0, -15);  // as a wire, which waits for no program
  for (std::size_t k = 0; k < count; ++k)
    std::cout << "node " << k << " " << address_of(k) << " /proc/" << ::getpid() << "/fd/"
              << nodes[k].net << "\n";
  std::cout << "ready" << std::endl;
  Wan(std::move(nodes)).run();
  return 0;
}
