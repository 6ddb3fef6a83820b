// SPDX-License-Identifier: Apache-2.0
#include "service/job/share_work.h"

#include <algorithm>

#include "base/hex.h"

namespace tkdc {
namespace {

constexpr std::size_t kPageKeys = 256;
constexpr std::size_t kHoldingBytes = 8;
constexpr std::size_t kListingBytes = 1 + 2 + 32 + kPageKeys * kHoldingBytes;
constexpr std::uint8_t kReadable = 1;

using Holding = std::array<std::uint8_t, kHoldingBytes>;

Holding digest_of(const Dealing& dealing) {
  Bytes text;
  Writer w(text);
  put_dealing(w, dealing);
  std::uint8_t digest[16];
  crypto_generichash(digest, sizeof digest, text.data(), text.size(), nullptr, 0);
  Holding out;
  std::copy_n(digest, kHoldingBytes, out.begin());
  return out;
}

// Of which dealing this server has tags that can be proved now; zeros: of none.
class Holdings {
 public:
  Holdings(const MacKeys& keys, std::uint32_t refresh_epoch)
      : keys_(keys), refresh_epoch_(refresh_epoch) {}

  Holding of(const std::optional<MacRow>& row, const KeyRecord& record) {
    if (!row || row->key != keys_.id() || row->version != record.version ||
        row->refresh_epoch != refresh_epoch_)
      return {};
    // A page was mostly dealt at once.
    if (last_ != row->dealing) {
      last_ = row->dealing;
      digest_ = digest_of(row->dealing);
    }
    return digest_;
  }

 private:
  const MacKeys& keys_;
  const std::uint32_t refresh_epoch_;
  std::optional<Dealing> last_;
  Holding digest_{};
};

// readable u8 | keys u16 | digest of ids and names | a holding for each place of a page
Bytes listing_of(const std::vector<StoredKey>& keys, const std::vector<Bytes>& names_of,
                 Holdings mine) {
  Bytes out;
  out.reserve(kListingBytes);
  Bytes names, holdings;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    Writer(names).bytes(names_of[k]);
    const Holding holding = mine.of(keys[k].macs, *keys[k].record);
    holdings.insert(holdings.end(), holding.begin(), holding.end());
  }
  std::uint8_t digest[32];
  crypto_generichash(digest, sizeof digest, names.data(), names.size(), nullptr, 0);
  Writer w(out);
  w.u8(kReadable);
  w.u16(static_cast<std::uint16_t>(keys.size()));
  w.raw(digest);
  w.raw(holdings);
  out.resize(kListingBytes);
  return out;
}

ByteSpan head_of(const Bytes& listing) { return ByteSpan(listing).first(1 + 2 + 32); }

ByteSpan holding_at(const Bytes& listing, std::size_t k) {
  return ByteSpan(listing).subspan(head_of(listing).size() + k * kHoldingBytes, kHoldingBytes);
}

bool is_none(ByteSpan holding) {
  return std::ranges::all_of(holding, [](std::uint8_t octet) { return octet == 0; });
}

Bytes digest_of(const std::array<Bytes, 3>& listings) {
  Bytes all, out(32);
  for (const Bytes& one : listings) all.insert(all.end(), one.begin(), one.end());
  crypto_generichash(out.data(), out.size(), all.data(), all.size(), nullptr, 0);
  return out;
}

// Empty: they list the same keys.
std::string difference(const std::array<Bytes, 3>& listings) {
  for (std::size_t p = 0; p < 3; ++p)
    if (listings[p][0] != kReadable)
      return "server " + std::to_string(p) + " cannot read its store";
  for (std::size_t p = 0; p < 3; ++p) {
    const ByteSpan mine = head_of(listings[p]), next = head_of(listings[(p + 1) % 3]),
                   prev = head_of(listings[(p + 2) % 3]);
    if (std::ranges::equal(next, prev) && !std::ranges::equal(mine, next))
      return "the store of server " + std::to_string(p) + " has other records than the others'";
  }
  return std::ranges::equal(head_of(listings[0]), head_of(listings[1]))
             ? ""
             : "the stores of all three servers have different records";
}

}  // namespace

