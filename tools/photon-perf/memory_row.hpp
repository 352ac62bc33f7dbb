// By how much a question that measures something else has made this process grow.
// Owner: the question (a value, made first).
#pragma once

#include <algorithm>

#include "questions.hpp"
#include "resources.hpp"

namespace photon::perf {

class MemoryRow {
 public:
  MemoryRow() : before_bytes_(resident_bytes()) {}

  // With its memory in use.
  void add(Bench& bench) const {
    Row row;
    row.question = bench.options.question;
    row.transport = "none";
    row.mode = "resident memory";
    row.size_bytes = std::max(resident_bytes(), before_bytes_) - before_bytes_;
    row.iterations = 1;
    row.note = "bytes that this question has added to its first process";
    bench.report.add(std::move(row));
  }

 private:
  std::uint64_t before_bytes_;
};

}  // namespace photon::perf
