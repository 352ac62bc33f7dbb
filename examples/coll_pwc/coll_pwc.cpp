// Collective operations by a provider over plain puts (pwc_provider.hpp), checked.
// photonrun -n 4 coll_pwc [rounds]; PHOTON_COLL=default has the library do them instead.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "pwc_provider.hpp"

namespace {

struct Job {
  ph_context* context = nullptr;
  ph_team* team = nullptr;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
};

void stop_at(ph_status status, const Job& job, const char* what) {
  if (status == PH_OK) return;
  ph_error error;
  ph_last_error(job.context, &error);
  std::fprintf(stderr, "coll_pwc: rank %u: %s: %s\n", job.rank, what, error.text);
  std::exit(1);
}

ph_coll_args args_of(ph_coll_kind kind, const void* in, void* out, std::uint64_t count) {
  ph_coll_args args{};
  args.size = sizeof args;
  args.kind = kind;
  args.in = in;
  args.out = out;
  args.count = count;
  args.type = PH_INT64;
  return args;
}

// A broadcast from another rank in each round, a sum, and a gather, which the library does.
bool round_is_right(const Job& job, std::uint32_t round, std::uint64_t count) {
  std::vector<std::int64_t> in(count), out(count), all(count * job.ranks);
  std::iota(in.begin(), in.end(), job.rank * 1000 + round);
  const std::uint32_t root = round % job.ranks;
  if (job.rank == root) out = in;
  ph_coll_args bcast = args_of(PH_COLL_BCAST, nullptr, out.data(), count);
  bcast.root = root;
  stop_at(ph_coll_run(job.team, &bcast, PH_FOREVER), job, "bcast");
  bool is_right = true;
  for (std::uint64_t i = 0; i < count; ++i)
    is_right = is_right && out[i] == static_cast<std::int64_t>(root * 1000 + round + i);

  ph_request request = PH_REQUEST_NONE;
  ph_coll_args sum = args_of(PH_COLL_ALLREDUCE, in.data(), out.data(), count);
  sum.op = PH_OP_ADD;
  sum.request = &request;
  stop_at(ph_coll_begin(job.team, &sum), job, "allreduce");
  stop_at(ph_wait_request(job.context, &request, nullptr, PH_FOREVER), job, "allreduce");
  const std::int64_t ranks = job.ranks;
  for (std::uint64_t i = 0; i < count; ++i)
    is_right = is_right && out[i] == ranks * (ranks - 1) / 2 * 1000 +
                                         ranks * static_cast<std::int64_t>(round + i);

  ph_coll_args gather = args_of(PH_COLL_GATHER, in.data(), all.data(), count);
  stop_at(ph_coll_run(job.team, &gather, PH_FOREVER), job, "gather");
  const ph_coll_args barrier = args_of(PH_COLL_BARRIER, nullptr, nullptr, 0);
  stop_at(ph_coll_run(job.team, &barrier, PH_FOREVER), job, "barrier");
  for (std::uint64_t i = 0; job.rank == 0 && i < count * job.ranks; ++i)
    is_right =
        is_right && all[i] == static_cast<std::int64_t>(i / count * 1000 + round + i % count);
  return is_right;
}

}  // namespace

int main(int argc, char** argv) {
  const auto rounds =
      static_cast<std::uint32_t>(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20);
  PwcProvider provider;  // before the context, and so longer there than it
  const ph_option by_pwc{"coll", "pwc"};
  ph_config config{};
  config.size = sizeof config;
  config.options = &by_pwc;
  config.options_count = std::getenv("PHOTON_COLL") == nullptr ? 1 : 0;
  Job job;
  ph_error error;
  if (ph_context_create(&config, &job.context, &error) != PH_OK) {
    std::fprintf(stderr, "coll_pwc: %s\n", error.text);
    return 1;
  }
  job.rank = ph_rank_of(job.context);
  job.ranks = ph_size_of(job.context);
  stop_at(ph_coll_provider_register(job.context, &provider.table()), job, "register");
  stop_at(ph_team_world(job.context, &job.team), job, "team");
  bool is_right = true;
  for (std::uint32_t round = 0; round < rounds; ++round)
    for (const std::uint64_t count : {1, 1000, 30000})
      is_right = round_is_right(job, round, count) && is_right;
  if (!is_right || job.rank == 0)
    std::printf("coll_pwc: rank %u of %u, %u rounds, %s\n", job.rank, job.ranks, rounds,
                is_right ? "right" : "WRONG");
  stop_at(ph_finalize(job.context), job, "finalize");
  ph_context_destroy(job.context);
  return is_right ? 0 : 1;
}
