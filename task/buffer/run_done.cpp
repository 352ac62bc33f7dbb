#include "task/buffer/run_done.hpp"

#include <cstring>

#include "task/buffer/spread.hpp"

namespace photon::task {

namespace {

// A message that says of itself that it is the record of an operation.
bool run_record(Buffers& buffers, Message& message) noexcept {
  if (message.size_bytes == sizeof(Operation)) {
    EndName name = name_of_id(operation_of(message).local);
    name.says = EndName::Says::ended;
    if (buffers.underway.find(name) == &message) {
      static_cast<void>(buffers.underway.take(name));
      const bool is_spread = operation_of(message).feeds != Feeds::none;
      return is_spread ? run_landed(buffers, message) : run_own(buffers, message);
    }
  }
  return drop_message(buffers.pe, message);  // a peer has made it up
}

}  // namespace

bool run_done(Pe& pe, Message& message) noexcept {
  Buffers& buffers = buffers_of(pe);
  if (message.wire.handler == kRecord) return run_record(buffers, message);
  Told told{};
  if (message.wire.handler != kTold || message.size_bytes != sizeof told)
    return drop_message(pe, message);  // a peer has made it up
  std::memcpy(&told, body_of(message), sizeof told);
  const EndName name = name_of_id(told.id);
  switch (name.says) {
    case EndName::Says::read:
    case EndName::Says::written: return run_told(buffers, name, told, message);
    case EndName::Says::turned: return run_turned(buffers, name, told, message);
    case EndName::Says::fed: return run_fed(buffers, name, told, message);
    case EndName::Says::none:
    case EndName::Says::issued:
    case EndName::Says::ended: break;
  }
  return drop_message(pe, message);
}

}  // namespace photon::task
