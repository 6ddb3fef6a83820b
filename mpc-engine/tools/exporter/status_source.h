// SPDX-License-Identifier: Apache-2.0
// The status document that scrapes share: asked for at most once in kFresh, however many come.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace tkdc::exporter {

class StatusSource {
 public:
  using Ask = std::function<Result<nlohmann::json>()>;
  static constexpr std::chrono::milliseconds kFresh{1000};

  StatusSource(Ask ask, bool of_server) : ask_(std::move(ask)), of_server_(of_server) {}
  // Null: nobody answered, or not with a document. From any thread; waits for the answer.
  nlohmann::json get();
  // The document is one server's own.
  bool of_server() const { return of_server_; }

 private:
  Ask ask_;
  const bool of_server_;
  std::mutex mutex_;
  nlohmann::json document_;
  std::chrono::steady_clock::time_point asked_at_{};
};

}  // namespace tkdc::exporter
