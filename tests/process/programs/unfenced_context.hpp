// Contexts of test programs whose mailboxes may be made without their fence (simtest/unfenced.hpp),
// so that what it guards against is seen. Fails by ending the process.
#pragma once

#include <photon/photon.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "api/handle.hpp"
#include "api/open_transport.hpp"
#include "boot/callback_boot.hpp"
#include "boot/lane_demux.hpp"
#include "simtest/unfenced.hpp"

namespace photon::test {

inline ph_context* unfenced(const ph_config& config) {
  auto settings = api::checked_settings(&config);
  if (!settings) return nullptr;
  auto real = boot::CallbackBoot::open(*config.bootstrap, *settings);
  if (!real) return nullptr;
  auto boot = boot::LaneDemux::front(std::move(*real));
  if (!boot) return nullptr;
  auto transport = api::open_transport(*settings, **boot);
  if (!transport) return nullptr;
  engine::Engine::Parts parts{*settings, std::move(*boot), std::move(*transport),
                              engine::seeded_keys(config.bootstrap->rank + 1)};
  parts.services = simtest::unfenced_services();
  auto context = api::assemble(std::move(parts));
  return context ? context->release() : nullptr;
}

inline ph_context* open_context(const ph_bootstrap& bootstrap,
                                const std::vector<ph_option>& options, bool is_fenced) {
  const ph_config config{sizeof config, &bootstrap, options.data(), options.size()};
  ph_context* context = nullptr;
  if (!is_fenced)
    context = unfenced(config);
  else if (ph_context_create(&config, &context, nullptr) != PH_OK)
    context = nullptr;
  if (context == nullptr) {
    std::fputs("no context\n", stderr);
    std::_Exit(1);
  }
  return context;
}

}  // namespace photon::test
