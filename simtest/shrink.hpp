// Makes a failing program small: deletes steps as long as the same kind of finding remains
// (delta debugging: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input,
// 2002).
#pragma once

#include <functional>
#include <string>

#include "simtest/program.hpp"

namespace photon::simtest {

// Whether a program still fails in the way that is looked for.
using Fails = std::function<bool(const Program&)>;

// A program of which no single step can be left out, or the smallest found within `most_runs`.
Program shrink(Program program, const Fails& fails, unsigned most_runs);

std::size_t steps_count(const Program& program);

}  // namespace photon::simtest