// A server that holds MACs of another dealing than the others, or none where they do, was left
// behind by a crash, or returns an old state: said, and not mended but by dealing anew.
void ShareWork::tell_difference(const KeyRecord& record, const std::array<Bytes, 3>& listings,
                                std::size_t k) {
  std::string whose = "all three servers";
  for (std::size_t p = 0; p < 3; ++p)
    if (std::ranges::equal(holding_at(listings[(p + 1) % 3], k),
                           holding_at(listings[(p + 2) % 3], k)))
      whose = "server " + std::to_string(p) + " and the two others";
  ++counted_.failed;
  alarm_.raise("audit of shares: key " + to_hex(record.ref.id) + ": " + whose +
                   " hold MACs of different dealings; `tkdc shares deal` deals new ones",
               &record);
}

void ShareWork::sort_page(std::vector<StoredKey> keys, std::vector<Bytes> names,
                          const std::array<Bytes, 3>& listings, Page& page) {
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const ByteSpan first = holding_at(listings[0], k);
    const bool same = std::ranges::equal(first, holding_at(listings[1], k)) &&
                      std::ranges::equal(first, holding_at(listings[2], k));
    const bool has = same && !is_none(first);
    if (!same && task_ != ShareTask::kDeal) tell_difference(*keys[k].record, listings, k);
    Batch& batch = has ? page.with : page.without;
    ++counted_.looked_at;
    if (!has) ++counted_.without;
    // It was dealt some that nobody can check now: the MAC key is another one, say.
    if (!has && same && keys[k].macs) ++counted_.stale;
    if (keys[k].unreadable)
      alarm_.raise("audit of shares: this server cannot read its MACs of key " +
                       to_hex(keys[k].record->ref.id),
                   keys[k].record.get());
    if (task_ != ShareTask::kRefresh && has != (task_ == ShareTask::kAudit)) continue;
    MacSubject subject = mac_subject(*keys[k].record, std::move(names[k]));
    if (has) add_tags(subject, std::move(*keys[k].macs));
    batch.records.push_back(keys[k].record);
    batch.subjects.push_back(std::move(subject));
  }
  for (Batch* batch : {&page.with, &page.without}) batch->bad.resize(batch->records.size());
}

Bytes ShareWork::my_listing(const std::vector<StoredKey>& keys, std::vector<Bytes>& names) const {
  for (const StoredKey& one : keys) names.push_back(mac_name_of(*one.record));
  return listing_of(keys, names, Holdings(macs_.keys(), macs_.refresh_epoch()));
}

std::string ShareWork::another_could_not(const std::string& what) {
  return "another server could not " + what +
         ": `tkdc shares status` on the other servers' hosts says which, and why";
}

// False: no more, or trouble_.
Task<bool> ShareWork::next_page(Page& page) {
  auto read = store_.macs()->page(at_, kPageKeys);
  if (!read.ok()) alarm_.raise("audit of shares: " + read.error().message, nullptr);
  std::vector<Bytes> names;
  Bytes mine = read.ok() ? my_listing(*read, names) : Bytes(kListingBytes);
  FromBoth others = co_await lane_.exchange(mine);
  const auto listings = by_party(lane_.party(), std::move(mine), std::move(others));
  if (lane_.security() == Security::kMalicious) {
    Bytes about = digest_of(listings);
    FromBoth ignored = co_await lane_.agree(std::move(about), Bytes());
  }
  trouble_ = difference(listings);
  if (!trouble_.empty()) {
    alarm_.raise("audit of shares: " + trouble_, nullptr);
    co_return false;
  }
  over_ = read->size() < kPageKeys;
  if (!read->empty()) at_ = read->back().record->ref.id;
  sort_page(std::move(*read), std::move(names), listings, page);
  co_return true;
}

