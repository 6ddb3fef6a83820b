// SPDX-License-Identifier: Apache-2.0
// Three job services whose lanes garble, with two keys: for their tests.
#pragma once

#include "rebuild_key.h"
#include "service/garbled/lane_garbling.h"
#include "support/krb5_client.h"
#include "three_services.h"

namespace tkdc::garbling_lanes {

using Use = GarblingOptions::Use;

// By sharing each of these operations takes hundreds; garbled, statements, verdicts, m1 to m3, and
// what is opened and compared at the end.
inline constexpr std::uint32_t kFewRounds = 12, kManyRounds = 200;
inline constexpr std::uint32_t kUsage = 17;

// A sanitizer's build is at work all the time.
inline constexpr double kNeverBusy = 1;

// What a server that bounds it sends to make instances.
inline constexpr int kNobody = -1;
inline constexpr std::uint64_t kSlowOctets = 40'000'000;

struct GarblingServices : ThreeServices {
  explicit GarblingServices(std::size_t lanes = 1, Use use = Use::kAuto, Use leaders = Use::kAuto,
                            std::chrono::microseconds far = std::chrono::hours(1),
                            int slow = kNobody, double most_busy = kNeverBusy)
      : ThreeServices(lanes, 1, std::uint64_t{1} << 38, 0, Security::kMalicious, nullptr,
                      [this, use, leaders, far, slow, most_busy](JobServiceOptions& options) {
                        options.garbling.use = options.party == 0 ? leaders : use;
                        options.garbling.far = far;
                        options.garbling.most_busy = most_busy;
                        if (options.party == slow) options.garbling.octets_per_s = kSlowOctets;
                        options.trouble = [this](const std::string& text) {
                          std::lock_guard lock(troubles_mutex);
                          troubles.push_back(text);
                        };
                      }) {
    key = some_bytes(32);
    ref = make_key("host/a.test@A.TEST", 18, key);
    user = make_key("alice@A.TEST", 18, key);
    lane_streams = true;
    restart(2, [](int) {});
  }
  // All that is wanted of so many kinds stands ready, at all three.
  bool ready(std::uint64_t kinds, std::uint64_t instances) {
    for (int tries = 0; tries < 9000; ++tries) {
      int good = 0;
      for (int p = 0; p < 3; ++p) {
        const JobServiceStatus now = service(p).status();
        good += now.garbled_kinds == kinds && now.garbled_ready == instances ? 1 : 0;
      }
      if (good == 3) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  bool ready(std::uint64_t kinds) { return ready(kinds, kinds * GarblingOptions().instances); }
  std::uint64_t made() { return service(0).status().garbled_made; }
  Bytes checksum(const Bytes& data) { return test::Krb5Client(18, key).checksum(kUsage, data); }
  // So long after so many jobs were sent; they are answered over the next ones.
  void lose_connections(int jobs, std::chrono::milliseconds after, const Bytes& data,
                        const Bytes& sum) {
    std::vector<JobName> names;
    for (int k = 0; k < jobs; ++k) names.push_back(send(mac(data)));
    std::this_thread::sleep_for(after);
    close_links("the network is gone");
    join();
    go_on();
    for (const JobName& name : names) {
      const Answer answer = wait(name);
      EXPECT_EQ(answer.status(), TKDC_STATUS_OK);
      EXPECT_EQ(answer.output(), sum);
    }
  }
  Job mac(const Bytes& data) const { return {TKDC_OP_MAC, ref, kUsage, {}, data}; }

  Bytes key;
  KeyRef ref, user;
  std::mutex troubles_mutex;
  std::vector<std::string> troubles;
};

inline std::uint32_t rounds(const Answer& answer) { return answer.reply[0].cost.rounds; }

}  // namespace tkdc::garbling_lanes
