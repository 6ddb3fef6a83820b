// SPDX-License-Identifier: Apache-2.0
#include "ot/random_ot.h"

#include <algorithm>

#include "garble/instances.h"

namespace tkdc::ot {

void RowHash::hash(std::span<const Label> rows, Label* out, bool count) {
  std::uint64_t at = next_;
  for (std::size_t done = 0; done < rows.size();) {
    if (const std::uint64_t number = at / garble::kTweaksPerKey; number != keyed_) {
      Label key;
      crypto_generichash(reinterpret_cast<std::uint8_t*>(&key), kLabelBytes,
                         reinterpret_cast<const std::uint8_t*>(&number), sizeof number,
                         reinterpret_cast<const std::uint8_t*>(&seed_), kLabelBytes);
      garble::expand_keys(std::span(&key, 1), keys_);
      keyed_ = number;
    }
    const std::size_t some = std::min<std::uint64_t>(
        rows.size() - done, garble::kTweaksPerKey - at % garble::kTweaksPerKey);
    hash_rows(kernel_, keys_, at, rows.subspan(done, some), out + done);
    done += some;
    at += some;
  }
  if (count) next_ = at;
}

Result<void> send_random(Channel& channel, ExtensionSender& extension, std::size_t count,
                         const UsePairs& use, const garble::Kernel& kernel) {
  Label seed;
  randombytes_buf(&seed, sizeof seed);
  if (auto sent = channel.write_all(std::span<const Label>(&seed, 1)); !sent) return sent;
  RowHash hash(seed, kernel);
  Labels zero(extension.options().batch_blocks * kBlockRows);
  return extension.extend(count, [&](std::span<Label> rows) {
    hash.hash(rows, zero.data(), false);
    for (Label& row : rows) row = row ^ extension.delta();
    hash.hash(rows, rows.data(), true);
    use(std::span<const Label>(zero).first(rows.size()), rows);
  });
}

Result<void> receive_random(Channel& channel, ExtensionReceiver& extension, std::size_t count,
                            const UseChosen& use, const garble::Kernel& kernel) {
  Label seed;
  if (auto got = channel.read_all(std::span(&seed, 1)); !got) return got;
  RowHash hash(seed, kernel);
  Labels keys(extension.options().batch_blocks * kBlockRows);
  return extension.extend(count, [&](std::span<Label> rows) {
    hash.hash(rows, keys.data(), true);
    use(rows, std::span<const Label>(keys).first(rows.size()));
  });
}

Result<void> send_chosen(Channel& channel, ExtensionSender& extension, std::span<const Label> zero,
                         std::span<const Label> one) {
  if (zero.size() != one.size()) return fail("OT: not as many messages for 0 as for 1");
  Labels keys[2];
  auto made = send_random(channel, extension, zero.size(), [&](auto of_zero, auto of_one) {
    keys[0].insert(keys[0].end(), of_zero.begin(), of_zero.end());
    keys[1].insert(keys[1].end(), of_one.begin(), of_one.end());
  });
  if (!made) return made;
  Bytes turns(zero.size());
  if (auto got = channel.read(turns); !got) return got;
  Labels messages(2 * zero.size());
  for (std::size_t j = 0; j < zero.size(); ++j) {
    const Label differ = (keys[0][j] ^ keys[1][j]).where(turns[j] & 1);
    messages[2 * j] = zero[j] ^ keys[0][j] ^ differ;
    messages[2 * j + 1] = one[j] ^ keys[1][j] ^ differ;
  }
  return channel.write_all(std::span<const Label>(messages));
}

Result<void> receive_chosen(Channel& channel, ExtensionReceiver& extension,
                            std::span<const std::uint8_t> choices, std::span<Label> messages) {
  if (choices.size() != messages.size()) return fail("OT: not as many choices as messages");
  Labels keys;
  Bytes turns;
  auto made = receive_random(channel, extension, choices.size(), [&](auto rows, auto of_rows) {
    keys.insert(keys.end(), of_rows.begin(), of_rows.end());
    for (const Label& row : rows)
      turns.push_back(static_cast<std::uint8_t>(choices[turns.size()] ^ row.colour()));
  });
  if (!made) return made;
  if (auto sent = channel.write(turns); !sent) return sent;
  Labels both(2 * choices.size());
  if (auto got = channel.read_all(std::span(both)); !got) return got;
  for (std::size_t j = 0; j < choices.size(); ++j)
    messages[j] = both[2 * j].where(choices[j] ^ 1u) ^ both[2 * j + 1].where(choices[j]) ^ keys[j];
  return {};
}

}  // namespace tkdc::ot
