#include "api/service_table.hpp"

#include "service/am/am.hpp"
#include "service/coll/collectives.hpp"
#include "service/echo/echo.hpp"
#include "service/mailbox/mailboxes.hpp"
#include "service/rendezvous/rendezvous.hpp"

namespace photon::api {

std::span<const service::Kind> services() noexcept {
  static constexpr service::Kind kServices[] = {
      {wire::Owner::am, "am", service::am::Am::make, service::am::kCounterRows},
      {wire::Owner::coll, "coll", service::coll::Collectives::make},
      {wire::Owner::echo, "echo", service::echo::Echo::make},
      {wire::Owner::mailbox, "mailbox", service::mailbox::Mailboxes::make},
      {wire::Owner::rendezvous, "rendezvous", service::rendezvous::Rendezvous::make},
  };
  return kServices;
}

}  // namespace photon::api
