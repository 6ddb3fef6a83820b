// SPDX-License-Identifier: Apache-2.0
// keyscan: searches memory images and files for key material.
//
//   keyscan search [--pid NAME=PID]... [--path NAME=PATH]...  < values
//   keyscan hold                                              < values
//
// `values`: one line for each, a name without blanks and hexadecimal octets.
// They come on standard input so that they stand in no file and no command
// line. `search` prints one JSON object: how many forms each value has, and what it found in each
// target.
// `hold` is the positive control: it lays every value out in every form,
// prints one JSON line with what a search of this process has to find, and
// waits until its standard input is closed or a signal ends it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "hold.h"
#include "matcher.h"
#include "sources.h"

namespace {

using nlohmann::json;

std::vector<keyscan::Value> read_values(std::istream& in) {
  std::vector<keyscan::Value> values;
  for (std::string line; std::getline(in, line) && line != ".";) {
    std::istringstream fields(line);
    std::string name, hex;
    if (!(fields >> name >> hex) || hex.size() % 2 != 0)
      throw std::invalid_argument("standard input: want lines of a name and hex octets");
    keyscan::Octets octets;
    for (std::size_t i = 0; i < hex.size(); i += 2)
      octets.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    values.push_back({name, octets});
  }
  if (values.empty()) throw std::invalid_argument("standard input: no values to look for");
  return values;
}

struct Target {
  std::string name;
  std::string path;
  pid_t pid = 0;
  bool packed = false;
};

Target target_of(const std::string& text, bool process) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) throw std::invalid_argument("want NAME=..., not " + text);
  Target target{text.substr(0, equals), text.substr(equals + 1), 0, false};
  if (process) target.pid = static_cast<pid_t>(std::stol(target.path));
  return target;
}

// Hits by value, form and stride: how often, and where first.
using Found = std::map<std::tuple<std::string, std::string, std::size_t>, json>;

json search_target(const keyscan::Matcher& matcher, const Target& target) {
  Found found;
  std::uint64_t count = 0;
  auto visit = [&](const keyscan::Piece& piece) {
    std::vector<keyscan::Hit> hits;
    matcher.scan(piece.memory, hits, target.packed);
    count += hits.size();
    for (const keyscan::Hit& hit : hits) {
      json& entry = found[{hit.value, hit.form, hit.stride}];
      if (entry.is_null())
        entry = {{"value", hit.value},   {"form", hit.form},
                 {"stride", hit.stride}, {"count", 0},
                 {"where", piece.where}, {"address", piece.address + hit.offset}};
      entry["count"] = entry["count"].get<std::uint64_t>() + 1;
    }
  };
  std::uint64_t octets = target.pid != 0
                             ? keyscan::visit_process(target.pid, matcher.longest_octets(), visit)
                             : keyscan::visit_path(target.path, matcher.longest_octets(), visit);
  json list = json::array();
  for (auto& [key, entry] : found) list.push_back(entry);
  return {{"name", target.name}, {"octets", octets}, {"hits", count}, {"found", list}};
}

int search(const std::vector<std::string>& pids, const std::vector<std::string>& paths,
           const std::vector<std::string>& bulk) {
  std::vector<Target> targets;
  for (const std::string& one : pids) targets.push_back(target_of(one, true));
  for (const std::string& one : paths) targets.push_back(target_of(one, false));
  for (const std::string& one : bulk) targets.emplace_back(target_of(one, false)).packed = true;
  if (targets.empty()) throw std::invalid_argument("nothing to search: give --pid or --path");
  const keyscan::Matcher matcher(read_values(std::cin));
  std::vector<json> results(targets.size());
  std::vector<std::string> errors(targets.size());
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (std::size_t i = next++; i < targets.size(); i = next++) {
      try {
        results[i] = search_target(matcher, targets[i]);
      } catch (const std::exception& e) {
        errors[i] = targets[i].name + ": " + e.what();
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned n = std::max(1u, std::thread::hardware_concurrency()); n > 0; n--)
      threads.emplace_back(work);
  }
  bool failed = false;
  for (const std::string& error : errors) {
    if (error.empty()) continue;
    std::cerr << "keyscan: " << error << "\n";
    failed = true;
  }
  if (failed) return 1;
  std::cout << json{{"forms", matcher.forms()}, {"targets", results}}.dump() << "\n";
  return 0;
}

int hold() {
  const keyscan::Control control(read_values(std::cin));
  json expectations = json::array();
  for (const keyscan::Expectation& e : control.expectations())
    expectations.push_back(
        {{"value", e.value}, {"form", e.form}, {"stride", e.stride}, {"count", e.count}});
  std::cout << expectations.dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("looks for values, given on standard input, in processes and files");
  app.require_subcommand(1);
  std::vector<std::string> pids, paths, bulk;
  CLI::App* searching = app.add_subcommand("search", "prints as JSON where they are");
  for (auto [option, values] :
       {std::pair{"--pid", &pids}, std::pair{"--path", &paths}, std::pair{"--bulk", &bulk}})
    searching->add_option(option, *values, "NAME=...; any number of times")
        ->allow_extra_args(false);
  CLI::App* holding = app.add_subcommand("hold", "holds them in every form that is searched for");
  CLI11_PARSE(app, argc, argv);
  return holding->parsed() ? hold() : search(pids, paths, bulk);
} catch (const std::exception& e) {
  std::cerr << "keyscan: " << e.what() << "\n";
  return 1;
}
