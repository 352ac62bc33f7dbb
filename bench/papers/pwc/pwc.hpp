// The programs of this folder share these parts: a rank of a job, memory that all ranks know,
// patterns to check it by, the numbers on the command line, and medians.
// Owner: the program that includes it. Threads: as the calls of the library that are made here.
#pragma once

#include <photon/photon.h>

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace pwc {

constexpr std::uint64_t kSpan_bytes = 4U << 20;  // of all places of a message, about
constexpr std::uint64_t kMostPlaces = 64;
constexpr std::uint64_t kLine_bytes = 64;

// Ends this process, and by the launcher the job.
[[noreturn]] __attribute__((format(printf, 1, 2))) inline void fail(const char* format, ...) {
  va_list words;
  va_start(words, format);
  std::vfprintf(stderr, format, words);
  va_end(words);
  std::fputc('\n', stderr);
  std::fflush(stderr);
  std::_Exit(1);
}

inline double now_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

class Job {
 public:
  Job() {
    ph_config config{};
    config.size = sizeof config;
    ph_error error{};
    if (ph_context_create(&config, &context_, &error) != PH_OK) fail("%s", error.text);
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() {
    check(ph_barrier(context_), "meeting at the end");
    check(ph_finalize(context_), "leaving the job");
    ph_context_destroy(context_);
  }

  ph_context* context() const { return context_; }
  ph_rank rank() const { return ph_rank_of(context_); }
  std::uint32_t size() const { return ph_size_of(context_); }
  // Returns how many lines of rings this rank has filled with records so far.
  std::uint64_t lines_sent() const {
    std::size_t count = 0;
    check(ph_counters(context_, PH_ANY_RANK, nullptr, 0, &count), "counting counters");
    std::vector<ph_counter> counters(count);
    check(ph_counters(context_, PH_ANY_RANK, counters.data(), count, &count), "reading counters");
    for (const auto& counter : counters)
      if (std::strcmp(counter.name, "lines_sent") == 0) return counter.value;
    fail("there is no counter lines_sent");
  }
  void meet() const { check(ph_barrier(context_), "meeting"); }
  void check(ph_status status, const char* doing) const {
    if (status == PH_OK) return;
    ph_error error{};
    ph_last_error(context_, &error);
    fail("rank %u, %s: %s: %s", rank(), doing, ph_status_text(status), error.text);
  }

 private:
  ph_context* context_ = nullptr;
};

// Memory that peers may read and write, and where that of each rank lies.
class Memory {
 public:
  Memory(const Job& job, std::size_t size_bytes) : job_(&job), regions_(job.size()) {
    job.check(ph_alloc(job.context(), size_bytes, &own_), "allocating");
    job.check(ph_allgather(job.context(), &own_, regions_.data(), sizeof own_), "exchanging");
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { job_->check(ph_free(job_->context(), data()), "freeing"); }

  unsigned char* data() const { return reinterpret_cast<unsigned char*>(own_.address); }
  ph_target at(ph_rank rank, std::uint64_t offset) const { return ph_at(&regions_[rank], offset); }

 private:
  const Job* job_;
  ph_region own_{};
  std::vector<ph_region> regions_;
};

// Returns the byte that must stand at that offset; each round has other bytes.
inline unsigned char pattern(std::uint64_t round, std::uint64_t offset) {
  return static_cast<unsigned char>((round * 31 + offset * 7 + (offset >> 8)) % 251);
}

inline void fill(unsigned char* bytes, std::size_t count, std::uint64_t round) {
  for (std::size_t i = 0; i < count; ++i) bytes[i] = pattern(round, i);
}

inline void verify(const unsigned char* bytes, std::size_t count, std::uint64_t round) {
  for (std::size_t i = 0; i < count; ++i) {
    if (bytes[i] != pattern(round, i))
      fail("round %llu: byte %zu of %zu is wrong", static_cast<unsigned long long>(round), i,
           count);
  }
}

// The whole text is a number of at least 1.
inline std::uint64_t number_of(const char* text) {
  char* end = nullptr;
  const auto value = std::strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || value == 0) fail("'%s' is no number", text);
  return value;
}

inline std::vector<std::uint64_t> numbers_of(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    numbers.push_back(number_of(text.substr(begin, end - begin).c_str()));
    begin = end + 1;
  }
  return numbers;
}

// An amount says how often an operation is done in each of `runs`: at most `most` times, and so
// that not many more than `bytes` are moved.
struct Amount {
  std::uint64_t most, bytes, runs;
  std::uint64_t times(std::uint64_t size_bytes) const {
    constexpr std::uint64_t kLeast = 20;
    return std::min(most, std::max(kLeast, bytes / size_bytes));
  }
};

inline Amount amount_of(char** texts) {
  return {number_of(texts[0]), number_of(texts[1]), number_of(texts[2])};
}

// The middle one and the mean of the runs.
struct Summary {
  double median, mean;
};

inline Summary summary_of(std::vector<double> runs) {
  std::sort(runs.begin(), runs.end());
  const double sum = std::accumulate(runs.begin(), runs.end(), 0.0);
  return {runs[(runs.size() - 1) / 2], sum / static_cast<double>(runs.size())};
}

// Measures one size: run(round, times) returns the time of an operation, and a tenth of a run warms
// up before the first one.
template <class Run>
Summary summary_of(const Amount& amount, std::uint64_t size_bytes, Run run) {
  const std::uint64_t times = amount.times(size_bytes);
  run(0, std::max<std::uint64_t>(1, times / 10));
  std::vector<double> runs;
  for (std::uint64_t round = 1; round <= amount.runs; ++round) runs.push_back(run(round, times));
  return summary_of(std::move(runs));
}

// Prints one object of JSON: {"rows": [{"size": ..., "us": ..., "mean_us": ..., "lines": ...}]}.
// Lines are those that this rank has sent for each operation, where somebody has counted them.
class Figures {
 public:
  ~Figures() { std::printf("%s]}\n", is_first_ ? "{\"rows\": [" : ""); }
  void add(std::uint64_t size_bytes, const Summary& us, double lines = 0) {
    std::printf("%s{\"size\": %llu, \"us\": %.9g, \"mean_us\": %.9g, \"lines\": %.9g}",
                is_first_ ? "{\"rows\": [" : ", ", static_cast<unsigned long long>(size_bytes),
                us.median, us.mean, lines);
    is_first_ = false;
  }

 private:
  bool is_first_ = true;
};

inline void print(const Job& job, const std::vector<std::uint64_t>& sizes,
                  const std::vector<Summary>& found) {
  if (job.rank() != 0) return;
  Figures figures;
  for (std::size_t i = 0; i < sizes.size(); ++i) figures.add(sizes[i], found[i]);
}

}  // namespace pwc
