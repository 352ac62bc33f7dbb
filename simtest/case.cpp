#include "simtest/case.hpp"

#include <iterator>

#include "transport/sim/sim_random.hpp"

namespace photon::simtest {

Program program_of(const Case& one) {
  return generate(one.seed, one.ranks, one.operations,
                  {one.lanes, one.losses, one.peers, one.echoes, one.wakes, one.maps, one.mailboxes,
                   one.collectives, one.ams});
}

transport::sim::SimNetwork::Settings network_of(const Case& one) {
  static constexpr std::uint64_t kDelaysNs[] = {0, 200, 1000, 20'000};
  transport::sim::Random random = transport::sim::Random(one.seed).stream(0x6e6574);
  transport::sim::SimNetwork::Settings network;
  network.seed = one.seed;
  network.max_delay_ns = kDelaysNs[random.up_to(std::size(kDelaysNs) - 1)];
  network.uneven = true;
  network.profile = one.profile;
  network.fault = one.fault;
  // Draws of their own, so that the others are what they were.
  static constexpr std::uint64_t kLocalsMax[] = {1, 2, 4, 64};
  static constexpr std::uint64_t kLocalsRefused[] = {0, 0, 5, 50};
  transport::sim::Random locals = transport::sim::Random(one.seed).stream(0x6c6f63616c);
  network.locals_max = kLocalsMax[locals.up_to(std::size(kLocalsMax) - 1)];
  network.locals_refused_percent = kLocalsRefused[locals.up_to(std::size(kLocalsRefused) - 1)];
  return network;
}

Result run_case(const Case& one, const Program& program, bool keep_history) {
  return run_program(program, one.seed, network_of(one), keep_history);
}

Result run_case(const Case& one, bool keep_history) {
  return run_case(one, program_of(one), keep_history);
}

Fails fails_with(const Case& one, const std::string& kind) {
  return [one, kind](const Program& program) {
    const Result result = run_case(one, program, false);
    return result.finding && result.finding->kind == kind;
  };
}

}  // namespace photon::simtest
