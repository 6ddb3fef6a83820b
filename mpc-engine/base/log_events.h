// SPDX-License-Identifier: Apache-2.0
// What can be looked for in the journal by TKDC_EVENT or MESSAGE_ID (base/log.h). Numbers are drawn
// once and never change, since administrators' programs go by them; docs/operations.md lists them.
#pragma once

#include "base/log.h"

namespace tkdc::event {

// A daemon serves from here on.
inline constexpr LogEvent kStarted{"started", "6f60d687fb4749849d9da02996ab6727"};
// And not any more.
inline constexpr LogEvent kStopped{"stopped", "96f8a5386d034e869b11447f7ab762c4"};
// Three servers agreed on a session.
inline constexpr LogEvent kSessionUp{"session-up", "8dc3773a6a994d0cbb185da52a7a7026"};
// Over other connections.
inline constexpr LogEvent kSessionGoesOn{"session-goes-on", "e961c857924f4a05a7d65426223c7970"};
// None stands; the text says why.
inline constexpr LogEvent kNoSession{"no-session", "a11da49de9ee4919828c007cc231d227"};
// A server saw a deviation, and stays down.
inline constexpr LogEvent kLatched{"latched", "76275af994f34f479fb13eb46d7f8553"};
// Its administrator let it go on.
inline constexpr LogEvent kReleased{"released", "aede17e560274b849343ab95764228ad"};
// A session was lost while it was verified.
inline constexpr LogEvent kCheckBroken{"check-broken", "457a801db3e849adb908508b9c626b70"};
// The configuration was read again.
inline constexpr LogEvent kReloaded{"reloaded", "1305bd2b86b34b4fa5c15ceb5487a8a0"};
// Something wants looking at; the text says what.
inline constexpr LogEvent kAlarm{"alarm", "a85065f8962145fca702599d2f581808"};

}  // namespace tkdc::event
