#include "service/mailbox/box_policy.hpp"

namespace photon::service::mailbox {

namespace {

constexpr std::uint32_t kMostRetained = 65'536;  // each post makes room for the events of all
constexpr std::uint32_t kBoxFlags =
    PH_MAILBOX_REFUSE_EARLY | PH_MAILBOX_CATCH_ALL | PH_MAILBOX_SPLIT | PH_MAILBOX_SILENT_CLOSE |
    PH_MAILBOX_READ | PH_MAILBOX_GRANT_AHEAD | PH_MAILBOX_COUNT_ONCE | PH_MAILBOX_REFUSE_OVERLAP;

std::string what_is_unknown(const ph_mailbox_args& args) {
  if (args.unit != PH_MAILBOX_BYTES && args.unit != PH_MAILBOX_OPERATIONS)
    return "no unit " + std::to_string(args.unit);
  if (args.placing != PH_MAILBOX_STEERED && args.placing != PH_MAILBOX_MANAGED)
    return "no placing " + std::to_string(args.placing);
  if ((args.flags & ~kBoxFlags) != 0) return "unknown flags " + std::to_string(args.flags);
  if (args.retained > kMostRetained)
    return std::to_string(args.retained) + " retained buffers; the limit is " +
           std::to_string(kMostRetained);
  return {};
}

}  // namespace

std::string policy_of(const ph_mailbox_args& args, Policy& policy) {
  if (std::string why = what_is_unknown(args); !why.empty()) return why;
  Policy made{args.unit, args.placing, args.threshold, args.retained};
  made.keeps_early = (args.flags & PH_MAILBOX_REFUSE_EARLY) == 0;
  made.catches_all = (args.flags & PH_MAILBOX_CATCH_ALL) != 0;
  const bool counts_once = (args.flags & PH_MAILBOX_COUNT_ONCE) != 0;
  const bool refuses = (args.flags & PH_MAILBOX_REFUSE_OVERLAP) != 0;
  if (counts_once && refuses) return "overlap is either counted once or refused";
  if (counts_once) made.overlap = Overlap::counts_once;
  if (refuses) made.overlap = Overlap::is_refused;
  const bool may_keep_ranges = args.placing == PH_MAILBOX_STEERED &&
                               (args.flags & (PH_MAILBOX_CATCH_ALL | PH_MAILBOX_READ)) == 0;
  if (made.keeps_ranges() && !may_keep_ranges)
    return "PH_MAILBOX_COUNT_ONCE and PH_MAILBOX_REFUSE_OVERLAP are for steered messages alone";
  made.is_for_reading = (args.flags & PH_MAILBOX_READ) != 0;
  if (made.is_for_reading && (args.placing != PH_MAILBOX_STEERED || made.catches_all))
    return "PH_MAILBOX_READ is neither for managed mailboxes nor for a catch-all";
  if (made.catches_all) {
    const bool counts_one = args.unit == PH_MAILBOX_OPERATIONS && args.threshold == 1;
    if (args.threshold != 0 && !counts_one)
      return "a catch-all hands each message over: its threshold is one operation";
    if (args.placing != PH_MAILBOX_STEERED) return "a catch-all takes puts and appends: no placing";
    made.unit = PH_MAILBOX_OPERATIONS;
    made.threshold = 1;
  }
  made.closes_silently = (args.flags & PH_MAILBOX_SILENT_CLOSE) != 0;
  made.lingers = args.linger_us != 0;
  if (made.lingers && args.placing != PH_MAILBOX_MANAGED) return "only a managed mailbox lingers";
  made.splits = (args.flags & PH_MAILBOX_SPLIT) != 0;
  if (made.splits && args.placing != PH_MAILBOX_MANAGED)
    return "only a managed mailbox divides messages";
  made.grants = (args.flags & PH_MAILBOX_GRANT_AHEAD) != 0;
  if (made.grants && (args.source == PH_ANY_RANK || args.placing != PH_MAILBOX_STEERED ||
                      made.catches_all || made.is_for_reading))
    return "PH_MAILBOX_GRANT_AHEAD is for steered mailboxes of one source that messages land in";
  if (made.grants && made.keeps_ranges()) return "PH_MAILBOX_GRANT_AHEAD counts all overlap";
  policy = made;
  return {};
}

}  // namespace photon::service::mailbox
