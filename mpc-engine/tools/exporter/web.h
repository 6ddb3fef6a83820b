// SPDX-License-Identifier: Apache-2.0
// What tkdc-exporter answers over HTTP, by civetweb:
//
//   GET /metrics   Prometheus' text format
//   GET /livez     200: this process works
//   GET /readyz    200: the realm is healthy, as `tkdc status` says it; else 503, and each check
//                  that failed, on a line
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "tools/exporter/status_source.h"

namespace tkdc::exporter {

class Web {
 public:
  // `listen`: "127.0.0.1:PORT" or "[::1]:PORT". There is no password: whoever reaches the port may
  // read, and only programs of this host do. Error: another address, or it is taken.
  static Result<std::unique_ptr<Web>> open(const std::string& listen, StatusSource& source);
  virtual ~Web() = default;
};

}  // namespace tkdc::exporter
