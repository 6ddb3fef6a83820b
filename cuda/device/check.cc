// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/check.h"

#include <algorithm>

#include "cuda/device/check_layout.h"

namespace tkdc::cuda {
namespace {

class DeviceCheck final : public OctetBatch {
 public:
  DeviceCheck(Device& device, CheckLayout layout, std::unique_ptr<CheckMemory> memory)
      : device_(device), at_(std::move(layout)), memory_(std::move(memory)) {
    at_.place(*memory_);
  }
  ~DeviceCheck() override { device_.checks.give_back(std::move(memory_)); }

  void copy_rows();
  bool points(const Weights& weights, const std::vector<Points>& records, Element* out) override;
  bool lift(const Element* sigma, const std::vector<Lifts>& records, Element& claim) override;
  bool points_of_parts(std::size_t stride, Element* out) override;
  bool fold(std::size_t stride, const Element* at) override;
  bool fetch(std::size_t n, Element* x, Element* y) override;

 private:
  struct Sums {  // rows of them, and what each becomes
    std::size_t rows, width;
    Element* result;
  };
  bool run(const Work& work);
  bool wait();
  // Two areas of maps of weights, where there are records of octets, of bits.
  struct SumWeights {
    const Quad *octets = nullptr, *bits = nullptr;
    std::size_t claims;
    const Element* sigma;
  };
  const Quad* write_weights(const std::vector<gf64::Lift>& weights);
  bool any(bool bits) const;
  void sum_record(Work& work, std::size_t r, const Points& of, const SumWeights& weights);
  void octet_terms(Work& work, std::size_t r, const gf64::OctetProducts& shape, SumTask& sums);
  void bit_terms(Work& work, std::size_t r);
  void extend(Work& work, std::size_t r, const gf64::OctetValue& value, std::size_t product,
              bool multiply);
  struct LiftPlace {
    std::size_t record, first;  // first: of the vectors' elements
    const Element *sigma, *of_block;
  };
  void lift_strands(Work& work, Kernel kernel, const LiftPlace& at,
                    const std::vector<gf64::StrandLift>& strands, std::size_t factor, Element* out);
  void lift_bits(Work& work, const LiftPlace& at, const Maps& maps);
  void lift_record(Work& work, LiftPlace at, const Lifts& of);
  const Element* by_lane(Mirror& mirror, const Element* sigma);
  void reduce(Work& work, Mirror& tasks, const Sums& of);

