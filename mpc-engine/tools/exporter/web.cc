// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/web.h"

#include <prometheus/text_serializer.h>

#include <CivetServer.h>

#include <functional>
#include <string_view>
#include <vector>

#include "tools/cli/status_table.h"
#include "tools/exporter/metrics.h"

namespace tkdc::exporter {
namespace {

constexpr const char* kText = "text/plain; version=0.0.4; charset=utf-8";

// Answers GET, and refuses all else.
class Page : public CivetHandler {
 public:
  struct Answer {
    int status = 200;
    std::string text;
  };
  explicit Page(std::function<Answer()> answer) : answer_(std::move(answer)) {}

  bool handleGet(CivetServer*, mg_connection* connection) override {
    const Answer answer = answer_();
    mg_printf(connection,
              "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
              "Connection: close\r\n\r\n",
              answer.status, answer.status == 200 ? "OK" : "Service Unavailable", kText,
              answer.text.size());
    mg_write(connection, answer.text.data(), answer.text.size());
    return true;
  }

 private:
  std::function<Answer()> answer_;
};

class CivetWeb final : public Web {
 public:
  CivetWeb(const std::vector<std::string>& options, StatusSource& source)
      : metrics_([&source] {
          return Page::Answer{200, prometheus::TextSerializer().Serialize(
                                       metrics_of(source.get(), source.of_server()))};
        }),
        live_([] {
          return Page::Answer{200, "ok\n"};
        }),
        ready_([&source] {
          const nlohmann::json document = source.get();
          if (!document.is_object())
            return Page::Answer{503, source.of_server() ? "the server does not answer\n"
                                                        : "the agent does not answer\n"};
          std::string faults;
          for (const std::string& fault : cli::faults_of(document)) faults += fault + "\n";
          return faults.empty() ? Page::Answer{200, "ok\n"} : Page::Answer{503, faults};
        }),
        server_(options) {
    server_.addHandler("/metrics$", metrics_);
    server_.addHandler("/livez$", live_);
    server_.addHandler("/readyz$", ready_);
  }

 private:
  Page metrics_, live_, ready_;
  CivetServer server_;
};

bool is_loopback(const std::string& listen) {
  for (const std::string_view host : {"127.0.0.1:", "[::1]:"}) {
    if (!listen.starts_with(host)) continue;
    const std::string port = listen.substr(host.size());
    constexpr std::size_t kMostDigits = 5;
    return !port.empty() && port.size() <= kMostDigits &&
           port.find_first_not_of("0123456789") == std::string::npos && std::stoi(port) <= 65'535;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<Web>> Web::open(const std::string& listen, StatusSource& source) {
  if (!is_loopback(listen))
    return fail("--listen " + listen +
                ": must be 127.0.0.1:PORT or [::1]:PORT; for other hosts put a proxy in front that "
                "asks who they are");
  // Two at once: a scrape, and somebody who looks.
  const std::vector<std::string> options = {
      "listening_ports",   listen, "num_threads",      "2",    "request_timeout_ms",       "5000",
      "enable_keep_alive", "no",   "max_request_size", "4096", "enable_directory_listing", "no"};
  try {
    return std::unique_ptr<Web>(new CivetWeb(options, source));
  } catch (const CivetException&) {
    return fail("cannot listen on " + listen + "; is another program there?");
  }
}

}  // namespace tkdc::exporter
