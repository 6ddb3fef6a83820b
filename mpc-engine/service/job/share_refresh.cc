// SPDX-License-Identifier: Apache-2.0
// A refresh (docs/protocols/23-share-macs.md, "Refresh"): every record gets new shares of the same
// values, under new MACs; they take the old ones' place together, at all three servers or at none.
#include "base/machine.h"
#include "mac/common_seed.h"
#include "service/job/share_work.h"
#include "service/store/refresh_table.h"
#include "service/store/repair_table.h"
namespace tkdc {
namespace {

constexpr std::string_view kDeltaLabel = "tkdc refresh, delta 1";

SecretStream stream_of(const SecretVector& seed, int component, ByteSpan name) {
  Bytes input;
  Writer w(input);
  w.text(kDeltaLabel);
  w.u8(static_cast<std::uint8_t>(component));
  w.bytes(name);
  SecretVector key(32);
  crypto_generichash(key.data(), key.size(), input.data(), input.size(), seed.data(), seed.size());
  SecretStream stream;
  stream.begin(key);
  return stream;
}

// Components 0 and 1 have streams of their own; component 2 has their sum. So the three deltas add
// up to 0, whatever the seed is.
void add_delta(const SecretVector& seed, int party, KeyRecord& record) {
  const Bytes name = mac_name_of(record);
  for (int place = 0; place < 2; ++place) {
    const int component = (party + place) % 3;
    for (int drawn = 0; drawn < 2; ++drawn) {
      if (component != 2 && component != drawn) continue;
      SecretStream stream = stream_of(seed, drawn, name);
      for (auto& [field, value] : record.fields) {
        SecretVector& octets = value.component[place];
        SecretVector delta(octets.size());
        stream.take(delta);
        xor_bytes(octets.data(), delta.data(), octets.size());
      }
    }
  }
}

// Of the version behind it, which its delta and its MACs are bound to.
KeyRecord refreshed(const KeyRecord& old, const SecretVector& seed, int party) {
  KeyRecord record = old;
  ++record.version;
  add_delta(seed, party, record);
  return record;
}

}  // namespace

// No key may be made or removed meanwhile: jobs that do are refused from the tick on in which this
// began, and those that had begun end first.
Task<void> ShareWork::wait_for_quiet() {
  bool quiet = false;
  while (!quiet) quiet = co_await all_say_yes(lane_, !keys_at_work_());
}

Result<void> ShareWork::write_refreshed(std::vector<KeyRecord> records,
                                        std::vector<MacSubject> subjects) {
  std::vector<RefreshedKey> keys;
  for (std::size_t k = 0; k < records.size(); ++k) {
    MacRow row = macs_.row_of(records[k], std::move(subjects[k]));
    row.refresh_epoch = macs_.refresh_epoch() + 1;
    keys.push_back({std::move(records[k]), std::move(row)});
  }
  return store_.refresh()->add(keys);
}

// Audited before and after.
Task<void> ShareWork::refresh_page(Page& page, MacKeys& keys, const SecretVector& seed) {
  co_await audit(page.with);
  if (counted_.failed > 0) {
    trouble_ = "shares differ: nothing is refreshed before that is mended";
    co_return;
  }
  Batch batch;
  std::vector<KeyRecord> records;
  for (const Batch* part : {&page.with, &page.without})
    for (const auto& old : part->records) {
      // What its shares are is another protocol's.
      if (old->sharing != kReplicatedSharing) trouble_ = "a key is shared by another protocol";
      if (!trouble_.empty()) co_return;
      records.push_back(refreshed(*old, seed, lane_.party()));
      batch.records.push_back(old);
      batch.subjects.push_back(mac_subject(records.back()));
    }
  batch.bad.resize(records.size());
  const std::size_t count = records.size();
  if (count == 0) co_return;
  MacFindings findings = co_await macs_.deal(keys, batch.subjects);
  co_await find_bad(keys, batch, 0, count, std::move(findings));
  if (counted_.failed > 0) {
    trouble_ = "new shares differ: nothing was refreshed";
    co_return;
  }
  counted_.dealt += count;
  const Result<void> written = write_refreshed(std::move(records), std::move(batch.subjects));
  const bool everywhere = co_await all_say_yes(lane_, written.ok());
  if (!written.ok()) trouble_ = written.error().message;
  if (!everywhere && written.ok()) trouble_ = another_could_not("write its new shares");
}

// One after the other: first what can be undone, everywhere; then what cannot.
Task<bool> ShareWork::in_step(Result<void> mine, const char* what) {
  const bool everywhere = co_await all_say_yes(lane_, mine.ok());
  if (!mine.ok()) trouble_ = mine.error().message;
  if (!everywhere && mine.ok()) trouble_ = another_could_not(what);
  co_return everywhere;
}

// From the first commit on there is no way back, and what is written to the pair that serves is
// lost: so this session ends, and the next handshake commits wherever it could not be done here.
Task<bool> ShareWork::commit_refresh() {
  RefreshTable& table = *store_.refresh();
  Result<void> prepared = filled_ ? store_.repair()->prepare_repair(wall_s(), *filled_)
                                  : table.prepare_refresh(wall_s());
  const bool all_prepared = co_await in_step(std::move(prepared), "prepare the refresh");
  if (!all_prepared) {
    // A failure is settled like a crash here, when the next session starts.
    (void)table.abandon_refresh().ok();
    co_return false;
  }
  Result<void> committed = table.commit_refresh();
  co_await in_step(std::move(committed), "commit the refresh yet");
  co_return true;
}

// New MAC keys, on disk, and the seed of what is added.
Task<void> ShareWork::draw_for_refresh(std::unique_ptr<MacKeys>& keys, SecretVector& seed) {
  auto made = macs_.make_next_key();
  if (made.ok()) keys = std::move(*made);
  Result<void> kept;
  if (!made.ok()) kept = made.error();
  co_await in_step(std::move(kept), "store its MAC keys");
  if (!trouble_.empty()) co_return;
  seed = co_await common_seed(lane_, macs_.next().number);
  if (seed.empty()) trouble_ = "the servers have no seed in common";
}

// True: this session ends, and the next one has the new shares.
Task<bool> ShareWork::refresh() {
  co_await wait_for_quiet();
  Result<void> begun = store_.refresh()->begin();
  co_await in_step(std::move(begun), "begin a refresh");
  std::unique_ptr<MacKeys> keys;
  SecretVector seed;
  if (trouble_.empty()) co_await draw_for_refresh(keys, seed);
  while (trouble_.empty() && !over_) {
    Page page;
    counted_ = {};
    const bool there = co_await next_page(page);
    if (there) co_await refresh_page(page, *keys, seed);
    upkeep_.page(counted_);
  }
  const bool ends = trouble_.empty() && co_await commit_refresh();
  if (!ends) store_.refresh()->give_up();
  co_return ends;
}

}  // namespace tkdc
