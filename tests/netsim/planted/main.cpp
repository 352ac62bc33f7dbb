// Linked with a copy of the model into which a fault was planted: a packet that is dropped, or one
// that comes twice. Status 0: the run ended as a failure.
#include <cstdio>

#include "netsim/run/simulation.hpp"
#include "netsim/run/table.hpp"

int main() {
  using namespace photon::netsim;
  for (const std::uint32_t bytes : {64U, 19200U}) {
    Settings settings = table_settings();
    settings.network = {"torus", "3x3"};
    settings.motif = {"exchange", "3x3", bytes, 2, 1};
    const auto result = run(settings);
    if (!result || result->failure.empty()) {
      std::puts("the planted fault was not noticed");
      return 1;
    }
    std::printf("%u B: %s\n", bytes, result->failure.c_str());
  }
  return 0;
}
