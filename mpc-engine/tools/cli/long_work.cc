// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/long_work.h"

#include <memory>

#include "base/progress_line.h"

namespace tkdc::cli {

Watch watched(const std::string& what, std::uint64_t unit) {
  handle_signals();
  auto line = std::make_shared<ProgressLine>();
  return [line, what, unit](std::uint64_t done, std::uint64_t of) {
    line->show(done / unit, (of + unit - 1) / unit, what);
    if (done >= of || stop_asked()) line->clear();
    return !stop_asked();
  };
}

}  // namespace tkdc::cli
