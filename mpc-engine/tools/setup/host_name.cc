// SPDX-License-Identifier: Apache-2.0
#include "tools/setup/host_name.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace tkdc::setup {
namespace {

constexpr std::size_t kMaxHostBytes = 253, kMaxLabelBytes = 63;  // RFC 1035, section 2.3.4
constexpr std::uint32_t kFirstMulticast = 0xe0000000;            // and what is reserved above

std::optional<in_addr> ipv4(const std::string& text) {
  in_addr out{};
  if (::inet_pton(AF_INET, text.c_str(), &out) != 1) return std::nullopt;
  return out;
}

std::optional<in6_addr> ipv6(const std::string& text) {
  in6_addr out{};
  if (::inet_pton(AF_INET6, text.c_str(), &out) != 1) return std::nullopt;
  return out;
}

Result<std::string> checked_ipv4(const std::string& text, const in_addr& address) {
  const std::uint32_t number = ntohl(address.s_addr);
  if (number >> 24 == 0 || number >= kFirstMulticast)
    return fail("'" + text + "' is no address of one host");
  return text;
}

Result<std::string> checked_ipv6(const std::string& text, const in6_addr& address) {
  if (IN6_IS_ADDR_UNSPECIFIED(&address) || IN6_IS_ADDR_MULTICAST(&address))
    return fail("'" + text + "' is no address of one host");
  if (IN6_IS_ADDR_LINKLOCAL(&address))
    return fail("'" + text + "' is link-local, which means nothing on another host");
  if (IN6_IS_ADDR_V4MAPPED(&address))
    return fail("'" + text + "' is an IPv4 address; write it as one");
  char shortest[INET6_ADDRSTRLEN];
  ::inet_ntop(AF_INET6, &address, shortest, sizeof shortest);
  return std::string(shortest);
}

bool good_label(std::string_view label) {
  return !label.empty() && label.size() <= kMaxLabelBytes && label.front() != '-' &&
         label.back() != '-' && std::ranges::all_of(label, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

bool all_digits(std::string_view label) {
  return std::ranges::all_of(label, [](char c) { return c >= '0' && c <= '9'; });
}

Result<std::string> checked_name(std::string name) {
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  std::string_view rest = name, label;
  bool good = name.size() <= kMaxHostBytes;
  for (bool last = false; good && !last;) {
    const std::size_t dot = rest.find('.');
    last = dot == std::string_view::npos;
    label = rest.substr(0, dot);
    good = good_label(label);
    if (!last) rest.remove_prefix(dot + 1);
  }
  if (!good) return fail("'" + name + "' is neither a host's name nor an IPv4 or IPv6 address");
  // 10.0.0.300 and 10.0.1: no name ends in a number.
  if (all_digits(label)) return fail("'" + name + "' is not an IPv4 address");
  return name;
}

}  // namespace

Result<std::string> canonical_host(const std::string& text) {
  const bool bracketed = text.size() > 2 && text.front() == '[' && text.back() == ']';
  const std::string inner = bracketed ? text.substr(1, text.size() - 2) : text;
  if (auto address = ipv6(inner)) return checked_ipv6(inner, *address);
  if (bracketed || inner.find(':') != std::string::npos)
    return fail("'" + text + "' is not an IPv6 address; the port is given by itself");
  if (auto address = ipv4(inner)) return checked_ipv4(inner, *address);
  return checked_name(inner);
}

bool is_address(const std::string& host) { return ipv4(host) || ipv6(host); }

bool is_this_machine(const std::string& host) {
  if (auto address = ipv4(host)) return ntohl(address->s_addr) >> 24 == 127;
  return host == "::1" || host == "localhost";
}

std::string host_port(const std::string& host, int port) {
  const bool colons = host.find(':') != std::string::npos;
  return (colons ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string listen_host(const std::string& host) { return is_address(host) ? host : "0.0.0.0"; }

}  // namespace tkdc::setup
