// Mailboxes: put into a program that is complete without them, from draws of their own. Most
// mailboxes are opened, and have a buffer or two, before anything else.
#include "simtest/mail_box.hpp"
#include "simtest/program_generator.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kMailboxesInOneOf = 3;  // programs
constexpr std::uint64_t kManyMails = 12;
constexpr std::uint32_t kMostRetained = 3;

bool is_usually_managed(std::uint64_t address) { return address == 1; }

}  // namespace

void Generator::draw_mailbox_options() {
  constexpr std::array<std::uint64_t, 3> kCarried = {1024, 4096, 65536};
  constexpr std::array<std::uint64_t, 4> kEarly = {1024, 1024, 4096, 262'144};
  constexpr std::array<std::uint64_t, 4> kTotal = {0, 700, 4096, 1 << 30};
  option("mailbox_carried_max", kCarried[mails_.up_to(kCarried.size() - 1)]);
  option("mailbox_early_bytes", kEarly[mails_.up_to(kEarly.size() - 1)]);
  option("mailbox_early_total_bytes", kTotal[mails_.up_to(kTotal.size() - 1)]);
}

// Sizes around those where a message takes another way.
std::uint64_t Generator::mail_size() {
  const std::uint64_t bulk = option_of(program_, "bulk_bytes");
  const std::array<std::uint64_t, 6> large = {
      1024, 1025, chunk_ + 1, 3000, bulk / 4 + 1, std::min<std::uint64_t>(bulk + 1, 9000)};
  constexpr std::array<std::uint64_t, 10> small = {4, 5, 8, 8, 24, 25, 32, 33, 64, 200};
  const std::uint64_t size = mails_.up_to(11) == 0 ? large[mails_.up_to(large.size() - 1)]
                                                   : small[mails_.up_to(small.size() - 1)];
  return std::min(size, option_of(program_, "mailbox_carried_max"));
}

// Of a steered one its place is its own; or it shares that, or has no bytes.
void Generator::place_mail(Step& step) {
  const std::uint64_t kind = mails_.up_to(9);
  if (step.verb == Verb::mail_append) {
    if (mails_.up_to(29) == 0) step.size_bytes = 0;
    if (mails_.up_to(39) == 0) step.offset = 8;
    return;
  }
  if (kind == 0 && step.verb == Verb::mail_put) {
    step.size_bytes = 0;
    step.offset = mails_.up_to(64);
    return;
  }
  if (kind < 3 && step.verb == Verb::mail_put) {
    step.size_bytes = kMailSharedSize;
    step.offset = mails_.up_to(kMailSharedBytes - kMailSharedSize);
    return;
  }
  std::uint64_t& next = next_mail_[step.peer * kMailAddressesCount + step.operand];
  step.offset = next;
  next += step.order * step.size_bytes + mails_.up_to(3);
}

Step Generator::mail() {
  Step step;
  step.operand = mails_.up_to(kMailAddressesCount - 1);
  step.peer = static_cast<ph_rank>(mails_.up_to(program_.ranks - 1));
  const bool is_managed = is_usually_managed(step.operand) == (mails_.up_to(15) != 0);
  const bool is_short_form = !is_managed && mails_.up_to(3) == 0;
  step.verb = is_managed ? Verb::mail_append : is_short_form ? Verb::mail_put_u64 : Verb::mail_put;
  step.size_bytes = mail_size();
  step.order = 1;
  if (step.size_bytes < 1000 && mails_.up_to(2) == 0) step.order = 1 + mails_.up_to(kManyMails - 1);
  place_mail(step);
  step.requested = mails_.up_to(2) == 0;
  step.fetches = mails_.up_to(5) != 0;
  if (!step.requested && mails_.up_to(2) == 0) step.flags |= PH_NO_LCE;
  if (mails_.up_to(3) == 0) step.local_id_bytes = id_max_;
  if (mails_.up_to(4) == 0) step.compare = 1 + mails_.up_to(4);
  if (mails_.up_to(7) == 0)
    step.kinds = static_cast<std::uint32_t>(1 + mails_.up_to(1));
  else
    step.kinds = 0;
  if (mails_.up_to(79) == 0) step.peer = program_.ranks;
  step.lane = lane_of_mailbox(step.peer, step.operand);
  return step;
}

// So that most messages find one there.
std::uint32_t Generator::lane_of_mailbox(ph_rank rank, std::uint64_t address) {
  const std::uint64_t lanes = program_.lanes.size() + 1;
  if (mails_.up_to(3) == 0) return static_cast<std::uint32_t>(mails_.up_to(lanes - 1));
  return static_cast<std::uint32_t>((rank + address) % lanes);
}

Step Generator::mailbox_open(std::uint64_t address) {
  Step step;
  step.verb = Verb::mail_open;
  step.operand = address;
  step.order = is_usually_managed(address) == (mails_.up_to(7) != 0) ? PH_MAILBOX_MANAGED
                                                                     : PH_MAILBOX_STEERED;
  step.row_bytes = mails_.up_to(1) == 0 ? PH_MAILBOX_OPERATIONS : PH_MAILBOX_BYTES;
  if (step.row_bytes == PH_MAILBOX_OPERATIONS || mails_.up_to(1) == 0)
    step.compare = 1 + mails_.up_to(step.row_bytes == PH_MAILBOX_OPERATIONS ? 5 : 150);
  if (mails_.up_to(19) == 0) step.compare = 0;
  step.flags = mails_.up_to(4) == 0 ? std::uint32_t{PH_MAILBOX_REFUSE_EARLY} : 0;
  step.query_peer = PH_ANY_RANK;
  if (mails_.up_to(9) == 0)
    step.query_peer = static_cast<ph_rank>(mails_.up_to(program_.ranks - 1));
  step.capacity =
      mails_.up_to(1) == 0 ? 0 : static_cast<std::uint32_t>(mails_.up_to(kMostRetained));
  return step;
}

Step Generator::mailbox_post(std::uint64_t address) {
  Step step;
  step.verb = Verb::mail_post;
  step.operand = address;
  step.order = mails_.up_to(kMailSlots - 1);
  step.requested = mails_.up_to(1) == 0;
  if (mails_.up_to(3) == 0) step.compare = 1 + mails_.up_to(99);
  const bool is_part = is_usually_managed(address) || mails_.up_to(7) == 0;
  if (is_part) step.size_bytes = 1 + mails_.up_to(mails_.up_to(5) == 0 ? 4000 : 400);
  return step;
}

// One call of an owner.
Step Generator::mailbox_call(std::uint64_t address) {
  constexpr std::array<Verb, 13> kVerbs = {
      Verb::mail_open,   Verb::mail_post, Verb::mail_post, Verb::mail_post,    Verb::mail_take,
      Verb::mail_take,   Verb::mail_take, Verb::mail_take, Verb::mail_advance, Verb::mail_release,
      Verb::mail_rewind, Verb::mail_list, Verb::mail_close};
  const Verb verb = kVerbs[mails_.up_to(kVerbs.size() - 1)];
  if (verb == Verb::mail_open) return mailbox_open(address);
  if (verb == Verb::mail_post) return mailbox_post(address);
  Step step;
  step.verb = verb;
  step.operand = address;
  step.order = mails_.up_to(kMostRetained);
  step.capacity = static_cast<std::uint32_t>(1 + mails_.up_to(3));
  if (verb == Verb::mail_take && mails_.up_to(2) == 0) step.time_ns = 1000 * mails_.up_to(30);
  step.kinds = mails_.up_to(1) == 0 ? 1 : 0;
  if (verb == Verb::mail_close && mails_.up_to(2) != 0) step.verb = Verb::mail_take;
  return step;
}

// The steps never follow the one by which a rank leaves.
void Generator::add_mailboxes(Mailboxes choice) {
  const bool is_drawn = mails_.up_to(kMailboxesInOneOf - 1) == 0;
  if (choice == Mailboxes::none || (choice == Mailboxes::drawn && !is_drawn)) return;
  program_.mailboxes = true;
  draw_mailbox_options();
  next_mail_.assign(std::size_t{program_.ranks + 1} * kMailAddressesCount, kMailSharedBytes);
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) {
    auto& steps = program_.steps[rank];
    const bool leaves = !shape_.leavers.empty() && shape_.leavers[rank];
    const auto insert = [&](std::uint64_t from, Step step, std::uint64_t address) {
      const std::uint64_t at = from + mails_.up_to(steps.size() - (leaves ? 1 : 0) - from);
      if (step.verb < Verb::mail_put || step.verb > Verb::mail_put_u64)
        step.lane = lane_of_mailbox(rank, address);
      steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), step);
    };
    for (std::uint64_t left = mails_.up_to(steps.size() / 4 + 8); left > 0; --left) {
      insert(0, mail(), 0);
      const std::uint64_t address = mails_.up_to(kMailAddressesCount - 1);
      insert(0, mailbox_call(address), address);
    }
    for (std::uint64_t address = 0; address < kMailAddressesCount; ++address) {
      if (mails_.up_to(5) == 0) continue;
      const auto lane = static_cast<std::uint32_t>((rank + address) % (program_.lanes.size() + 1));
      for (std::uint64_t posts = mails_.up_to(2); posts > 0; --posts) {
        Step step = mailbox_post(address);
        step.lane = lane;
        steps.insert(steps.begin(), step);
      }
      Step step = mailbox_open(address);
      step.lane = lane;
      steps.insert(steps.begin(), step);
    }
  }
  if (choice != Mailboxes::carried) add_offers();
  measure_mailboxes();
  if (choice != Mailboxes::carried) add_gets();
}

// A buffer of all of it takes whatever is sent there.
void Generator::measure_mailboxes() {
  program_.mail_bytes = *std::max_element(next_mail_.begin(), next_mail_.end()) + 16;
}

}  // namespace photon::simtest
