// registration: what it costs to register one more region, to take it back, and to find the region
// around a place, with few and with very many registered. Blocks of 64 bytes in larger and larger
// regions, as an application has them that registers its pool, its slabs and its objects. Only rank
// 0 measures, and nobody else knows of its regions; taking back includes the barrier for peers.
#include <fmt/core.h>

#include <memory>
#include <random>
#include <vector>

#include "clock.hpp"
#include "job.hpp"
#include "questions.hpp"
#include "team.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kBlockBytes = 64;
constexpr std::uint64_t kFanOut = 16;  // regions inside the next larger one
constexpr std::uint64_t kCallsDefault = 20'000;

// So many regions: all blocks of a pool, and what contains 16 of them, 256, and so on.
class Population {
 public:
  Population(Job& job, std::uint64_t count)
      : job_(&job),
        pool_bytes_((count - count / kFanOut) * kBlockBytes),
        pool_(new std::byte[pool_bytes_]) {
    std::uint64_t bytes = kBlockBytes;
    for (std::uint64_t offset = 0; regions_.size() < count; offset += bytes) {
      if (offset + bytes > pool_bytes_) {
        offset = 0;
        bytes *= kFanOut;
        if (bytes > pool_bytes_) break;
      }
      add(offset, bytes);
    }
    while (regions_.size() < count) add(0, pool_bytes_ - regions_.size());
  }
  ~Population() {
    for (const auto& region : regions_)
      static_cast<void>(ph_unregister(job_->context(), region.key));
  }
  Population(const Population&) = delete;
  Population& operator=(const Population&) = delete;

  std::uint64_t count() const noexcept { return regions_.size(); }

  // One more, somewhere, and back.
  void register_one() {
    ph_region region{};
    auto* base = pool_.get() + random_() % (pool_bytes_ - kBlockBytes) / 8 * 8 + 4;
    job_->check(ph_register(job_->context(), base, kBlockBytes / 2, PH_ACCESS_ALL, &region),
                "registering");
    job_->check(ph_unregister(job_->context(), region.key), "unregistering");
  }
  void find_one() {
    ph_region region{};
    const auto* base = pool_.get() + random_() % (pool_bytes_ / kFanOut);
    job_->check(ph_find_region(job_->context(), base, 1, &region), "finding a region");
  }

 private:
  void add(std::uint64_t offset, std::uint64_t bytes) {
    ph_region region{};
    job_->check(ph_register(job_->context(), pool_.get() + offset, bytes, PH_ACCESS_ALL, &region),
                "registering");
    regions_.push_back(region);
  }

  Job* job_;
  std::uint64_t pool_bytes_;
  std::unique_ptr<std::byte[]> pool_;  // never touched
  std::vector<ph_region> regions_;
  std::mt19937_64 random_{1};
};

template <class Call>
void measure(const Bench& bench, const Population& population, const char* what, Call call) {
  const auto iterations = bench.options.iterations;
  const auto batches = batches_for(iterations == 0 ? kCallsDefault : iterations);
  std::vector<double> samples_ns;
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) call();
    samples_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                         static_cast<double>(batches.each));
  }
  Row row;
  row.question = bench.options.question;
  row.transport = bench.job.path_to(1).transport;
  row.mode = fmt::format("{}, {} regions", what, population.count());
  row.size_bytes = kBlockBytes;
  row.iterations = batches.total();
  row.latency = summarize(std::move(samples_ns));
  bench.report.add(std::move(row));
}

}  // namespace

void ask_registration(Bench& bench) {
  Team crew(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size());
  if (bench.job.rank() == 0) {
    const bool tiny = bench.options.iterations != 0 && bench.options.iterations < kBatch;
    for (const std::uint64_t count : {100, 10'000, 100'000}) {
      if (tiny && count > 10'000) break;
      Population population(bench.job, count);
      measure(bench, population, "register and back", [&] { population.register_one(); });
      measure(bench, population, "find", [&] { population.find_one(); });
    }
  }
  crew.barrier_asleep();
}

}  // namespace photon::perf
