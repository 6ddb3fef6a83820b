// SPDX-License-Identifier: Apache-2.0
#include "storm/servers.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client.h"
#include "wire.h"

namespace tkdc::storm {
namespace {

using nlohmann::json;

constexpr unsigned kAnswerMs = 5'000;
constexpr std::chrono::seconds kEvery{1};

std::uint64_t count(const json& server, const char* field) {
  auto it = server.find(field);
  return it != server.end() && it->is_number_unsigned() ? it->get<std::uint64_t>() : 0;
}

double ratio(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

std::optional<std::string> status_document(const std::string& socket) {
  tkdc_client client{};
  if (socket.size() >= sizeof client.path) return std::nullopt;
  tkdc_client_init(&client, socket.c_str(), TKDC_ROLE_ADMIN);
  tkdc_request request{};
  request.op = TKDC_OP_STATUS;
  tkdc_reply reply{};
  tkdc_client_call(&client, &request, kAnswerMs, &reply);
  tkdc_client_close(&client);
  tkdc_span body{};
  std::optional<std::string> text;
  if (reply.status == TKDC_STATUS_OK && tkdc_reply_bytes(&reply, &body))
    text.emplace(reinterpret_cast<const char*>(body.data), body.len);
  tkdc_reply_free(&reply);
  return text;
}

}  // namespace

std::optional<ServerCounts> parse_counts(const std::string& document) {
  const json parsed = json::parse(document, nullptr, false);
  if (!parsed.is_object()) return std::nullopt;
  auto servers = parsed.find("servers");
  if (servers == parsed.end() || !servers->is_array()) return std::nullopt;
  ServerCounts counts;
  bool found = false;
  for (const json& server : *servers) {
    if (!server.is_object()) continue;
    counts.limited =
        std::max(counts.limited, count(server, "agents_limited") + count(server, "keys_limited"));
    auto party = server.find("party");
    if (party == server.end() || *party != 0 || !server.contains("rounds")) continue;
    found = true;
    counts.operations = count(server, "operations");
    counts.cohorts = count(server, "cohorts");
    counts.rounds = count(server, "rounds");
    counts.operation_rounds = count(server, "operation_rounds");
  }
  if (!found) return std::nullopt;
  return counts;
}

double BatchRow::per_cohort() const { return ratio(counts.operations, counts.cohorts); }
double BatchRow::at_once() const { return ratio(counts.operation_rounds, counts.rounds); }

std::optional<BatchRow> between(const ServerCounts& before, double before_s,
                                const ServerCounts& after, double after_s) {
  const bool anew = after.operations < before.operations || after.cohorts < before.cohorts ||
                    after.rounds < before.rounds ||
                    after.operation_rounds < before.operation_rounds;
  if (anew || after_s <= before_s) return std::nullopt;
  BatchRow row;
  row.at_s = after_s;
  row.seconds = after_s - before_s;
  row.counts.operations = after.operations - before.operations;
  row.counts.cohorts = after.cohorts - before.cohorts;
  row.counts.rounds = after.rounds - before.rounds;
  row.counts.operation_rounds = after.operation_rounds - before.operation_rounds;
  row.counts.limited =
      after.limited < before.limited ? after.limited : after.limited - before.limited;
  return row;
}

void Servers::begin() {
  if (socket_.empty() || thread_.joinable()) return;
  start_ = std::chrono::steady_clock::now();
  thread_ = std::thread([this] { ask_each_second(); });
}

void Servers::end() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

// Once more at the end: short runs have a row, too.
void Servers::ask_each_second() {
  ask();
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kEvery, [this] { return over_; })) {
    lock.unlock();
    ask();
    lock.lock();
  }
  lock.unlock();
  ask();
}

void Servers::ask() {
  const std::optional<std::string> text = status_document(socket_);
  const std::chrono::duration<double> now = std::chrono::steady_clock::now() - start_;
  const std::optional<ServerCounts> counts = text ? parse_counts(*text) : std::nullopt;
  if (!counts) {
    ++unanswered_;
    return;
  }
  if (last_)
    if (auto row = between(*last_, last_s_, *counts, now.count())) rows_.push_back(*row);
  last_ = counts;
  last_s_ = now.count();
}

}  // namespace tkdc::storm
