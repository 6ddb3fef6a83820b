// SPDX-License-Identifier: Apache-2.0
// Picks the AES backend of a lane when a session starts: a device where one is wanted or may be
// taken, else this CPU's fastest.
#include <atomic>

#include "rep3/unit/aes/byte_cohort.h"
#include "rep3/unit/aes/device_backends.h"
#include "rep3/unit/aes/plane_cohort.h"

namespace tkdc {
namespace {

std::atomic<DeviceBackends*> devices = nullptr;

Result<const Rep3Backend*> device_backend(Representation representation) {
  DeviceBackends* const set = devices;
  if (set == nullptr) return fail("this program knows no devices");
  return set->backend(representation);
}

}  // namespace

void set_device_backends(DeviceBackends* wanted) { devices = wanted; }
DeviceBackends* device_backends() { return devices; }

std::vector<const Rep3Backend*> usable_rep3_backends() {
  std::vector<const Rep3Backend*> all = {rep3_backend_gfni(), rep3_backend_avx2(),
                                         &rep3_backend_scalar(), &rep3_backend_planes()};
  std::erase(all, nullptr);
  return all;
}

Result<const Rep3Backend*> choose_rep3_backend(const std::string& wanted,
                                               Representation representation) {
  if (wanted == "cuda" || wanted == "auto") {
    auto device = device_backend(representation);
    if (device) return *device;
    if (wanted == "cuda") return fail("backend \"cuda\": " + device.error().message);
  }
  const Rep3Backend* fastest = nullptr;
  bool known = wanted == "auto" || wanted == "cpu";
  std::string names;
  for (const Rep3Backend* backend : usable_rep3_backends()) {
    names += ", " + backend->name();
    known |= backend->name() == wanted;
    if (backend->representation() != representation) continue;
    if (backend->name() == wanted) return backend;
    if (fastest == nullptr) fastest = backend;
  }
  if (!known)
    return fail("backend \"" + wanted + "\" is not available on this machine; it has auto, cpu" +
                names);
  return fastest;
}

std::string rep3_backend_reason(const std::string& wanted, Representation representation) {
  auto chosen = choose_rep3_backend(wanted, representation);
  if (!chosen) return chosen.error().message;
  const std::string name = (*chosen)->name();
  if (wanted == name) return name + ": asked for";
  if (name == "cuda") return "cuda: there is a GPU that tkdc may use and that passed its test";
  std::string fastest = name + ": this CPU's fastest in " +
                        (representation == Representation::kBytes ? "bytes" : "planes");
  if (wanted == "cpu") return fastest;
  if (wanted != "auto")
    return fastest + ", which the session agreed on and " + wanted + " does not have";
  return fastest + "; no GPU is used: " + device_backend(representation).error().message;
}

}  // namespace tkdc
