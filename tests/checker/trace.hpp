// A failing execution in words, one line per move.
// Owner: plain value; refers to the program and model it was made for.
#pragma once

#include <string>

#include "checker/model.hpp"
#include "checker/program.hpp"

namespace photon::checker {

class Trace {
 public:
  Trace(const Program& program, Model& model) : program_(program), model_(model) {}
  void add(const State& before, const Move& move, const State& after);
  const std::string& text() const { return text_; }

 private:
  std::string describe_step(const Draft& before, unsigned thread, const Draft& after) const;
  const std::string& name(LocationId location) const;

  const Program& program_;
  Model& model_;
  std::string text_;
  unsigned lines_ = 0;
};

}  // namespace photon::checker
