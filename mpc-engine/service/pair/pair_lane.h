// SPDX-License-Identifier: Apache-2.0
// The work of one session of two servers: jobs, one after the other, and circuits ahead while none
// waits. Server 0 leads: it says what is done next, and both do it (docs/protocols/27). Runs on the
// thread of run_session(), until the link fails, the session ends, or it is told to stop.
#pragma once

#include <atomic>

#include "service/job/answers.h"
#include "service/pair/pair_circuit_choice.h"
#include "service/pair/pair_management.h"
#include "service/pair/pair_queue.h"
#include "service/pair/pair_table_choice.h"
#include "service/pair/pair_table_wishes.h"
#include "service/pair/pair_upkeep.h"
#include "service/pair/pair_wishes.h"

namespace tkdc {

// For whoever asks for the status, from any thread.
struct PairFigures {
  std::atomic<std::size_t> prepared{0}, prepared_bytes{0}, prepared_most{0};
  std::atomic<std::uint64_t> found{0}, missed{0}, may_be_known{0};
  // Lookup tables: left of each way, octets, and at most; jobs whose AES they did, and those that
  // would have taken some if there had been enough; how long they last, or -1.
  std::atomic<std::size_t> tables_forward{0}, tables_inverse{0}, tables_bytes{0}, tables_most{0};
  std::atomic<std::uint64_t> tables_jobs{0}, tables_missed{0};
  std::atomic<std::int64_t> tables_last_s{-1};
};

class PairLane {
 public:
  PairLane(const LaneShared& shared, const PairAtWork& at_work, PairQueue& queue,
           PairWishes& wishes, PairTableWishes& table_wishes, PairFigures& figures,
           LaneFigures& of_lane, BulkReader& from_peer);

  // Why it ended; empty where it was told to stop.
  std::string run();

 private:
  using Clock = SteadyClock;

  bool leads() const { return at_work_.session.side() == pair::Side::kGarbler; }
  Result<void> lead();
  Result<void> follow();
  Result<void> name_job(const JobName& name);
  Result<void> take_named(const PairOrder& order);
  Result<void> settle(PairJob job, const PairStatement& own, const PairStatement& peers);
  Result<void> run_job(PairJob& of, PairHeld held);
  void forget_staged(const PairJob& of);
  void put_back(std::unique_ptr<Job> job);
  void choose_for(PairJob& job, PairOrder& order);
  void settle_choice(const JobName& name, std::optional<bool> by_tables);
  void leave_to_others(const PairJob& of);
  PairCircuitChoice::Supply supply_of(const std::string& kind) const;
  Result<bool> work_ahead();
  Result<bool> make_ahead();
  Result<void> keep_up();
  Result<void> order(PairOrder::Kind kind, const std::string& circuit = {});
  Result<void> say_alive();
  Result<void> answer_alive();
  Result<void> obey(const PairOrder& order);
  Result<void> prepare(const std::string& circuit);
  Result<bool> make_tables(bool few);
  Result<void> step_tables(PairTables::Way way);
  void note_tables(const PairJob& of, bool good);
  bool is_short_of_blocks() const;
  void count();

  const LaneShared shared_;
  const PairAtWork& at_work_;
  PairQueue& queue_;
  PairWishes& wishes_;
  PairTableWishes& table_wishes_;
  PairFigures& figures_;
  LaneFigures& of_lane_;
  BulkReader& from_peer_;
  PairChecks checks_;
  PairManagement management_;
  PairUpkeep upkeep_;
  Answers answers_;
  PairTableChoice choice_;
  PairCircuitChoice circuit_choice_;
  Clock::time_point last_heard_ = Clock::now();
  Clock::time_point last_job_ = Clock::now();
  Clock::time_point last_alive_ = Clock::now();
  Clock::time_point last_step_ = Clock::now();
  unsigned jobs_since_step_ = 0;
  bool left_some_ = false;  // the last job had had its quota
  std::uint64_t found_before_, missed_before_;
};

}  // namespace tkdc
