// Gets from mailboxes.
#include "simtest/runner_job.hpp"

namespace photon::simtest {

ph_status Runner::get_once(ph_rank rank, const Step& step) {
  Getting& get = mail_gets_.begin(here(rank), step);
  const std::vector<std::byte> id = MailGets::id_of(get);
  ph_mailbox_get_args args{};
  args.size = sizeof args;
  args.address = kMailAddresses[get.address];
  args.offset = get.offset;
  args.destination = get.destination();
  args.size_bytes = get.size_bytes;
  args.epoch = get.epoch;
  args.incarnation = get.incarnation;
  args.flags = get.is_silent ? std::uint32_t{PH_NO_LCE} : 0;
  args.local = {id.data(), get.id_bytes};
  if (get.is_asking) args.request = &get.request;
  const ph_status status = ph_mailbox_get(context(rank), get.to, &args);
  check_named(rank, get.to, status);
  mail_gets_.posted(get, status);
  return status;
}

void Runner::get_from_mailbox(ph_rank rank, const Step& step) {
  const auto once = [&] { return get_once(rank, step); };
  if (step.fetches)
    insist(rank, "a get from a mailbox", once);
  else
    once();
}

std::size_t Runner::harvest_gets(ph_rank rank) {
  std::size_t count = 0;
  for (Getting* get : mail_gets_.asked_by(here(rank))) {
    if (oracle_.failed()) return count;
    tell_later(rank);
    ph_result result{};
    const ph_status status = ph_test(context(rank), &get->request, &result);
    if (status == PH_AGAIN) continue;
    if (status != result.status)
      oracle_.report("status", get->text() + ": the test of its request said " +
                                   std::to_string(status) + ", its result " +
                                   std::to_string(result.status));
    mail_gets_.ended(*get, result);
    ++count;
  }
  return count;
}

}  // namespace photon::simtest
