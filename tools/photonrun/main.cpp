// photonrun: starts the ranks of a job, or of a job on several hosts those of this one. See
// docs/launcher.md.
#include <exception>

#include "fd.hpp"
#include "options.hpp"
#include "signals.hpp"
#include "sink.hpp"
#include "supervisor.hpp"

int main(int argc, char** argv) {
  try {
    photonrun::occupy_standard_fds();
    const auto parsed = photonrun::parse_options(argc, argv);
    if (const int* const status = std::get_if<int>(&parsed)) return *status;
    photonrun::Signals signals;
    return photonrun::run_guarded(std::get<photonrun::Options>(parsed), signals);
  } catch (const std::exception& error) {
    photonrun::say_line(error.what());
    return 125;
  }
}
