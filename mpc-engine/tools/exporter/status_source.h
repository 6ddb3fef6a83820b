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
  using Ask = std::function<Result<std::string>()>;
  static constexpr std::chrono::milliseconds kFresh{1000};

  explicit StatusSource(Ask ask) : ask_(std::move(ask)) {}
  // Null: the agent did not answer, or not with a document. From any thread; waits for the agent.
  nlohmann::json get();

 private:
  Ask ask_;
  std::mutex mutex_;
  nlohmann::json document_;
  std::chrono::steady_clock::time_point asked_at_{};
};

}  // namespace tkdc::exporter
