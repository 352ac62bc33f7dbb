// What arrives on the lane of active messages.
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "interop/mpi/message/am_server.hpp"
#include "interop/mpi/message/head.hpp"
#include "interop/mpi/message/landing.hpp"
#include "interop/mpi/window/in_function.hpp"

namespace photon::mpi {

namespace {

bool is_wanted(const MPIX_Am_landing& named) noexcept {
  return named.buffer != nullptr || named.count != 0 || named.layout != MPIX_AM_LAYOUT_NULL ||
         named.chunk_bytes != 0 || named.comp_handler != nullptr;
}

}  // namespace

// The program's handler is called here, and what it has named is looked at when it has returned.
ph_status AmServer::on_message(void* server, const ph_am_message* message, ph_am_landing* landing) {
  auto& self = *static_cast<AmServer*>(server);
  Head head;
  if (message->header_bytes < sizeof head) return PH_ERR_PROTOCOL;
  std::memcpy(&head, message->header, sizeof head);
  const std::shared_ptr<Circle> circle = self.circles_.find(head.circle);
  if (circle == nullptr) return PH_ERR_NOT_FOUND;
  const Handler handler = self.circles_.begin(*circle, head.id);
  MPIX_Am_landing named{};
  Fault fault = Fault::no_handler;
  if (handler.function != nullptr) {
    const MPIX_Am_message seen{static_cast<const std::byte*>(message->header) + sizeof head,
                               static_cast<int>(message->header_bytes - sizeof head), head.source,
                               static_cast<MPI_Count>(message->payload_bytes)};
    const InFunction scope;
    const int result = handler.function(handler.user, &seen, &named);
    fault = result == MPI_SUCCESS ? Fault::none : Fault::header_handler;
  }
  if (message->payload_bytes != 0 && message->payload == nullptr) landing->flags = PH_AM_DROP;
  if (fault == Fault::none && is_wanted(named))
    fault = Landing::land(self,
                          {circle, message->source, message->payload_bytes,
                           static_cast<const std::byte*>(message->payload)},
                          named, *landing);
  if (landing->done == nullptr) self.end(*circle, message->source, fault);
  return PH_OK;
}

ph_status AmServer::on_news(void* server, const ph_am_message* message,
                            ph_am_landing* /*landing*/) {
  auto& self = *static_cast<AmServer*>(server);
  News news;
  if (message->header_bytes != sizeof news) return PH_ERR_PROTOCOL;
  std::memcpy(&news, message->header, sizeof news);
  const std::shared_ptr<Circle> circle = self.circles_.find(news.circle);
  if (circle == nullptr) return PH_ERR_NOT_FOUND;
  self.circles_.note_news(*circle, news.fault);
  return PH_OK;
}

// News that cannot be sent for want of memory are told here, so that they are not lost.
void AmServer::end(Circle& circle, ph_rank source, Fault fault) noexcept {
  if (fault != Fault::none) {
    const News news{circle.number, fault, 0};
    ph_am_args args{};
    args.size = sizeof args;
    args.id = kNews;
    args.header = &news;
    args.header_bytes = sizeof news;
    args.flags = PH_NO_LCE;
    circles_.count_sent(circle);
    const ph_status status = ph_am_send(lane_, source, &args);
    if (status != PH_OK) circles_.end_unsent(circle);
    if (status == PH_AGAIN || status == PH_ERR_MEMORY) circles_.note(circle, fault);
  }
  circles_.end(circle);
}

}  // namespace photon::mpi
