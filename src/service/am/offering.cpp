// Messages whose payload their target reads from this rank's memory: from the call to the ring or
// the outbox. What becomes of them afterwards their offer knows.
#include <utility>
#include <vector>

#include "service/am/am_sender.hpp"

namespace photon::service::am {

// What is made here is undone unless the message was accepted.
struct Sender::Offering {
  Offering(Offers& with, To& at, const Checked& of) noexcept
      : offers(with), to(at), what(of), request(of.end.request) {
    if (request != nullptr) before = *request;
  }
  Offering(const Offering&) = delete;
  Offering& operator=(const Offering&) = delete;
  ~Offering() {
    if (is_accepted) return;
    if (is_expected) to.notes.unexpect();
    if (is_made) offers.withdraw(token);
    if (request != nullptr) *request = before;  // also where a promise was made and renounced
  }
  // PH_AGAIN: no completion is left.
  ph_status make(bool is_counted) {
    to.notes.expect();
    is_expected = true;
    const ph_status status =
        offers.make({what.draft.payload, what.end, what.is_delivered, is_counted}, token);
    is_made = status == PH_OK;
    if (!is_made) return status;
    table.resize(offers.blocks_of(token) * sizeof(SourceBlock));
    offers.write_table(token, table.data());
    return PH_OK;
  }
  // It is accepted: from now on the offer tells of it.
  Note accept(Port& port) noexcept {
    is_accepted = true;
    offers.accept(token);
    if (request != nullptr) port.hand_over(offers.promise_of(token), request);
    return {Note::Kind::pull, false, token};
  }

  Offers& offers;
  To& to;
  const Checked& what;
  ph_request* request;
  ph_request before = PH_REQUEST_NONE;
  std::uint64_t token = 0;
  std::vector<std::byte> table;
  bool is_expected = false;
  bool is_made = false;
  bool is_accepted = false;
};

ph_status Sender::offer(Checked& what, Asker asker) {
  const Rank rank = what.end.rank;
  if (is_closing_) return port_.fail(PH_ERR_STATE, rank, "am_send: the lane is being closed");
  if (const ph_status status = port_.contact(rank); status != PH_OK) return status;
  To& to = outbox_.use(rank);
  aggregates_.send(to);
  if (to.lost != PH_OK) return port_.contact(rank);  // it has the words
  const bool goes = outbox_.may_offer(to);
  if (const ph_status status = may_send(to, what, asker, goes); status != PH_OK) return status;
  const bool is_counted = asker == Asker::handler;
  if (is_counted && !outbox_.budget().has_room(asker)) return outbox_.may_queue(to, asker);
  Offering offering(outbox_.offers(), to, what);
  const ph_status status = offering.make(is_counted);
  if (status == PH_AGAIN) return asker == Asker::user ? PH_AGAIN : PH_ERR_MEMORY;
  return status == PH_OK ? send_offer(to, offering, asker, goes) : status;
}

ph_status Sender::send_offer(To& to, Offering& offering, Asker asker, bool goes) {
  Draft draft = offering.what.draft;
  const ph_const_block table{offering.table.data(), offering.table.size()};
  const PullWords words{draft.payload_bytes, offering.token,
                        offering.table.size() / sizeof(SourceBlock), draft.immediate};
  draft.payload = {&table, 1};
  draft.payload_bytes = table.size_bytes;
  choose_pull(draft, words, record_max(port_, to.rank));
  const Submitted submitted{to, draft, goes, asker};
  std::unique_ptr<Entry> copy;
  if (const ph_status status = say_or_copy(submitted, copy); status != PH_OK) return status;
  settle(submitted, offering.accept(port_), std::move(copy));
  return PH_OK;
}

// It makes room for one more at that target.
bool Sender::done(Rank from, std::uint64_t token, std::uint64_t status) {
  if (!outbox_.offers().done(from, token, status)) return false;
  To* const to = outbox_.find(from);
  if (to != nullptr && !to->queue.empty()) outbox_.move(*to);
  return true;
}

}  // namespace photon::service::am
