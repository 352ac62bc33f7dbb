// Mailboxes of a program: what is sent to them, and what their owners do.
#include <algorithm>

#include "simtest/runner_job.hpp"

namespace photon::simtest {

ph_status Runner::mail_once(ph_rank rank, const Step& step, std::uint64_t index) {
  Mailed& mail = mail_.begin(here(rank), step, index);
  ph_status status = PH_OK;
  if (mail.is_nameless) {
    status = ph_mailbox_put_u64(context(rank), mail.to, kMailAddresses[mail.address], mail.offset,
                                {mail.source.data(), mail.source.size()});
  } else {
    const std::vector<std::byte> id = MailModel::id_of(mail);
    ph_mailbox_put_args args{};
    args.size = sizeof args;
    args.address = kMailAddresses[mail.address];
    args.offset = mail.offset;
    args.source = mail.source.data();
    args.size_bytes = mail.size_bytes();
    args.epoch = mail.epoch;
    args.incarnation = mail.incarnation;
    args.flags = mail.is_silent ? std::uint32_t{PH_NO_LCE} : 0;
    args.local = {id.data(), mail.id_bytes};
    if (mail.is_asking) args.request = &mail.request;
    status = mail.appends ? ph_mailbox_append(context(rank), mail.to, &args)
                          : ph_mailbox_put(context(rank), mail.to, &args);
  }
  check_named(rank, mail.to, status);
  mail_.posted(mail, status);
  return status;
}

// A step may send many: as many as there is room for, unless it insists.
void Runner::say_mail(ph_rank rank, const Step& step) {
  for (std::uint64_t i = 0; i < step.order && !oracle_.failed(); ++i) {
    const auto once = [&] { return mail_once(rank, step, i); };
    const ph_status status = step.fetches ? insist(rank, "a message to a mailbox", once) : once();
    if (status != PH_OK) return;
  }
}

// What its owner may know at any time.
void Runner::sync(ph_rank rank, MailBox& box) {
  std::uint64_t epoch = 0;
  std::uint32_t incarnation = 0;
  const ph_status status = ph_mailbox_epoch(context(rank), box.handle, &epoch, &incarnation);
  mail_.boxes().sync(box, epoch, incarnation, status);
}

void Runner::open_mailbox(ph_rank rank, const Step& step) {
  const auto address = static_cast<std::uint32_t>(step.operand % kMailAddressesCount);
  ph_mailbox_args args{};
  args.size = sizeof args;
  args.address = kMailAddresses[address];
  args.threshold = step.compare;
  args.unit = static_cast<ph_mailbox_unit>(step.row_bytes);
  args.placing = static_cast<ph_mailbox_placing>(step.order);
  args.flags = step.flags;
  args.source = step.query_peer;
  args.retained = step.capacity;
  ph_mailbox handle{};
  const ph_status status = ph_mailbox_open(context(rank), &args, &handle);
  mail_.boxes().opened(here(rank), address, args, handle, status);
  if (status == PH_OK) sync(rank, *mail_.boxes().place(here(rank), address).open());
}

void Runner::post_buffer(ph_rank rank, MailBox& box, const Step& step) {
  MailBoxes& boxes = mail_.boxes();
  const auto slot = static_cast<std::uint32_t>(step.order % kMailSlots);
  const bool is_held = boxes.is_held(box, slot);
  if (!is_held && boxes.is_busy(box, slot)) return;  // its event was not taken
  const ph_mailbox_buffer buffer = boxes.prepare(box, slot, step);
  ph_status right = MailBoxes::right_of(box, buffer);
  if (right == PH_OK && is_held) right = PH_ERR_STATE;
  if (right == PH_OK) boxes.fill(box, slot, buffer);
  boxes.posted(box, slot, buffer, ph_mailbox_post(context(rank), box.handle, &buffer), right);
}

// One that is retained, or one that is not.
std::uint64_t Runner::retained_epoch(const MailBox& box, const Step& step) {
  if (step.order < box.retained.size()) return box.retained[step.order]->epoch;
  return box.known_epoch + step.order;
}

void Runner::call_mailbox(ph_rank rank, MailBox& box, const Step& step) {
  MailBoxes& boxes = mail_.boxes();
  ph_context* const mine = context(rank);
  sync(rank, box);
  if (oracle_.failed()) return;
  switch (step.verb) {
    case Verb::mail_post: return post_buffer(rank, box, step);
    case Verb::mail_advance:
      boxes.taking_back(box);
      boxes.advanced(box, ph_mailbox_inc_epoch(mine, box.handle));
      return sync(rank, box);
    case Verb::mail_release: {
      const std::uint64_t epoch = retained_epoch(box, step);
      return boxes.released(box, epoch, ph_mailbox_release(mine, box.handle, epoch));
    }
    case Verb::mail_rewind: {
      const std::uint64_t epoch = retained_epoch(box, step);
      boxes.rewinding(box, epoch);
      boxes.rewound(box, epoch, ph_mailbox_rewind(mine, box.handle, epoch));
      return sync(rank, box);
    }
    case Verb::mail_list: {
      std::vector<ph_mailbox_event> events(box.args.retained + 1);
      std::size_t count = 0;
      const ph_status status =
          ph_mailbox_retained(mine, box.handle, events.data(), events.size(), &count);
      if (!expect(rank, "mailbox_retained", status)) return;
      events.resize(std::min(count, events.size()));
      return boxes.listed(box, events);
    }
    default: boxes.closing(box); return boxes.closed(box, ph_mailbox_close(mine, box.handle));
  }
}

// A handle that is closed is refused.
void Runner::call_closed(ph_rank rank, const MailBox& box, const Step& step) {
  ph_context* const mine = context(rank);
  std::uint64_t word = 0;
  ph_mailbox_buffer buffer{};
  buffer.size = sizeof buffer;
  buffer.data = &word;
  buffer.size_bytes = sizeof word;
  const ph_status status =
      step.verb == Verb::mail_post      ? ph_mailbox_post(mine, box.handle, &buffer)
      : step.verb == Verb::mail_advance ? ph_mailbox_inc_epoch(mine, box.handle)
      : step.verb == Verb::mail_rewind  ? ph_mailbox_rewind(mine, box.handle, step.order)
                                        : ph_mailbox_close(mine, box.handle);
  expect(rank, "a call on a closed mailbox", status, PH_ERR_STATE);
}

void Runner::mailbox(ph_rank rank, const Step& step) {
  switch (step.verb) {
    case Verb::mail_put:
    case Verb::mail_append:
    case Verb::mail_put_u64: return say_mail(rank, step);
    case Verb::mail_get: return get_from_mailbox(rank, step);
    case Verb::mail_open: return open_mailbox(rank, step);
    case Verb::mail_take: return take_events(rank, step);
    default: break;
  }
  const auto address = static_cast<std::uint32_t>(step.operand % kMailAddressesCount);
  MailPlace& place = mail_.boxes().place(here(rank), address);
  if (place.open() != nullptr) return call_mailbox(rank, *place.open(), step);
  if (!place.lives.empty()) call_closed(rank, place.lives.back(), step);
}

// Takes at most `most` events that have come, of any mailbox of the lane; those that gave none have
// none.
std::size_t Runner::take_mail(ph_rank rank, std::size_t most) {
  for (std::size_t count = 0; count < most; ++count) {
    tell_later(rank);
    if (oracle_.failed()) return count;
    ph_mailbox_event event{};
    const std::uint64_t heard_count = seats_[rank].heard_count;
    const ph_status status = ph_mailbox_take(context(rank), {}, &event);
    if (status == PH_AGAIN) {
      // Handlers run at the end of the call, and what they do may bring more.
      if (heard_count == seats_[rank].heard_count) check_none(rank);
      return count;
    }
    if (!expect(rank, "mailbox_take", status)) return count;
    mail_.boxes().took(here(rank), event);
  }
  return most;
}

void Runner::check_none(ph_rank rank) {
  for (std::uint32_t address = 0; address < kMailAddressesCount && !oracle_.failed(); ++address) {
    MailPlace& place = mail_.boxes().place(here(rank), address);
    for (MailBox& box : place.lives) {
      if (box.is_gone) continue;
      if (box.is_open()) sync(rank, box);
      mail_.boxes().took_none(box, box.is_open() || !box.awaited.empty() ? PH_AGAIN : PH_ERR_STATE);
    }
  }
}

// Of the mailbox that was last here, or of any.
void Runner::take_events(ph_rank rank, const Step& step) {
  const auto address = static_cast<std::uint32_t>(step.operand % kMailAddressesCount);
  MailPlace& place = mail_.boxes().place(here(rank), address);
  const bool is_any = step.kinds != 0 || place.lives.empty();
  if (is_any && step.time_ns == 0) return static_cast<void>(take_mail(rank, step.capacity));
  tell_later(rank);
  MailBox* const box = is_any ? nullptr : &place.lives.back();
  const ph_mailbox handle = is_any ? ph_mailbox{} : box->handle;
  ph_mailbox_event event{};
  const std::uint64_t heard_count = seats_[rank].heard_count;
  ph_status status = PH_OK;
  if (step.time_ns == 0) {
    status = ph_mailbox_take(context(rank), handle, &event);
  } else {
    const auto limit_us = static_cast<std::int64_t>(step.time_ns / 1000);
    Oracle::Wait wait{"a wait for an event of a mailbox", world_.now_ns(), limit_us};
    const std::uint64_t away_before_ns = away_ns(rank);
    status = ph_mailbox_wait(context(rank), handle, &event, limit_us);
    wait.stood_still_ns = away_ns(rank) - away_before_ns;
    oracle_.waited(rank, wait, status == PH_ERR_STATE ? PH_OK : status);
    if (status == PH_TIMEOUT) status = PH_AGAIN;
  }
  if (oracle_.failed()) return;
  if (status == PH_OK) return mail_.boxes().took(here(rank), event);
  if (box == nullptr) return static_cast<void>(expect(rank, "mailbox_take", status, PH_AGAIN));
  if (heard_count != seats_[rank].heard_count) return;  // they may have brought more
  if (box->is_open()) sync(rank, *box);
  mail_.boxes().took_none(*box, status);
}

// What is over by now: events, and requests of messages.
std::size_t Runner::harvest_mail(ph_rank rank) {
  if (!program_.mailboxes) return 0;
  std::size_t count = take_mail(rank, kMostFound);
  for (Mailed* mail : mail_.asked_by(here(rank))) {
    if (oracle_.failed()) return count;
    tell_later(rank);
    ph_result result{};
    const ph_status status = ph_test(context(rank), &mail->request, &result);
    if (status == PH_AGAIN) continue;
    if (status != result.status)
      oracle_.report("status", mail->text() + ": the test of its request said " +
                                   std::to_string(status) + ", its result " +
                                   std::to_string(result.status));
    mail_.ended(*mail, result);
    ++count;
  }
  return count + harvest_gets(rank);
}

// Refusals that found no request come a little after others were taken.
void Runner::take_late_refusals(ph_rank rank) {
  if (!program_.mailboxes) return;
  constexpr std::int64_t kLimitUs = 100;
  for_each_open(rank, [&] {
    do {
      ph_mailbox_event event{};
      expect(rank, "a wait for an event that does not come",
             ph_mailbox_wait(context(rank), {}, &event, kLimitUs), PH_TIMEOUT);
    } while (!oracle_.failed() && look(rank) != 0);
  });
}

// Completions that nobody takes leave no room for the refusal of a message: the end would say that
// its time is over.
void Runner::take_before_leaving(ph_rank rank) {
  if (!program_.mailboxes) return;
  while (!oracle_.failed() && look(rank) != 0) {
  }
}

// Nobody sends to them any more: what waits there is refused.
void Runner::close_mailboxes(ph_rank rank) {
  if (!program_.mailboxes) return;
  Step step;
  step.verb = Verb::mail_close;
  for_each_open(rank, [&] {
    for (step.operand = 0; step.operand < kMailAddressesCount && !oracle_.failed();
         ++step.operand) {
      MailPlace& place = mail_.boxes().place(here(rank), static_cast<std::uint32_t>(step.operand));
      if (place.open() != nullptr) call_mailbox(rank, *place.open(), step);
    }
  });
}

}  // namespace photon::simtest
