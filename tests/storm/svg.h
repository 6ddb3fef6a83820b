// SPDX-License-Identifier: Apache-2.0
// Line plots as inline SVG, for a report that needs no network and no script.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tkdc::storm {

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<Line> lines;
  bool log_y = false;
  // Where the x axis is marked; by itself when empty.
  std::vector<std::pair<double, std::string>> x_marks;
};

std::string svg(const Plot& plot);
std::string html_escape(const std::string& text);

}  // namespace tkdc::storm
