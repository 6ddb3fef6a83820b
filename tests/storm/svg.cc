// SPDX-License-Identifier: Apache-2.0
#include "storm/svg.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tkdc::storm {
namespace {

constexpr double kWidth = 760, kHeight = 280, kLeft = 70, kRight = 20, kTop = 30, kBottom = 60;
// Told apart by those who see colours differently, too (Okabe and Ito).
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#56b4e9", "#e69f00", "#000000", "#999933"};

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", v);
  return text;
}

struct Axis {
  double low, high;
  bool log = false;
  double share(double v) const {
    if (!log) return (v - low) / (high - low);
    return (std::log10(std::max(v, low)) - std::log10(low)) / (std::log10(high) - std::log10(low));
  }
};

// 1, 2 or 5 times a power of ten, five to ten of them.
std::vector<double> round_marks(const Axis& axis) {
  std::vector<double> marks;
  if (axis.log) {
    for (marks = {axis.low}; marks.back() * 10 <= axis.high * 1.001;)
      marks.push_back(marks.back() * 10);
    return marks;
  }
  double span = axis.high - axis.low;
  double step = std::pow(10, std::floor(std::log10(span / 5)));
  while (span / step > 10) step *= span / step > 20 ? 5 : 2;
  for (marks = {std::ceil(axis.low / step) * step}; marks.back() + step <= axis.high + step / 1000;)
    marks.push_back(marks.back() + step);
  return marks;
}

void limits(const Plot& plot, Axis& x, Axis& y) {
  bool first = true;
  for (const Line& line : plot.lines)
    for (const auto& [px, py] : line.points) {
      if (plot.log_y && py <= 0) continue;
      if (first) x.low = x.high = px, y.low = y.high = py;
      first = false;
      x.low = std::min(x.low, px), x.high = std::max(x.high, px);
      y.low = std::min(y.low, py), y.high = std::max(y.high, py);
    }
  if (first) x = {0, 1}, y = {0, 1, plot.log_y};
  if (x.high <= x.low) x.high = x.low + 1;
  if (plot.log_y) {
    y.low = std::pow(10, std::floor(std::log10(std::max(y.low, 1e-6))));
    y.high = std::max(std::pow(10, std::ceil(std::log10(std::max(y.high, 1e-6)))), y.low * 10);
  } else {
    y.low = 0;
    y.high = y.high <= 0 ? 1 : y.high * 1.05;
  }
}

std::string text_at(double x, double y, const std::string& text, const char* anchor) {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" +
         html_escape(text) + "</text>\n";
}

std::string rule(double x1, double y1, double x2, double y2) {
  return "<line class=\"grid\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" +
         number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
}

}  // namespace

std::string html_escape(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string svg(const Plot& plot) {
  Axis x{0, 1}, y{0, 1, plot.log_y};
  limits(plot, x, y);
  auto px = [&](double v) { return kLeft + x.share(v) * (kWidth - kLeft - kRight); };
  auto py = [&](double v) { return kHeight - kBottom - y.share(v) * (kHeight - kTop - kBottom); };
  std::string out = "<svg viewBox=\"0 0 " + number(kWidth) + " " + number(kHeight) +
                    "\" role=\"img\"><title>" + html_escape(plot.title) + "</title>\n";
  for (double v : round_marks(y)) {
    out += rule(kLeft, py(v), kWidth - kRight, py(v));
    out += text_at(kLeft - 6, py(v) + 4, number(v), "end");
  }
  auto marks = plot.x_marks;
  if (marks.empty())
    for (double v : round_marks(x)) marks.emplace_back(v, number(v));
  for (const auto& [v, text] : marks) {
    if (v < x.low || v > x.high) continue;
    out += rule(px(v), kTop, px(v), kHeight - kBottom);
    out += text_at(px(v), kHeight - kBottom + 16, text, "middle");
  }
  out += text_at((kLeft + kWidth - kRight) / 2, kHeight - kBottom + 32, plot.x_label, "middle");
  out += text_at(kLeft, kTop - 10, plot.y_label, "middle");
  double legend = kLeft;
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    const Line& line = plot.lines[i];
    std::string colour = kColours[i % std::size(kColours)];
    out += "<polyline fill=\"none\" stroke=\"" + colour + "\" points=\"";
    for (const auto& [vx, vy] : line.points)
      if (!plot.log_y || vy > 0) out += number(px(vx)) + "," + number(py(vy)) + " ";
    out += "\"/>\n<rect x=\"" + number(legend) + "\" y=\"" + number(kHeight - 18) +
           "\" width=\"12\" height=\"4\" fill=\"" + colour + "\"/>\n";
    out += text_at(legend + 16, kHeight - 12, line.name, "start");
    legend += 34 + 7.2 * static_cast<double>(line.name.size());
  }
  return out + "</svg>\n";
}

}  // namespace tkdc::storm
