// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/planned_circuit.h"

#include <iomanip>
#include <sstream>

namespace tkdc::cli {

Result<PlannedCircuit> planned_circuit(const std::string& text) {
  PlannedCircuit one;
  one.name = text.substr(0, text.find('='));
  if (one.name.size() < text.size()) {
    std::istringstream times(text.substr(one.name.size() + 1));
    if (!(times >> one.times) || !times.eof() || one.times == 0 || one.times > 1'000)
      return fail("'" + text + "': behind = stands how often a login needs it, 1 to 1000");
  }
  return one;
}

std::string rounded(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

}  // namespace tkdc::cli
