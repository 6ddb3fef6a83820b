// SPDX-License-Identifier: Apache-2.0
// What a neighbour's socket hands to OpenSSL: octets in the order in which they came, none lost and
// none made up, whatever lengths the records' headers claim and however much OpenSSL asks for.
#include "link/input_bio.h"

#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"

namespace {

using namespace tkdc;
using tkdc::fuzz::require;

constexpr std::size_t kMostBytes = 64 * 1024;  // fits a socket's buffer, to be written at once

// Writes the input in two pieces, cut anywhere, and reads until the end.
Bytes through_a_socket(ByteSpan input, std::size_t cut, std::size_t room) {
  int ends[2];
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  InputBio source;
  BIO* bio = source.make_bio(ends[0]);
  require(bio != nullptr);
  Bytes out, piece(room);
  for (ByteSpan part : {input.first(cut), input.subspan(cut)}) {
    require(::send(ends[1], part.data(), part.size(), 0) == static_cast<ssize_t>(part.size()));
    std::size_t got = 0;
    while (BIO_read_ex(bio, piece.data(), room, &got) == 1) {
      require(got > 0 && got <= room);
      out.insert(out.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got));
    }
    require(BIO_should_retry(bio) != 0);  // the end has not come yet
  }
  ::close(ends[1]);
  std::size_t got = 0;
  require(BIO_read_ex(bio, piece.data(), room, &got) == 0 && BIO_eof(bio) == 1);
  BIO_free(bio);
  ::close(ends[0]);
  return out;
}

}  // namespace

// Where to cut u16, how much to read at once u16, octets.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4 || size > kMostBytes) return 0;
  const ByteSpan octets(data + 4, size - 4);
  const std::size_t cut = std::min<std::size_t>(data[0] << 8 | data[1], octets.size());
  const std::size_t room = 1 + (data[2] << 8 | data[3]);
  const Bytes out = through_a_socket(octets, cut, room);
  // Of a header that the end cuts off nothing is handed on.
  require(out.size() <= octets.size() && octets.size() - out.size() < 5);
  require(tkdc::fuzz::equal(out, octets.first(out.size())));
  return 0;
}
