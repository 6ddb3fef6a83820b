// SPDX-License-Identifier: Apache-2.0
// The positive control: a process that does hold every value in every form.
#pragma once

#include "forms.h"

namespace keyscan {

// What the search must report of one value in the control process.
struct Expectation {
  std::string value, form;
  std::size_t stride;
  std::size_t count;  // at least
};

// The forms are laid out by their definition, not by the matcher's code.
class Control {
 public:
  explicit Control(const std::vector<Value>& values);
  const std::vector<Expectation>& expectations() const { return expectations_; }

 private:
  void lay_octets(const Value& value);
  void lay_planes(const Value& value);
  Octets& fresh(std::size_t octets);

  std::vector<Octets> memory_;
  std::vector<Expectation> expectations_;
};

}  // namespace keyscan
