// A program in words.
#include <string>

#include "simtest/program.hpp"
#include "simtest/program_am_text.hpp"

namespace photon::simtest {

namespace {

const char* mail_name_of(Verb verb) {
  switch (verb) {
    case Verb::mail_put: return "mail_put";
    case Verb::mail_append: return "mail_append";
    case Verb::mail_put_u64: return "mail_put_u64";
    case Verb::mail_open: return "mail_open";
    case Verb::mail_post: return "mail_post";
    case Verb::mail_take: return "mail_take";
    case Verb::mail_advance: return "mail_advance";
    case Verb::mail_release: return "mail_release";
    case Verb::mail_rewind: return "mail_rewind";
    case Verb::mail_get: return "mail_get";
    case Verb::mail_list: return "mail_list";
    case Verb::mail_close: return "mail_close";
    default: return "?";
  }
}

const char* name_of(Verb verb) {
  switch (verb) {
    case Verb::put: return "put";
    case Verb::put_u64: return "put_u64";
    case Verb::notify: return "notify";
    case Verb::get: return "get";
    case Verb::get_u64: return "get_u64";
    case Verb::put_vector: return "put_vector";
    case Verb::put_strided: return "put_strided";
    case Verb::get_vector: return "get_vector";
    case Verb::get_strided: return "get_strided";
    case Verb::atomic: return "atomic";
    case Verb::fence: return "fence";
    case Verb::flush: return "flush";
    case Verb::probe: return "probe";
    case Verb::probe_each: return "probe_each";
    case Verb::wait: return "wait";
    case Verb::test: return "test";
    case Verb::await: return "await";
    case Verb::cancel: return "cancel";
    case Verb::pause: return "pause";
    case Verb::wake: return "wake";
    case Verb::enroll: return "enroll";
    case Verb::retire: return "retire";
    case Verb::find_region: return "find_region";
    case Verb::leave: return "leave";
    case Verb::die: return "die";
    case Verb::announce: return "announce";
    case Verb::take: return "take";
    case Verb::transfer: return "transfer";
    case Verb::finish: return "finish";
    case Verb::recall: return "recall";
    case Verb::ask: return "ask";
    case Verb::tell: return "tell";
    case Verb::answer: return "answer";
    case Verb::listen: return "listen";
    case Verb::hush: return "hush";
    case Verb::cut: return "cut";
    case Verb::lose_link: return "lose_link";
    case Verb::contact: return "contact";
    case Verb::revoke: return "revoke";
    case Verb::map: return "map";
    case Verb::store: return "store";
    case Verb::load: return "load";
    case Verb::unmap: return "unmap";
    case Verb::lane_open: return "lane_open";
    case Verb::lane_close: return "lane_close";
    case Verb::lane_misuse: return "lane_misuse";
    case Verb::coll_begin: return "coll_begin";
    case Verb::coll_run: return "coll_run";
    case Verb::coll_await: return "coll_await";
    default: return is_am(verb) ? am_name_of(verb) : mail_name_of(verb);
  }
}

const char* name_of(Fault fault) {
  switch (fault) {
    case Fault::none: return "none";
    case Fault::no_such_rank: return "no_such_rank";
    case Fault::id_too_long: return "id_too_long";
    case Fault::null_memory: return "null_memory";
    case Fault::unknown_flag: return "unknown_flag";
    case Fault::wrong_key: return "wrong_key";
    case Fault::stale_key: return "stale_key";
    case Fault::out_of_range: return "out_of_range";
    case Fault::no_access: return "no_access";
  }
  return "?";
}

}  // namespace

std::string name_of(Area area) {
  switch (area) {
    case Area::window: return "window";
    case Area::contended: return "contended";
    case Area::extra: return "extra";
    case Area::arena: return "arena";
    case Area::library: return "library";
    case Area::words: return "words";
  }
  return "?";
}

namespace {

std::string rank_text(ph_rank rank) { return rank == PH_ANY_RANK ? "any" : std::to_string(rank); }

std::string flags_text(std::uint32_t flags) {
  std::string text;
  if ((flags & PH_NO_LCE) != 0) text += " no_lce";
  if ((flags & PH_NO_RCE) != 0) text += " no_rce";
  if ((flags & PH_DELIVERED) != 0) text += " delivered";
  if ((flags & PH_NOTICE_ACCEPTED) != 0) text += " notice_accepted";
  if ((flags & PH_ORDER_NONE) != 0) text += " order_none";
  if ((flags & PH_ALONE) != 0) text += " alone";
  return text;
}

std::string operation_text(const Step& step) {
  std::string text = name_of(acting_verb(step));
  text += " peer " + rank_text(step.peer) + ", " + std::to_string(step.size_bytes) + " bytes at " +
          name_of(step.area) + "+" + std::to_string(step.offset) + ", ids of " +
          std::to_string(step.local_id_bytes) + " and " + std::to_string(step.remote_id_bytes) +
          flags_text(step.flags) + (step.requested ? ", requested" : "");
  if (is_atomic(step))
    text += ", operation " + std::to_string(step.op) + " of " + std::to_string(step.operand) +
            " if " + std::to_string(step.compare) + (step.fetches ? ", fetching" : "");
  if (step.row_bytes != 0)
    text += ", rows of " + std::to_string(step.row_bytes) + " with gaps of " +
            std::to_string(step.own_gap_bytes) + " here and " + std::to_string(step.far_gap_bytes) +
            " there, order " + std::to_string(step.order);
  if (step.fault != Fault::none) text += std::string(", fault ") + name_of(step.fault);
  return text;
}

std::string query_text(const Step& step) {
  const char* kinds = step.kinds == PH_EITHER  ? "either"
                      : step.kinds == PH_LOCAL ? "local"
                                               : "remote";
  return std::string(kinds) + " of " + rank_text(step.query_peer) + ", at most " +
         std::to_string(step.capacity);
}

std::string number_or_any(std::uint64_t number) {
  return number == PH_ANY_TAG ? "any" : std::to_string(number);
}

std::string lending_text(const Step& step) {
  std::string text = name_of(step.verb);
  const std::string kind = " kind " + std::to_string(step.kinds);
  switch (step.verb) {
    case Verb::announce:
      return text + kind + " to " + rank_text(step.peer) + ", tag " + std::to_string(step.operand) +
             ", " + std::to_string(step.size_bytes) + " bytes" +
             (step.requested ? ", requested" : "");
    case Verb::take:
      return text + kind + " of " + rank_text(step.query_peer) + ", tag " +
             number_or_any(step.operand) + ", size " + number_or_any(step.compare) + ", " +
             std::to_string(step.time_ns) + " ns";
    case Verb::transfer:
      return text + " " + std::to_string(step.offset) + ", up to " +
             std::to_string(step.size_bytes) + " bytes" + flags_text(step.flags) +
             (step.requested ? ", requested" : "");
    default: return text + " " + std::to_string(step.offset);
  }
}

std::string echo_text(const Step& step) {
  std::string text = name_of(step.verb);
  switch (step.verb) {
    case Verb::ask:
      text += " rank " + rank_text(step.peer) + ", " + std::to_string(step.size_bytes) + " bytes";
      break;
    case Verb::tell:
      text += " rank " + rank_text(step.peer);
      if (step.order != 0) text += ", whose handler does act " + std::to_string(step.order);
      break;
    case Verb::answer:
      return text + " at most " + std::to_string(step.capacity) + ", " +
             std::to_string(step.time_ns) + " ns";
    case Verb::listen: return text + (step.kinds != 0 ? " by another handler" : " by none");
    default: return text + " " + std::to_string(step.time_ns) + " ns";
  }
  return text + ", " + std::to_string(step.operand) + " times" +
         (step.requested ? ", insisting" : "");
}

std::string mapping_text(const Step& step) {
  std::string text = name_of(step.verb);
  const std::string bytes = std::to_string(step.size_bytes) + " bytes";
  const std::string number = " pointer " + std::to_string(step.order);
  if (step.verb == Verb::unmap) return text + number + (step.requested ? ", and once more" : "");
  if (step.verb != Verb::map)
    return text + " by" + number + ", up to " + bytes + " at " + std::to_string(step.offset);
  text += " " + bytes + " at arena+" + std::to_string(step.offset) + " of " + rank_text(step.peer);
  if (step.fault != Fault::none) text += std::string(", fault ") + name_of(step.fault);
  return text;
}

std::string mailbox_text(const Step& step) {
  const std::string text = std::string(name_of(step.verb)) + " " + std::to_string(step.operand);
  const std::string bytes = ", " + std::to_string(step.size_bytes) + " bytes";
  const std::string order = std::to_string(step.order);
  const std::string number = std::to_string(step.compare);
  switch (step.verb) {
    case Verb::mail_put:
    case Verb::mail_append:
    case Verb::mail_get:
    case Verb::mail_put_u64:
      return text + " of " + rank_text(step.peer) + bytes + " at " + std::to_string(step.offset) +
             ", " + order + " times, epoch choice " + number + ", incarnation choice " +
             std::to_string(step.kinds) + ", id of " + std::to_string(step.local_id_bytes) +
             flags_text(step.flags) + (step.requested ? ", requested" : "") +
             (step.fetches ? ", insisting" : "");
    case Verb::mail_open:
      return text + ", placing " + order + ", unit " + std::to_string(step.row_bytes) +
             ", threshold " + number + ", flags " + std::to_string(step.flags) + ", source " +
             rank_text(step.query_peer) + ", retaining " + std::to_string(step.capacity);
    case Verb::mail_post:
      return text + ", buffer " + order + bytes + ", threshold " + number +
             (step.requested ? ", with a pointer" : "");
    case Verb::mail_take:
      return text + (step.kinds != 0 ? " or any" : "") + ", at most " +
             std::to_string(step.capacity) + ", " + std::to_string(step.time_ns) + " ns";
    case Verb::mail_release:
    case Verb::mail_rewind: return text + ", number " + order;
    default: return text;
  }
}

std::string handler_text(const Step& step) {
  const Verb verb = step.verb_in_handler;
  if (posts(verb)) return operation_text(step);
  const std::string name = name_of(verb);
  if (verb == Verb::fence || verb == Verb::flush) return name + " peer " + rank_text(step.peer);
  return name + " for the same";
}

}  // namespace

namespace {

bool is_echo(Verb verb) { return verb >= Verb::ask && verb <= Verb::hush; }
bool is_mapping(Verb verb) { return verb >= Verb::map && verb <= Verb::unmap; }
bool is_about_mail(Verb verb) { return verb >= Verb::mail_put && verb <= Verb::mail_close; }

std::string joint_text(const Step& step) {
  return std::string(name_of(step.verb)) + " line " + std::to_string(step.operand) + " at " +
         std::to_string(step.order) + ", " + std::to_string(step.time_ns) + " ns";
}

std::string awaited_text(const Step& step) {
  if (step.kinds == PH_LOCAL) return " request " + std::to_string(step.offset);
  return step.kinds == PH_REMOTE ? " any request" : " some requests";
}

std::string call_text(const Step& step) {
  const std::string time = std::to_string(step.time_ns) + " ns";
  const std::string name = name_of(step.verb);
  if (is_echo(step.verb)) return echo_text(step);
  if (is_mapping(step.verb)) return mapping_text(step);
  if (is_about_mail(step.verb)) return mailbox_text(step);
  if (is_am(step.verb)) return am_text(step);
  if (step.verb >= Verb::coll_begin) return joint_text(step);
  switch (step.verb) {
    case Verb::put:
    case Verb::put_u64:
    case Verb::notify:
    case Verb::get:
    case Verb::get_u64:
    case Verb::put_vector:
    case Verb::put_strided:
    case Verb::get_vector:
    case Verb::get_strided:
    case Verb::atomic: return operation_text(step);
    case Verb::fence: return name + " peer " + rank_text(step.peer);
    case Verb::flush: return name + " peer " + rank_text(step.peer) + ", " + time;
    case Verb::probe: return name + " " + query_text(step);
    case Verb::probe_each:
      return name + " " + query_text(step) + ", its handler: " + handler_text(step);
    case Verb::wait: return name + " " + query_text(step) + ", " + time;
    case Verb::test:
    case Verb::cancel: return name + " request " + std::to_string(step.offset);
    case Verb::await: return name + awaited_text(step) + ", " + time;
    case Verb::pause: return name + " " + time;
    case Verb::enroll:
    case Verb::retire: return name + " " + name_of(step.area);
    case Verb::find_region:
      return name + " " + std::to_string(step.size_bytes) + " bytes at " + name_of(step.area) +
             "+" + std::to_string(step.offset);
    case Verb::wake:
    case Verb::leave: return name;
    case Verb::die:
      return name + " in " + time + ", told within " + std::to_string(step.notice_ns) +
             " ns, anew after " + std::to_string(step.restart_ns) + " ns";
    case Verb::announce:
    case Verb::take:
    case Verb::transfer:
    case Verb::finish:
    case Verb::recall: return lending_text(step);
    case Verb::lose_link:
      return name + " of " + std::to_string(step.query_peer) + " to " + std::to_string(step.peer) +
             (step.is_cut_off   ? ", cut off for a malformed record,"
              : step.is_one_way ? ", one way,"
                                : ",") +
             " in " + time + ", told within " + std::to_string(step.notice_ns) + " ns";
    case Verb::cut: return name + " group " + std::to_string(step.group) + " off, " + time;
    case Verb::contact: return name + " peer " + rank_text(step.peer);
    case Verb::lane_misuse: return name + " " + std::to_string(step.order);
    default: return name;
  }
}

}  // namespace

std::string name_of_lane(std::uint32_t lane) { return "lane #" + std::to_string(lane); }

std::string text_of(const Step& step) {
  return step.lane == 0 ? call_text(step) : name_of_lane(step.lane) + ": " + call_text(step);
}

std::string text_of(const Program& program) {
  std::string text = std::to_string(program.ranks) + " ranks, windows of " +
                     std::to_string(program.window_bytes) + " bytes\n";
  for (const auto& [name, value] : program.options)
    text.append(name).append(" ").append(value) += "\n";
  for (std::uint32_t lane = 1; lane < program.lanes_count(); ++lane)
    text += name_of_lane(lane) + " has number " + std::to_string(program.lanes[lane - 1]) + "\n";
  for (std::size_t act = 0; act < program.acts.size(); ++act)
    text += "act " + std::to_string(act + 1) + ": " + text_of(program.acts[act]) + "\n";
  for (std::size_t team = 1; team < program.joint_teams.size(); ++team)
    text += "team " + std::to_string(team) + ": " + text_of(program.joint_teams[team]) + "\n";
  for (std::size_t line = 0; line < program.joint_lines.size(); ++line)
    for (std::size_t at = 0; at < program.joint_lines[line].joints.size(); ++at)
      text += "line " + std::to_string(line) + " at " + std::to_string(at) + ": team " +
              std::to_string(program.joint_lines[line].team) + ": " +
              text_of(program.joint_lines[line].joints[at]) + "\n";
  for (ph_rank rank = 0; rank < program.steps.size(); ++rank)
    for (const Step& step : program.steps[rank])
      text += "rank " + std::to_string(rank) + ": " + text_of(step) + "\n";
  return text;
}

std::uint64_t option_of(const Program& program, const std::string& name) {
  for (const auto& [key, value] : program.options)
    if (key == name) return std::stoull(value);
  return 0;
}

}  // namespace photon::simtest
