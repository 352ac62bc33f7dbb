#include "api/rendezvous_calls.hpp"

#include "api/handle.hpp"
#include "service/rendezvous/rendezvous.hpp"

namespace photon::api {

namespace {

using engine::Engine;
using service::rendezvous::Rendezvous;

constexpr wire::Owner kOwner = wire::Owner::rendezvous;

Rendezvous& service_of(Engine& engine) { return *static_cast<Rendezvous*>(engine.service(kOwner)); }

// What the service has queued goes as far as it can; its words are those of the call.
ph_status told(Engine& engine, ph_status status) {
  engine.push_out();
  return told_by(engine, kOwner, status);
}

}  // namespace

ph_status announce(Engine& engine, ph_rank rank, const ph_announce_args& args) {
  return told(engine, service_of(engine).announce(rank, args));
}

ph_status test_buffer(Engine& engine, const ph_match& match, ph_buffer& buffer) {
  Rendezvous& service = service_of(engine);
  if (const auto wrong = service.check(match); wrong != PH_OK) return told(engine, wrong);
  bool found = service.take(match, buffer);
  if (!found) {
    engine.serve();
    found = service.take(match, buffer);
  }
  engine.tested(found);
  if (found) return told(engine, PH_OK);
  const ph_status broken = service.broken(match);
  return told(engine, broken == PH_OK ? PH_AGAIN : broken);
}

ph_status wait_buffer(Engine& engine, engine::LaneGuard& guard, const ph_match& match,
                      ph_buffer& buffer, std::int64_t timeout_us) {
  Rendezvous& service = service_of(engine);
  if (const auto wrong = service.check(match); wrong != PH_OK) return told(engine, wrong);
  ph_status verdict = PH_OK;
  bool found = false;                           // it is asked more than once, and takes once
  std::uint64_t looked_at = ~std::uint64_t{0};  // nothing to be found among so many
  const auto done = [&] {
    if (!found && service.arrivals() != looked_at) {
      looked_at = service.arrivals();
      found = service.take(match, buffer);
    }
    if (found) return true;
    verdict = service.broken(match);
    return verdict != PH_OK;
  };
  const ph_status status = engine.wait_for(guard, done, timeout_us);
  return status == PH_OK ? told(engine, verdict) : status;
}

ph_status put_buffer(Engine& engine, const ph_buffer& buffer, std::uint64_t offset,
                     ph_put_args args) {
  const Rendezvous::Access access{PH_RECV_BUFFER, offset, args.size_bytes};
  if (const auto wrong = service_of(engine).check(buffer, access); wrong != PH_OK)
    return told(engine, wrong);
  args.target = {buffer.target.address + offset, buffer.target.key};
  return engine.put(buffer.rank, args);
}

ph_status get_buffer(Engine& engine, const ph_buffer& buffer, std::uint64_t offset,
                     ph_get_args args) {
  const Rendezvous::Access access{PH_SEND_BUFFER, offset, args.size_bytes};
  if (const auto wrong = service_of(engine).check(buffer, access); wrong != PH_OK)
    return told(engine, wrong);
  args.source = {buffer.target.address + offset, buffer.target.key};
  if (buffer.data == nullptr) return engine.get(buffer.rank, args);
  return engine.get_here(buffer.rank, args, static_cast<const std::byte*>(buffer.data) + offset);
}

ph_status finish(Engine& engine, const ph_buffer& buffer) {
  return told(engine, service_of(engine).finish(buffer));
}

}  // namespace photon::api
