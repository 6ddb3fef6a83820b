// SPDX-License-Identifier: Apache-2.0
#include "base/host_names.h"

#include <netdb.h>
#include <sys/socket.h>

#include <cstdlib>

namespace tkdc {

std::string host_of(std::string endpoint) {
  if (const std::size_t scheme = endpoint.find("://"); scheme != std::string::npos)
    endpoint.erase(0, scheme + 3);
  const std::size_t port = endpoint.rfind(':');
  if (port != std::string::npos) endpoint.erase(port);
  if (endpoint.size() > 2 && endpoint.front() == '[' && endpoint.back() == ']')
    endpoint = endpoint.substr(1, endpoint.size() - 2);
  return endpoint;
}

Lookup look_up(const std::string& host) {
  // For the resolver of this process, which is a check's: the usual patience is a minute.
  ::setenv("RES_OPTIONS", "timeout:2 attempts:1", 0);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (code == 0) ::freeaddrinfo(list);
  if (code == 0) return Lookup::kFound;
  return code == EAI_NONAME || code == EAI_NODATA ? Lookup::kUnknown : Lookup::kNotNow;
}

Result<std::string> check_names(
    const std::vector<NamedHost>& hosts,
    const std::function<Error(const std::string& key, const std::string& why)>& wrong,
    const std::string& till_then, const LookUp& look) {
  std::string remarks;
  for (const NamedHost& one : hosts) {
    const Lookup found = look(one.host);
    if (found == Lookup::kNotNow)  // and hardly about others: each would be waited for
      return remarks + (remarks.empty() ? "" : "; ") + "no name server answers about " + one.host +
             ": " + till_then + " before one does";
    if (found == Lookup::kFound) continue;
    const Error error = wrong(one.key, "there is no host " + one.host +
                                           ", neither in /etc/hosts nor in the DNS; correct its "
                                           "name, or write its address");
    if (one.own) return error;
    remarks += (remarks.empty() ? "" : "; ") + error.message;
  }
  return remarks;
}

}  // namespace tkdc