  Device& device_;
  CheckLayout at_;
  std::unique_ptr<CheckMemory> memory_;
  std::size_t left_ = 0;  // elements that the vectors have
  bool failed_ = false, folding_ = false;
};

// ---- rows

void DeviceCheck::copy_rows() {
  Work work(at_.tick);
  for (std::size_t r = 0; r < at_.shapes.size(); ++r) {
    const CheckShape& shape = at_.shapes[r];
    std::uint8_t* to = at_.pinned_rows[r];
    shape.record->for_each_block([&](const ClaimRows::Tile* tiles) {
      for (std::size_t t = 0; t < shape.tiles; ++t)
        for (std::size_t strand = 0; strand < shape.strands; ++strand, to += kCheckLanes)
          std::memcpy(to, tiles[t].base + tiles[t].row[strand], kCheckLanes);
    });
    work.copy_in(at_.rows[r], at_.pinned_rows[r], shape.row_octets());
  }
  work.submit(memory_->queue());
}

bool DeviceCheck::run(const Work& work) {
  if (failed_) return false;
  work.submit(memory_->queue());
  return wait();
}

bool DeviceCheck::wait() {
  auto done = memory_->queue().finish();
  folding_ = false;
  if (!done) {
    failed_ = true;
    device_.health.set_lost(done.error().message);
  }
  return !failed_;
}

// On the device, for lane after lane.
const Element* DeviceCheck::by_lane(Mirror& mirror, const Element* sigma) {
  auto* const out = mirror.take<Element>(kCheckLanes);
  for (std::size_t p = 0; p < kCheckLanes; ++p) out[gf64::lane_at(p)] = sigma[p];
  return mirror.on_device(out);
}

// From partial[0], which both are used for.
void DeviceCheck::reduce(Work& work, Mirror& tasks, const Sums& of) {
  std::size_t rows = of.rows;
  int from = 0;
  do {
    const std::size_t less = (rows + kReduceRows - 1) / kReduceRows;
    work.launch(tasks, Kernel::kCheckReduce,
                ReduceTask{at_.partial[from], static_cast<std::uint32_t>(rows),
                           static_cast<std::uint32_t>(of.width), at_.partial[1 - from]},
                less * of.width);
    rows = less;
    from = 1 - from;
  } while (rows > 1);
  work.copy_out(of.result, at_.partial[from], of.width * sizeof(Element));
}

// ---- sums at the extra points

void DeviceCheck::extend(Work& work, std::size_t r, const gf64::OctetValue& value,
                         std::size_t product, bool multiply) {
  const CheckShape& shape = at_.shapes[r];
  ExtendTask task{};
  task.rows = shape.rows(at_.rows[r]);
  task.slots = static_cast<std::uint32_t>(value.slot.size());
  std::size_t count = 0;
  for (const auto& slot : value.slot) count += slot.size();
  auto* map = at_.points.take<RowMapMasks>(count);
  task.maps = at_.points.on_device(map);
  for (std::size_t s = 0; s < value.slot.size(); ++s) {
    for (const gf64::RowMap& one : value.slot[s]) {
      map->row = static_cast<std::uint32_t>(one.row);
      for (std::size_t k = 0; k < 8; ++k)
        for (std::size_t b = 0; b < 8; ++b)
          map->mask[2 * k + b / 4].word[b % 4] = 0 - Word{one.column[b] >> k & 1u};
      ++map;
    }
    task.first_map[s + 1] = task.first_map[s] + static_cast<std::uint32_t>(value.slot[s].size());
  }
  task.x = at_.x;
  task.terms = at_.terms;
  task.product = static_cast<std::uint32_t>(product);
  task.products = static_cast<std::uint32_t>(shape.products);
  work.launch(at_.points, multiply ? Kernel::kCheckExtendY : Kernel::kCheckExtendX, task,
              (2 * shape.blocks + 31) / 32 * kThreadsPerBlock);
}

void DeviceCheck::octet_terms(Work& work, std::size_t r, const gf64::OctetProducts& shape,
                              SumTask& sums) {
  std::size_t product = 0;
  for (const gf64::OctetProducts::Factor& factor : shape.factors) {
    extend(work, r, factor.x, 0, false);
    for (const gf64::OctetProducts::Right& right : factor.right) {
      sums.claim_of[product] = static_cast<std::uint32_t>(right.claim);
      extend(work, r, right.y, product++, true);
    }
  }
}

void DeviceCheck::bit_terms(Work& work, std::size_t r) {
  const CheckShape& shape = at_.shapes[r];
  work.launch(
      at_.points, Kernel::kCheckBitPoints,
      BitPointsTask{shape.rows(at_.rows[r]), static_cast<std::uint32_t>(shape.factors), at_.terms},
      shape.blocks * check::BitPoints::kThreadsOfBlock);
}

void DeviceCheck::sum_record(Work& work, std::size_t r, const Points& of,
                             const SumWeights& weights) {
  const CheckShape& shape = at_.shapes[r];
  SumTask sums{};
  if (shape.bits)
    bit_terms(work, r);
  else
    octet_terms(work, r, *of.shape, sums);
  sums.terms = at_.terms;
  sums.blocks = static_cast<std::uint32_t>(shape.blocks);
  sums.products = static_cast<std::uint32_t>(shape.products);
  sums.points = static_cast<std::uint32_t>(shape.points);
  sums.claims = static_cast<std::uint32_t>(shape.bits ? 1 : weights.claims);
  sums.weights = shape.bits ? weights.bits : weights.octets;
  sums.sums = at_.sums;
  work.launch(at_.points, Kernel::kCheckSums, sums,
              shape.chunks() * shape.points * check::Sums::kPairs);
  auto* const of_set = at_.points.take<Element>(of.of_set.size());
  std::copy(of.of_set.begin(), of.of_set.end(), of_set);
  const std::size_t rows = shape.sets() * kLaneWords;
  work.launch(at_.points, Kernel::kCheckLaneSums,
              LaneSumTask{at_.sums, static_cast<std::uint32_t>(shape.chunks()), sums.points,
                          weights.sigma, at_.points.on_device(of_set), at_.partial[0]},
              rows * shape.points);
  reduce(work, at_.points, {rows, shape.points, at_.result + r * at_.most_points});
}

const Quad* DeviceCheck::write_weights(const std::vector<gf64::Lift>& weights) {
  auto* const maps = at_.points.take<Quad>(kMapQuads * weights.size());
  for (std::size_t k = 0; k < weights.size(); ++k)
    write_map(weights[k].column, maps + kMapQuads * k);
  return at_.points.on_device(maps);
}

bool DeviceCheck::any(bool bits) const {
  return std::ranges::any_of(at_.shapes,
                             [=](const CheckShape& shape) { return shape.bits == bits; });
}

bool DeviceCheck::points(const Weights& weights, const std::vector<Points>& records, Element* out) {
  at_.points.clear();
  Work work(at_.tick);
  SumWeights on_device;
  if (any(false)) on_device.octets = write_weights(weights.of_octets);
  if (any(true)) on_device.bits = write_weights(weights.of_bits);
  on_device.claims = weights.claims;
  on_device.sigma = by_lane(at_.points, weights.sigma);
  for (std::size_t r = 0; r < records.size(); ++r) sum_record(work, r, records[r], on_device);
  work.copy_in(at_.points);
  if (!run(work)) return false;
  for (std::size_t r = 0; r < records.size(); ++r)
    out = std::copy_n(at_.result + r * at_.most_points, at_.shapes[r].points, out);
  return true;
}

// ---- at the random point

void DeviceCheck::lift_strands(Work& work, Kernel kernel, const LiftPlace& at,
                               const std::vector<gf64::StrandLift>& strands, std::size_t factor,
                               Element* out) {
  const CheckShape& shape = at_.shapes[at.record];
  auto* const maps = at_.lift.take<StrandMap>(strands.size());
  for (std::size_t k = 0; k < strands.size(); ++k) {
    maps[k].tile = static_cast<std::uint32_t>(strands[k].tile);
    maps[k].strand = static_cast<std::uint32_t>(strands[k].strand);
    write_map(strands[k].lift.column, maps[k].map);
  }
  work.launch(
      at_.lift, kernel,
      LiftTask{shape.rows(at_.rows[at.record]), at_.lift.on_device(maps),
               static_cast<std::uint32_t>(strands.size()), static_cast<std::uint32_t>(factor),
               static_cast<std::uint32_t>(shape.factors), at.sigma, at.of_block, out},
      shape.blocks * check::Lift<check::Side::kX>::kPairs);
}

void DeviceCheck::lift_bits(Work& work, const LiftPlace& at, const Maps& maps) {
  const CheckShape& shape = at_.shapes[at.record];
  auto* const slots = at_.lift.take<Quad>(4 * kMapQuads);
  for (std::size_t k = 0; k < 4; ++k) write_map(maps.slots[k].column, slots + kMapQuads * k);
  auto* const of_lane = at_.lift.take<Element>(shape.elements);
  std::copy_n(maps.of_lane.begin(), shape.elements, of_lane);
  LiftBitsTask task{shape.rows(at_.rows[at.record]),
                    0,
                    0,
                    static_cast<std::uint32_t>(shape.factors),
                    at_.lift.on_device(slots),
                    at_.lift.on_device(of_lane),
                    at.of_block,
                    nullptr};
  for (std::size_t f = 0; f < shape.factors; ++f)
    for (std::size_t side = 0; side < 2; ++side) {  // x, y
      task.factor = static_cast<std::uint32_t>(f);
      task.row = static_cast<std::uint32_t>(side * shape.factors + f);
      task.out = at_.vector[side] + at.first;
      work.launch(at_.lift, side == 0 ? Kernel::kCheckLiftBitsX : Kernel::kCheckLiftBitsY, task,
                  shape.blocks * kLaneWords);
    }
}

void DeviceCheck::lift_record(Work& work, LiftPlace at, const Lifts& of) {
  const CheckShape& shape = at_.shapes[at.record];
  auto* const of_block = at_.lift.take<Element>(of.of_block.size());
  std::copy(of.of_block.begin(), of.of_block.end(), of_block);
  at.of_block = at_.lift.on_device(of_block);
  const Maps& maps = *of.maps;
  if (shape.bits) lift_bits(work, at, maps);
  for (std::size_t f = 0; f < maps.x.size(); ++f) {
    lift_strands(work, Kernel::kCheckLiftX, at, maps.x[f], f, at_.vector[0] + at.first);
    lift_strands(work, Kernel::kCheckLiftY, at, maps.y[f], f, at_.vector[1] + at.first);
  }
  lift_strands(work, Kernel::kCheckLiftZ, at, maps.z, 0, at_.partial[0]);
  reduce(work, at_.lift, {shape.blocks * 8, 1, at_.result + at.record});
}

bool DeviceCheck::lift(const Element* sigma, const std::vector<Lifts>& records, Element& claim) {
  at_.lift.clear();
  Work work(at_.tick);
  LiftPlace at{0, 0, by_lane(at_.lift, sigma), nullptr};
  for (; at.record < records.size(); ++at.record) {
    lift_record(work, at, records[at.record]);
    at.first += at_.shapes[at.record].vector_elements();
  }
  work.copy_in(at_.lift);
  if (!run(work)) return false;
  for (std::size_t r = 0; r < records.size(); ++r) claim ^= at_.result[r];
  left_ = at_.products;
  return true;
}

// ---- folds

bool DeviceCheck::points_of_parts(std::size_t stride, Element* out) {
  at_.parts.clear();
  Work work(at_.tick);
  const std::size_t threads = check::FoldPoints::threads_of(static_cast<std::uint32_t>(stride));
  work.launch(at_.parts, Kernel::kCheckFoldPoints,
              FoldTask{{at_.vector[0], at_.vector[1]},
                       static_cast<std::uint32_t>(left_),
                       static_cast<std::uint32_t>(stride),
                       {},
                       at_.partial[0]},
              threads);
  reduce(work, at_.parts, {threads, check::FoldPoints::kPoints, at_.result});
  work.copy_in(at_.parts);
  if (!run(work)) return false;
  std::copy_n(at_.result, check::FoldPoints::kPoints, out);
  return true;
}

// Is not waited for: what comes next does.
bool DeviceCheck::fold(std::size_t stride, const Element* at) {
  if (failed_ || (folding_ && !wait())) return false;
  at_.folds.clear();
  Work work(at_.tick);
  FoldTask task{{at_.vector[0], at_.vector[1]},
                static_cast<std::uint32_t>(left_),
                static_cast<std::uint32_t>(stride),
                {},
                nullptr};
  std::copy_n(at, 4, task.at);
  work.launch(at_.folds, Kernel::kCheckFold, task, 2 * stride);
  work.copy_in(at_.folds);
  work.submit(memory_->queue());
  folding_ = true;
  left_ = stride;
  return true;
}

bool DeviceCheck::fetch(std::size_t n, Element* x, Element* y) {
  if (n > kMostFetched) return false;
  Work work(at_.tick);
  for (int k = 0; k < 2; ++k)
    work.copy_out(at_.pinned_vector[k], at_.vector[k], n * sizeof(Element));
  if (!run(work)) return false;
  std::copy_n(at_.pinned_vector[0], n, x);
  std::copy_n(at_.pinned_vector[1], n, y);
  return true;
}

}  // namespace

std::unique_ptr<OctetBatch> DeviceChecks::begin(const std::vector<ClaimRows*>& records,
                                                std::size_t products) {
  if (products < min_products_ || products > kMaxProducts || device_.health.lost()) return nullptr;
  std::vector<CheckShape> shapes;
  for (ClaimRows* record : records) {
    if (record->blocks() == 0) return nullptr;  // nothing to add up: no kernel of no thread
    shapes.emplace_back(*record);
  }
  CheckLayout layout(std::move(shapes), products);
  auto memory = device_.checks.acquire({layout.device_octets, layout.pinned_octets});
  if (!memory) {
    device_.no_memory(memory.error().message);
    return nullptr;
  }
  auto check = std::make_unique<DeviceCheck>(device_, std::move(layout), std::move(*memory));
  check->copy_rows();
  return check;
}

}  // namespace tkdc::cuda
