// Linked with a copy of the model into which a fault was planted. Status 0: the run ended as a
// failure. With an argument: it ends well, but as a failure with --check, which begins so.
#include <cstdio>
#include <string>

#include "netsim/run/simulation.hpp"
#include "netsim/run/table.hpp"

namespace {

std::string failure_of(const photon::netsim::Settings& settings, bool is_audited) {
  const auto simulation = photon::netsim::make_simulation(settings);
  if (!simulation) return "";
  if (is_audited) (*simulation)->audit();
  return (*simulation)->run().failure;
}

}  // namespace

int main(int count, char** words) {
  using namespace photon::netsim;
  const std::string tells = count > 1 ? words[1] : "";
  const bool is_audited = count > 1;
  for (const std::uint32_t bytes : {64U, 19200U}) {
    Settings settings = table_settings();
    settings.network = {"torus", "3x3"};
    settings.motif = {"exchange", "3x3", bytes, 2, 1};
    const std::string failure = failure_of(settings, is_audited);
    std::printf("%u B: %s\n", bytes, failure.c_str());
    if (failure.empty() || !failure.starts_with(tells)) {
      std::puts("the planted fault was not noticed");
      return 1;
    }
    if (is_audited && !failure_of(settings, false).empty()) {
      std::puts("the planted fault was noticed without --check");
      return 1;
    }
  }
  return 0;
}