// Halves what failed until the records are named. Each audit has a mask of its own.
Task<void> ShareWork::find_bad(MacKeys& keys, Batch& batch, std::size_t from, std::size_t count,
                               MacFindings findings) {
  if (findings.good()) co_return;
  if (count == 1) {
    batch.bad[from] = true;
    ++counted_.failed;
    alarm_.raise(*batch.records[from], findings);
    co_return;
  }
  const std::size_t half = count / 2;
  const std::span<const MacSubject> all(batch.subjects);
  const Dealing first = macs_.next();
  MacFindings low = co_await check_macs(lane_, keys, first, all.subspan(from, half));
  co_await find_bad(keys, batch, from, half, std::move(low));
  const Dealing second = macs_.next();
  MacFindings high =
      co_await check_macs(lane_, keys, second, all.subspan(from + half, count - half));
  co_await find_bad(keys, batch, from + half, count - half, std::move(high));
}

Task<void> ShareWork::audit(Batch& batch) {
  const std::size_t count = batch.subjects.size();
  if (count == 0) co_return;
  const Dealing attempt = macs_.next();
  MacFindings findings = co_await check_macs(lane_, macs_.keys(), attempt, batch.subjects);
  co_await find_bad(macs_.keys(), batch, 0, count, std::move(findings));
  counted_.audited += count;
}

Result<void> ShareWork::write(Batch& batch) {
  std::vector<NamedMacs> rows;
  for (std::size_t k = 0; k < batch.records.size(); ++k)
    if (!batch.bad[k])
      rows.push_back({batch.records[k]->ref.id,
                      macs_.row_of(*batch.records[k], std::move(batch.subjects[k]))});
  auto written = store_.macs()->put(rows);
  if (written.ok()) counted_.dealt += rows.size();
  return written;
}

// Audited before they are written.
Task<void> ShareWork::deal(Batch& batch) {
  const std::size_t count = batch.subjects.size();
  if (count == 0) co_return;
  MacFindings findings = co_await macs_.deal(batch.subjects);
  co_await find_bad(macs_.keys(), batch, 0, count, std::move(findings));
  counted_.audited += count;
  const Result<void> written = write(batch);
  const bool everywhere = co_await all_say_yes(lane_, written.ok());
  if (!written.ok()) trouble_ = written.error().message;
  if (!everywhere && written.ok()) trouble_ = another_could_not("write its MACs");
}

void ShareWork::finish() {
  const ShareUpkeepStatus all = upkeep_.status();
  if (task_ == ShareTask::kAudit && all.stale > 0)
    alarm_.raise("audit of shares: " + std::to_string(all.stale) +
                     " keys have MACs here that the three servers cannot check, under a MAC key "
                     "that not all of them keep; `tkdc shares deal` deals new ones",
                 nullptr);
  // Every record has MACs under the one in use.
  if (task_ != ShareTask::kDeal || !trouble_.empty() || all.failed > 0) return;
  if (auto kept = macs_.forget_other_keys(); !kept.ok()) trouble_ = kept.error().message;
}

Task<bool> ShareWork::run(ShareTask task) {
  task_ = task;
  // Who was told another task than the others is found before anything is done.
  co_await lane_.agreed();
  upkeep_.begun(task, store_.count());
  bool session_ends = false;
  if (task_ == ShareTask::kRepair) {
    session_ends = co_await repair();
    upkeep_.ended(trouble_, session_ends);
    co_return session_ends;
  }
  const Result<void> ready = co_await macs_.ready();
  if (!ready.ok()) trouble_ = ready.error().message;
  if (trouble_.empty() && task_ == ShareTask::kRefresh) session_ends = co_await refresh();
  while (trouble_.empty() && task_ != ShareTask::kRefresh && !over_) {
    Page page;
    counted_ = {};
    const bool there = co_await next_page(page);
    if (there) {
      if (task_ == ShareTask::kDeal)
        co_await deal(page.without);
      else
        co_await audit(page.with);
    }
    upkeep_.page(counted_);
  }
  finish();
  upkeep_.ended(trouble_, session_ends);
  co_return session_ends;
}

}  // namespace tkdc
