// SPDX-License-Identifier: Apache-2.0
#include "tools/exporter/status_source.h"

namespace tkdc::exporter {

nlohmann::json StatusSource::get() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  const bool is_first = asked_at_ == std::chrono::steady_clock::time_point{};
  if (!is_first && now - asked_at_ < kFresh) return document_;
  const Result<nlohmann::json> said = ask_();
  document_ = said.ok() ? *said : nlohmann::json();
  if (!document_.is_object()) document_ = nullptr;
  asked_at_ = std::chrono::steady_clock::now();
  return document_;
}

}  // namespace tkdc::exporter
