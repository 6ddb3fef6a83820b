// SPDX-License-Identifier: Apache-2.0
// Runs a fuzzer without libFuzzer, for a few seconds with every `make unit`: the
// inputs of a folder, then inputs made from them and from nothing, by a fixed seed.
//
//   fuzz_replay_X <folder> <seconds>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "base/secret.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using tkdc::Bytes;

std::vector<Bytes> read_folder(const std::string& folder) {
  std::vector<Bytes> inputs(1);  // the empty one
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(folder, none)) {
    std::ifstream in(file.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// One to four changes: a bit, an octet, a piece cut out, a piece of another input or of noise.
Bytes changed(std::mt19937_64& rng, const std::vector<Bytes>& inputs) {
  constexpr std::size_t kMaxBytes = 2048;
  Bytes out = inputs[rng() % inputs.size()];
  for (std::uint64_t k = 1 + rng() % 4; k > 0; --k) {
    const std::size_t at = rng() % (out.size() + 1);
    const auto place = out.begin() + static_cast<std::ptrdiff_t>(at);
    if (rng() % 3 == 0 || at == out.size()) {
      Bytes piece = inputs[rng() % inputs.size()];
      if (rng() % 2 == 0) piece.assign(rng() % 40, static_cast<std::uint8_t>(rng()));
      for (std::uint8_t& octet : piece) octet ^= rng() % 16 == 0 ? rng() & 0xff : 0;
      out.insert(place, piece.begin(), piece.end());
    } else if (rng() % 3 == 0) {
      out.erase(place, place + static_cast<std::ptrdiff_t>(rng() % (out.size() - at)));
    } else {
      out[at] = static_cast<std::uint8_t>(rng() % 2 == 0 ? rng() : out[at] ^ 1u << rng() % 8);
    }
  }
  if (out.size() > kMaxBytes) out.resize(kMaxBytes);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::vector<Bytes> inputs = read_folder(argv[1]);
  for (const Bytes& input : inputs) LLVMFuzzerTestOneInput(input.data(), input.size());
  std::mt19937_64 rng(1);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[2]));
  std::size_t runs = inputs.size();
  for (; std::chrono::steady_clock::now() < end; ++runs) {
    const Bytes input = changed(rng, inputs);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu inputs\n", runs);
  return 0;
}
