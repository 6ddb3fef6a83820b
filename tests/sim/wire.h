// SPDX-License-Identifier: Apache-2.0
// Connections between hosts: what is on its way, in order, until it arrives, is held up by a line
// that carries nothing, or is lost with its connection. Servers' streams and agents' frames go by
// them.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "base/secret.h"
#include "sim/world.h"

namespace tkdc::sim {

struct Packet {
  Us arrives = 0;  // kNever: held up
  SecretVector octets;
};

// One connection; end 0 dialled it.
struct Wire {
  int number = 0;
  int host[2] = {};
  std::deque<Packet> to[2];  // what end k has not taken
  Us dialled = 0;
  Us connected = kNever;         // from then on; kNever: held up
  Us cut[2] = {kNever, kNever};  // from then on end k sees that it is broken
  bool silent = false;           // one end lost its power: nobody says so until it is asked
  bool forgotten = false;        // and is back: it says so when it is asked
  bool unheard = false;          // nobody listened when it was dialled: refused, once that is known
  bool bulk = false;             // it carries a bulk stream
  Us held_since = kNever;
  std::string what;

  bool up(int end) const { return cut[end] > world().now(); }
  bool arrived(int end) const {
    return !to[end].empty() && to[end].front().arrives <= world().now();
  }
};
using WirePtr = std::shared_ptr<Wire>;

// Every connection there is.
class Wires {
 public:
  WirePtr dial(int from, int to, std::string what);
  void send(Wire& wire, int from_end, SecretVector octets);
  // On its way, whoever sends it; it arrives so much later than others do.
  void carry(Wire& wire, int from_end, SecretVector octets, Us late);
  WirePtr find(int number);  // null: it is no more
  // Closed by one end, or by its death: the other sees it once it has what came before.
  void close(Wire& wire, int by_end);
  // Of a call that arrives where nobody listens.
  void refuse(Wire& wire);
  // Broken off in the midst: what is on its way is lost, at any octet.
  void cut(Wire& wire);

  // ---- what becomes of lines
  void block(int from, int to);
  void heal();  // all lines
  void host_died(int host, bool without_a_word);
  void host_back(int host);
  // Breaks one of the connections between servers; which one the seed says: of those that are not
  // older, if there are any. False: there is none.
  bool cut_one(Us age = kNever);
  bool cut_one_of(int agent);           // one of its connections to servers
  int calls() const { return calls_; }  // between servers, that were begun
  void look();                          // for connections that have been held up for too long

 private:
  std::vector<WirePtr> alive();
  std::vector<std::weak_ptr<Wire>> all_;
  int next_ = 1, calls_ = 0;
};

Wires& wires();
void new_wires();

}  // namespace tkdc::sim
