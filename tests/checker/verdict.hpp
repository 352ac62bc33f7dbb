// What tests demand of a Result.
// Owner: none.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "checker/checker.hpp"

namespace photon::checker {

inline void expect_proved(const Result& result) {
  EXPECT_TRUE(result.ok) << result.trace;
  EXPECT_TRUE(!result.ok || result.complete) << "only " << result.states << " states";
  EXPECT_GT(result.transitions, 0u);
}

// A failure whose trace says `what`: not any failure will do.
inline void expect_found(const Result& result, const std::string& what) {
  EXPECT_FALSE(result.ok) << "not found in " << result.states << " states";
  EXPECT_NE(result.trace.find(what), std::string::npos) << result.trace;
}

}  // namespace photon::checker
