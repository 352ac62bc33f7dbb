// Time steps that outlive the loss of a rank:
//   photonrun --keep-going -n PARTS+1 rewind [--steps N] [--cells N] [--output FILE]
//   [--kill PART --at STEP --behind 0..3]
// A ring of cells is divided into parts, one to a rank; the last rank is the spare. In step e a
// part sends the cells at its ends to its neighbours' mailboxes, naming epoch e, and computes when
// epoch e of its own is complete; what the step has left goes to a mailbox of the spare, as epoch e
// of that. Both kinds of mailboxes retain their last epochs. When a rank is lost the spare looks
// for the last step that all parts have saved, takes the part over from there, and all others go
// back to that step: their mailboxes are rewound to it, and refuse what was sent before.
//
//   part:  ready -- go --> running -- halos of step e are complete --> computed, saved --> running
//          any -- rewind --> rewound: the state of that step is got from the spare --> ready
//          any -- done --> over;  any -- failed, or the spare is lost --> failed
//   spare: waiting -- all are ready: go --> watching -- all steps are saved: done --> over
//          watching -- a rank is lost: rewind --> waiting, with a part of its own
//          with a part of its own -- one more rank is lost: failed --> failed
//
// --kill: the rank of that part kills itself in that step, when it has sent so many of its three
// messages. The result is to the bit that of an undisturbed run.
#include <charconv>
#include <string_view>

#include "spare.hpp"

namespace rewind_example {
namespace {

constexpr std::int64_t kLook_us = 10'000;  // between looks at whether the others live

// The part works; nothing is left to do when it returns.
void run_part(ph_context* context, const Options& options) {
  Inbox inbox(context);
  Part part(context, options, ph_rank_of(context));
  check(ph_barrier(context), "barrier");
  tell(context, options.parts, part.ready());
  for (;;) {
    ph_mailbox_event event;
    ph_status status = ph_mailbox_wait(context, {}, &event, kLook_us);
    if (status == PH_TIMEOUT && is_lost(context, options.parts)) {
      status = ph_mailbox_take(context, {}, &event);  // its last words
      if (status != PH_OK) throw std::runtime_error("the spare was lost");
    }
    check(status, "waiting for news");
    if (status != PH_OK) continue;
    if (event.address != kNews) {
      part.take(event);
      continue;
    }
    const News news = inbox.take(event);
    if (news.kind == News::done) return;
    if (news.kind == News::failed) throw std::runtime_error("two ranks were lost");
    if (news.kind == News::go) {
      part.go(news);
    } else {
      part.rewind(news.step);
      tell(context, options.parts, part.ready());
    }
  }
}

void run_spare(ph_context* context, const Options& options) {
  Inbox inbox(context);
  Spare spare(context, options);
  check(ph_barrier(context), "barrier");
  for (bool is_over = false; !is_over;) {
    ph_mailbox_event event;
    const ph_status status = ph_mailbox_wait(context, {}, &event, kLook_us);
    check(status, "waiting for news");
    if (status != PH_OK)
      spare.look();
    else if (event.address == kNews)
      spare.hear(inbox.take(event));
    else
      is_over = spare.take(event);
  }
  News news;
  news.kind = News::done;
  spare.tell_all(news);
  spare.finish();
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (stopped != end || error != std::errc{} || value > UINT32_MAX)
    throw std::runtime_error("no number: " + std::string(text));
  return value;
}

Options options_of(std::span<char*> arguments) {
  Options options;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    if (i + 1 == arguments.size()) throw std::runtime_error("what is " + std::string(name) + "?");
    const char* const value = arguments[++i];
    if (name == "--steps")
      options.steps = number(value);
    else if (name == "--cells")
      options.cells = number(value);
    else if (name == "--kill")
      options.killed = static_cast<std::int64_t>(number(value));
    else if (name == "--at")
      options.at = number(value);
    else if (name == "--behind")
      options.point = number(value);
    else if (name == "--output")
      options.output = value;
    else
      throw std::runtime_error("unknown option " + std::string(name));
  }
  if (options.cells == 0) throw std::runtime_error("a part has at least one cell");
  if (options.at == 0 || options.point > 3)
    throw std::runtime_error("a rank dies in step 1 or later, behind 0 to 3 messages");
  return options;
}

}  // namespace
}  // namespace rewind_example

int main(int argc, char** argv) {
  using namespace rewind_example;
  ph_context* context = nullptr;
  try {
    Options options = options_of({argv, static_cast<std::size_t>(argc)});
    ph_error error{};
    if (ph_context_create(nullptr, &context, &error) != PH_OK) throw std::runtime_error(error.text);
    if (ph_size_of(context) < 2) throw std::runtime_error("it takes a rank, and one to spare");
    options.parts = ph_size_of(context) - 1;
    if (options.parts > kSaved - kHalos)
      throw std::runtime_error("so many parts have no addresses");
    if (options.killed >= options.parts) throw std::runtime_error("there is no part to kill");
    if (ph_rank_of(context) == options.parts)
      run_spare(context, options);
    else
      run_part(context, options);
    ph_context_destroy(context);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rewind: %s\n", error.what());
    ph_context_destroy(context);
    return 2;
  }
}
