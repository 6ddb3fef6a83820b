// SPDX-License-Identifier: Apache-2.0
#include "storm/session.h"

#include <iostream>

namespace tkdc::storm {
namespace {

constexpr double kTicketsPerSecond = 50;
constexpr int kTicketRounds = 5;

Storm* running = nullptr;

Nanoseconds from_s(double seconds) { return static_cast<Nanoseconds>(seconds * kSecond); }

StormTerms storm_terms(const Options& o) {
  StormTerms terms;
  for (double ms : o.retransmit_ms) terms.retransmit_after.push_back(from_s(ms / 1000));
  terms.timeout = from_s(o.timeout_ms / 1000);
  terms.copies = o.copies;
  return terms;
}

std::string first_trouble(const Recorder& recorder) {
  if (!recorder.wrongs().empty()) return recorder.wrongs().begin()->first;
  if (!recorder.errors().empty()) return error_name(recorder.errors().begin()->first);
  return "no answer";
}

}  // namespace

Session::Session(const Options& options, Workload& workload, Transport& transport, Noise& noise,
                 Watch& watch, Servers& servers, Results& results)
    : o_(options), workload_(workload), watch_(watch), servers_(servers), results_(results),
      storm_(storm_terms(options), workload, transport, noise) {
  running = &storm_;
}

Session::~Session() { running = nullptr; }

void Session::stop() {
  if (running != nullptr) running->stop();
}

Result<void> Session::collect_tickets() {
  Recorder unused;
  std::size_t wanted = std::min(o_.tickets, workload_.users());
  workload_.collect_tickets(true);
  for (int i = 0; i < kTicketRounds && workload_.tickets() < wanted && !storm_.stopped(); ++i) {
    Nanoseconds start = monotonic();
    auto missing = static_cast<double>(wanted - workload_.tickets());
    OpenSchedule schedule(kTicketsPerSecond, start, start + from_s(missing / kTicketsPerSecond),
                          false, workload_.users(), workload_.tickets());
    storm_.run(schedule, 0, unused);
  }
  workload_.collect_tickets(false);
  if (workload_.tickets() == 0) return fail("no TGT for --tgs: " + first_trouble(unused));
  return {};
}

void Session::measure() {
  if (o_.warmup_s > 0) {
    Recorder unused;
    storm_.on_second = [this](const Second& s) { say("warmup", s); };
    run(o_.ramp() ? o_.ramp_from : o_.rate, o_.warmup_s, unused);
  }
  watch_.begin();
  servers_.begin();
  storm_.on_second = [this](const Second& s) {
    watch_.tick();
    say("", s);
  };
  if (o_.ramp())
    ramp();
  else
    run(o_.rate, o_.duration_s, results_.recorder);
  watch_.tick();
  servers_.end();
  results_.interrupted = storm_.stopped();
}

void Session::say(const char* what, const Second& second) const {
  if (!o_.quiet) std::cerr << what << progress_line(second) << "\n";
}

void Session::run(double rate, double seconds, Recorder& recorder) {
  Nanoseconds start = monotonic(), end = start + from_s(seconds);
  if (o_.clients > 0) {
    double pause_s = o_.pause_ms / 1000;
    ClosedSchedule schedule(o_.clients, from_s(pause_s), start, end,
                            from_s(std::min(seconds, pause_s)));
    storm_.run(schedule, 0, recorder);
    return;
  }
  OpenSchedule schedule(rate, start, end, o_.poisson, workload_.users(), next_user_);
  storm_.run(schedule, rate, recorder);
  next_user_ += static_cast<std::uint64_t>(rate * seconds);
}

RampStep Session::step(double rate, Recorder& recorder) {
  run(rate, o_.duration_s, recorder);
  Counts c = recorder.totals();
  const Histogram& h = recorder.latency();
  RampStep step{rate,
                static_cast<double>(c.ok + c.refused) / recorder.duration_s,
                static_cast<double>(h.percentile(99)) / 1000,
                static_cast<double>(h.max()) / 1000,
                c,
                false};
  bool complete = c.errors + c.wrong + c.lost + c.unsent == 0;
  // Latency counts from the schedule: a rate that is not kept up shows there.
  step.passed = complete && step.p99_ms <= o_.limit_ms;
  return step;
}

// The best step stands for the run; if none passes, the last one.
void Session::ramp() {
  Ramp search(o_.ramp_from, o_.ramp_factor, o_.ramp_refinements, o_.ramp_to);
  bool wrong = false;
  while (std::optional<double> rate = search.next()) {
    Recorder recorder;
    RampStep made = step(*rate, recorder);
    if (storm_.stopped()) break;
    results_.steps.push_back(made);
    if (!o_.quiet)
      std::cerr << "step " << *rate << "/s " << (made.passed ? "passed" : "missed") << "\n";
    bool stands = made.passed ? *rate > search.best() : search.best() <= 0;
    // A step with a wrong answer is what the run is remembered for.
    if ((stands && !wrong) || made.counts.wrong > 0) results_.recorder = recorder;
    wrong = wrong || made.counts.wrong > 0;
    search.judge(made.passed);
  }
  results_.best_rate = search.best();
}

}  // namespace tkdc::storm
