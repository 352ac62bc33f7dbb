// The calls of photon/rendezvous.h on the engine of a lane that is held.
// Owner: none. Threads: under the lane's lock; wait_buffer() gives it up while it sleeps.
#pragma once

#include <photon/rendezvous.h>

#include "engine/engine.hpp"

namespace photon::api {

ph_status announce(engine::Engine& engine, ph_rank rank, const ph_announce_args& args);
ph_status test_buffer(engine::Engine& engine, const ph_match& match, ph_buffer& buffer);
ph_status wait_buffer(engine::Engine& engine, engine::LaneGuard& guard, const ph_match& match,
                      ph_buffer& buffer, std::int64_t timeout_us);
ph_status put_buffer(engine::Engine& engine, const ph_buffer& buffer, std::uint64_t offset,
                     ph_put_args args);
ph_status get_buffer(engine::Engine& engine, const ph_buffer& buffer, std::uint64_t offset,
                     ph_get_args args);
ph_status finish(engine::Engine& engine, const ph_buffer& buffer);

}  // namespace photon::api
