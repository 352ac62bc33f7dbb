// Figure 6 of the paper: each rank draws a neighbour and floods it with gets with completion. A
// rank has three threads: the main one posts, one takes local ids, one takes remote ids.
//
//   photonrun -n N pwc_random SIZES TIMES BYTES RUNS
//
// A neighbour is drawn for each run, so all ranks know how many remote ids are theirs. Threads that
// find nothing wait in the library, which lets others have the processor. A figure is the time from
// the first post of a rank until its last local id, over the number of its gets: the mean of all
// ranks. `cpu_us` is the processor time of all processes for each get. Bytes are verified.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "pwc.hpp"

namespace {

std::uint64_t mixed(std::uint64_t value) {  // splitmix64 (Steele, Lea, Flood 2014)
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

ph_rank neighbour_of(ph_rank rank, std::uint32_t size, std::uint64_t run) {
  const auto step = 1 + mixed(rank + (run << 32)) % (size - 1);
  return static_cast<ph_rank>((rank + step) % size);
}

double processor_us() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

struct Cost {
  double wall_us, processor_us;  // of one get of this rank
};

class Gets {
 public:
  Gets(const pwc::Job& job, std::uint64_t size_bytes)
      : job_(&job), size_(size_bytes), from_(job, size_), to_(job, size_) {
    pwc::fill(from_.data(), size_, job.rank());
  }

  Cost run(std::uint64_t run, std::uint64_t times) {
    const ph_rank neighbour = neighbour_of(job_->rank(), job_->size(), run);
    std::uint64_t askers = 0;
    for (ph_rank rank = 0; rank < job_->size(); ++rank) {
      const bool is_ours = neighbour_of(rank, job_->size(), run) == job_->rank();
      askers += rank != job_->rank() && is_ours ? 1U : 0U;
    }
    std::memset(to_.data(), 0xff, size_);
    sums_ = 0;
    job_->meet();
    double end_us = 0;
    std::thread locals([&] {
      take(PH_LOCAL, times);
      end_us = pwc::now_us();
    });
    std::thread remotes([&] { take(PH_REMOTE, askers * times); });
    const double begun_us = processor_us(), begin_us = pwc::now_us();
    for (std::uint64_t i = 0; i < times; ++i) post(neighbour, i);
    locals.join();
    remotes.join();
    job_->meet();
    const double processor = processor_us() - begun_us;
    pwc::verify(to_.data(), size_, neighbour);
    if (sums_ != (1 + askers) * (times * (times - 1) / 2)) pwc::fail("an id is wrong");
    return {(end_us - begin_us) / static_cast<double>(times),
            processor / static_cast<double>(times)};
  }

 private:
  void post(ph_rank neighbour, std::uint64_t i) const {
    for (;;) {
      const auto status = ph_get_u64(job_->context(), neighbour, {to_.data(), size_},
                                     from_.at(neighbour, 0), {i, i});
      if (status != PH_AGAIN) return job_->check(status, "getting");
      std::this_thread::yield();  // the thread of local ids makes room
    }
  }

  void take(std::uint32_t kind, std::uint64_t count) {
    constexpr std::int64_t kLook_us = 1000;
    std::uint64_t sum = 0;
    for (std::uint64_t come = 0; come < count;) {
      const auto found = ph_probe_u64(job_->context(), PH_ANY_RANK, kind);
      job_->check(static_cast<ph_status>(found.status), "probing");
      if (found.kind != 0) {
        sum += found.id;
        ++come;
        continue;
      }
      const auto status = ph_wait(job_->context(), {PH_ANY_RANK, kind, nullptr}, kLook_us);
      if (status != PH_TIMEOUT) job_->check(status, "waiting");
    }
    sums_ += sum;
  }

  const pwc::Job* job_;
  std::uint64_t size_;
  pwc::Memory from_, to_;
  std::atomic<std::uint64_t> sums_{0};  // of all ids that have come
};

// The mean of all ranks.
Cost mean_of(const pwc::Job& job, const Cost& own) {
  std::vector<Cost> all(job.size());
  job.check(ph_allgather(job.context(), &own, all.data(), sizeof own), "gathering");
  Cost sum{};
  for (const auto& each : all) {
    sum.wall_us += each.wall_us;
    sum.processor_us += each.processor_us;
  }
  return {sum.wall_us / job.size(), sum.processor_us / job.size()};
}

void measure(const pwc::Job& job, char** arguments) {
  const auto amount = pwc::amount_of(arguments + 2);
  const char* before = "{\"rows\": [";
  for (const auto size : pwc::numbers_of(arguments[1])) {
    Gets gets(job, size);
    std::vector<double> walls, processors;
    gets.run(0, std::max<std::uint64_t>(1, amount.times(size) / 10));
    for (std::uint64_t i = 1; i <= amount.runs; ++i) {
      const Cost cost = mean_of(job, gets.run(i, amount.times(size)));
      walls.push_back(cost.wall_us);
      processors.push_back(cost.processor_us);
    }
    if (job.rank() != 0) continue;
    const auto wall = pwc::summary_of(walls);
    const auto [least, most] = std::minmax_element(walls.begin(), walls.end());
    std::printf(
        "%s{\"size\": %llu, \"us\": %.9g, \"mean_us\": %.9g, \"least_us\": %.9g, "
        "\"most_us\": %.9g, \"cpu_us\": %.9g}",
        before, static_cast<unsigned long long>(size), wall.median, wall.mean, *least, *most,
        pwc::summary_of(processors).median);
    before = ", ";
  }
  if (job.rank() == 0) std::printf("]}\n");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) pwc::fail("usage: pwc_random SIZES TIMES BYTES RUNS");
  const pwc::Job job;
  if (job.size() < 2) pwc::fail("pwc_random takes two ranks or more");
  measure(job, arguments);
  return 0;
}
