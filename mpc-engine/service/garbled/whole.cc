// SPDX-License-Identifier: Apache-2.0
#include "service/garbled/whole.h"

#include <algorithm>
#include <limits>

#include "base/machine.h"
#include "circuits/catalogue.h"
#include "enctype.h"
#include "service/operation/keys.h"

namespace tkdc {
namespace {

const char* hash_name(std::uint32_t enctype) {
  const Rfc8009* sha2 = sha2_enctype(enctype);
  if (sha2 == nullptr) return "sha1";
  return key_bytes_of(enctype) == 16 ? "sha256" : "sha384";
}

std::string sized(std::string name, std::size_t bytes) {
  return std::move(name) + ":" + std::to_string(bytes);
}

}  // namespace

std::optional<Whole> whole_of(const KeyRecord& record, tkdc_wire_op op, std::uint32_t usage,
                              std::size_t input_bytes) {
  const std::uint32_t enctype = record.ref.enctype;
  if (key_bytes_of(enctype) == 0 || in_gcm_form(record, usage) || lacks_keys(record, op, usage))
    return std::nullopt;
  const tkdc_enctype& lengths = *tkdc_enctype_of(enctype);
  const std::string number = std::to_string(enctype), hash = hash_name(enctype);
  const std::size_t all = std::numeric_limits<std::size_t>::max();
  Whole whole;
  if (is_checksum(op)) {
    whole.held = {{field_name(usage, "kc"), all}};
  } else {
    whole.held = {{field_name(usage, "ke"), key_bytes_of(enctype)}, {field_name(usage, "ki"), all}};
  }
  switch (op) {
    case TKDC_OP_OPEN:
      if (input_bytes < lengths.overhead_bytes) return std::nullopt;
      whole.circuit = sized("open" + number, input_bytes);
      whole.holds = true;
      return whole;
    case TKDC_OP_SEAL:
      whole.circuit = sized("seal" + number, input_bytes);
      whole.confounder = kConfounderBytes;
      return whole;
    case TKDC_OP_MAC: whole.circuit = sized("mac-" + hash, input_bytes); return whole;
    case TKDC_OP_VERIFY:
      if (input_bytes < lengths.checksum_bytes) return std::nullopt;
      whole.circuit = sized("verify-" + hash, input_bytes - lengths.checksum_bytes);
      whole.holds = true;
      return whole;
    default: return std::nullopt;
  }
}

Result<WholeKinds> WholeKinds::of(const std::vector<Wanted>& wanted) {
  WholeKinds all;
  for (const auto& [circuit, instances] : wanted) {
    auto shape = shape_of(circuit);
    if (!shape) return shape.error();
    if (all.has((*shape)->digest))
      return fail("garbling: the circuit " + circuit + " is there twice");
    all.add(circuit, std::move(*shape), instances);
  }
  return all;
}

Result<WholeKinds::ShapePtr> WholeKinds::shape_of(const std::string& circuit) {
  const auto named = circuits::find_named(circuit);
  if (!named) return named.error();
  auto shape = threegarble::shape_of(circuits::record(*named));
  if (!shape) return shape.error();
  return std::make_shared<const threegarble::Shape>(std::move(*shape));
}

// Counting takes no memory; what it counts is no less than what is laid out.
Result<WholeKinds::ShapePtr> WholeShapes::lay_out(const std::string& circuit,
                                                  std::size_t most_bytes) {
  const auto chosen = circuits::find_named(circuit);
  if (!chosen) return chosen.error();
  circuit::Counter counter;
  chosen->named->count(counter, chosen->size);
  const circuit::GateCounts& counts = counter.counts();
  if ((counts.ands + counts.xors) * sizeof(circuit::ScheduledGate) > most_bytes / 2)
    return fail("garbling: its layout has more than half of the " +
                std::to_string(most_bytes >> 20) + " MiB that data.garbled_mb says");
  // It takes six times as much, and who waits for it must not wait for ever.
  try {
    return WholeKinds::shape_of(circuit);
  } catch (const std::bad_alloc&) {
    return fail("garbling: no memory to lay it out");
  }
}

Result<WholeKinds::ShapePtr> WholeShapes::get(const std::string& circuit) {
  std::unique_lock lock(mutex_);
  while (under_way_)
    machine().wait(changed_, lock, std::chrono::seconds(1), [&] { return !under_way_; });
  if (const auto entry = entries_.find(circuit); entry != entries_.end()) {
    entry->second.asked = ++asked_;
    return entry->second.shape;
  }
  if (const auto known = unfit_.find(circuit); known != unfit_.end()) return known->second;
  under_way_ = true;
  lock.unlock();
  auto shape = lay_out_(circuit, most_bytes_);
  lock.lock();
  under_way_ = false;
  if (shape) {
    entries_[circuit] = {*shape, ++asked_};
    ++times_;
    make_room();
  } else if (unfit_.size() < kMostUnfit) {
    unfit_.emplace(circuit, shape.error());
  }
  changed_.notify_all();
  return shape;
}

// Copies are given out under the lock alone, so what only stands here stays so.
void WholeShapes::make_room() {
  std::size_t bytes = 0;
  for (const auto& [circuit, entry] : entries_) bytes += entry.shape->layout_bytes();
  while (bytes > most_bytes_) {
    auto oldest = entries_.end();
    for (auto one = entries_.begin(); one != entries_.end(); ++one)
      if (one->second.shape.use_count() == 1 &&
          (oldest == entries_.end() || one->second.asked < oldest->second.asked))
        oldest = one;
    if (oldest == entries_.end()) return;
    bytes -= oldest->second.shape->layout_bytes();
    entries_.erase(oldest);
  }
}

std::uint64_t WholeShapes::times() const {
  const std::lock_guard lock(mutex_);
  return times_;
}

std::vector<std::string> WholeShapes::unfit() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [circuit, why] : unfit_) out.push_back(circuit + ": " + why.message);
  return out;
}

std::vector<std::string> WholeShapes::laid_out() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [circuit, entry] : entries_) out.push_back(circuit);
  return out;
}

bool WholeKinds::has(const threegarble::Digest& digest) const {
  return std::ranges::any_of(kinds_,
                             [&](const auto& kind) { return kind.shape->digest == digest; });
}

void WholeKinds::add(const std::string& circuit, ShapePtr shape, std::size_t instances) {
  names_.push_back(circuit);
  kinds_.push_back({std::move(shape), instances});
}

std::optional<std::size_t> WholeKinds::find(const std::string& circuit) const {
  const auto at = std::ranges::find(names_, circuit);
  if (at == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(at - names_.begin());
}

}  // namespace tkdc
