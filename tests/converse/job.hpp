// A job of a Converse program of this folder: how it is started, and how it ended.
// Invariant: it has ended, and nothing of it is left, or the test has failed. Owner: one test.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "process/launched.hpp"

namespace photon::test {

struct ConverseShape {
  int processes = 1;
  int pes_per_process = 1;
  std::string transport;  // empty: as photonrun chooses
};

inline std::string shape_name(const ConverseShape& shape) {
  return std::to_string(shape.processes) + "x" + std::to_string(shape.pes_per_process) +
         shape.transport;
}

struct ConverseEnd {
  int status = -1;
  std::string out;
  std::string err;
};

// `program`: its file with '.' as '_', as CMake names it, without "conv_".
inline ConverseEnd run_converse(const std::string& program, const ConverseShape& shape,
                                const std::vector<std::string>& arguments = {}) {
  std::vector<std::string> words{"-n", std::to_string(shape.processes)};
  if (!shape.transport.empty())
    words.insert(words.end(), {"--env", "PHOTON_TRANSPORT=" + shape.transport});
  words.push_back(std::string(PHOTON_CONVERSE_DIR) + "/conv_" + program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"+ppn", std::to_string(shape.pes_per_process)});
  Launched job(words);
  ConverseEnd end;
  end.status = job.wait();
  job.expect_nothing_left();
  end.out = job.out;
  end.err = job.err;
  return end;
}

inline void expect_converse_ok(const std::string& program, const std::string& name,
                               const ConverseShape& shape) {
  const ConverseEnd end = run_converse(program, shape);
  EXPECT_EQ(end.status, 0) << end.out << end.err;
  EXPECT_TRUE(says(end.out, "ok " + name + "\n")) << end.out << end.err;
}

}  // namespace photon::test
