// The arguments of a program: each call removes from argv what it has found. Which spellings are
// taken is that of the original: integers of C ("0x10", "010" is 8) for ints, decimals for longs.
#include <cctype>
#include <cerrno>
#include <cstring>

#include "converse/base/pe.hpp"

namespace photon::converse {

namespace {

// What stands behind the name of an option: in the next argument, or in the same one.
struct Found {
  char** at = nullptr;  // null: it is not there
  const char* text = nullptr;
  int arguments = 0;
};

// Options of integers may be written "+p 4", "+p4", "+p-4" and "+p=4".
Found find_integer(const char* call, char** argv, const char* name) noexcept {
  const std::size_t length = std::strlen(name);
  for (char** at = argv; *at != nullptr; ++at) {
    if (std::strncmp(*at, name, length) != 0) continue;
    const char* const rest = *at + length;
    if (*rest == '=') return {at, rest + 1, 1};
    if (std::isdigit(static_cast<unsigned char>(*rest)) != 0 || *rest == '-' || *rest == '+')
      return {at, rest, 1};
    if (*rest != '\0') continue;
    if (at[1] == nullptr) refuse(call, "the option %s needs a number behind it", name);
    return {at, at[1], 2};
  }
  return {};
}

Found find_string(const char* call, char** argv, const char* name) noexcept {
  for (char** at = argv; *at != nullptr; ++at) {
    if (std::strcmp(*at, name) != 0) continue;
    if (at[1] == nullptr) refuse(call, "the option %s needs a value behind it", name);
    return {at, at[1], 2};
  }
  return {};
}

// The function ignores whatever stands behind the digits, as scanf() does. Base 0 reads numbers as
// C writes them.
int take_integer(const char* call, char** argv, const char* name, int base,
                 CmiInt8* value) noexcept {
  const Found found = find_integer(call, argv, name);
  if (found.at == nullptr) return 0;
  char* end = nullptr;
  errno = 0;
  const long long number = std::strtoll(found.text, &end, base);
  if (end == found.text)
    refuse(call, "the option %s needs a number, and has \"%s\"", name, found.text);
  if (errno == ERANGE) refuse(call, "the option %s %s is out of range", name, found.text);
  *value = number;
  CmiDeleteArgs(found.at, found.arguments);
  return 1;
}

int take_long(const char* call, char** argv, const char* name, CmiInt8* value) noexcept {
  return take_integer(call, argv, name, 10, value);
}

int take_int(const char* call, char** argv, const char* name, int* value) noexcept {
  CmiInt8 number = 0;
  if (take_integer(call, argv, name, 0, &number) == 0) return 0;
  if (number != static_cast<int>(number))
    refuse(call, "the option %s %lld is out of range", name, static_cast<long long>(number));
  *value = static_cast<int>(number);
  return 1;
}

// Only "+ratio 0.5": a string, which is taken out even if it is no number.
int take_double(const char* call, char** argv, const char* name, double* value) noexcept {
  const Found found = find_string(call, argv, name);
  if (found.at == nullptr) return 0;
  const char* const text = found.text;
  CmiDeleteArgs(found.at, found.arguments);
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  if (end == text) return 0;
  *value = number;
  return 1;
}

int take_string(const char* call, char** argv, const char* name, char** value) noexcept {
  const Found found = find_string(call, argv, name);
  if (found.at == nullptr) return 0;
  *value = found.at[1];
  CmiDeleteArgs(found.at, found.arguments);
  return 1;
}

int take_flag(char** argv, const char* name) noexcept {
  for (char** at = argv; *at != nullptr; ++at)
    if (std::strcmp(*at, name) == 0) {
      CmiDeleteArgs(at, 1);
      return 1;
    }
  return 0;
}

}  // namespace

}  // namespace photon::converse

int CmiGetArgc(char** argv) {
  int count = 0;
  while (argv[count] != nullptr) ++count;
  return count;
}

char** CmiCopyArgs(char** argv) {
  const auto count = static_cast<std::size_t>(CmiGetArgc(argv)) + 1;
  auto* const copy = static_cast<char**>(std::malloc(count * sizeof *argv));
  if (copy == nullptr) photon::converse::refuse(__func__, "no memory for %zu arguments", count - 1);
  std::memcpy(copy, argv, count * sizeof *argv);
  return copy;
}

void CmiDeleteArgs(char** argv, int count) {
  if (count < 0 || count > CmiGetArgc(argv))
    photon::converse::refuse(__func__, "%d arguments cannot be removed: there are %d", count,
                             CmiGetArgc(argv));
  for (; argv[count] != nullptr; ++argv) *argv = argv[count];
  *argv = nullptr;
}

int CmiGetArgString(char** argv, const char* name, char** value) {
  return photon::converse::take_string(__func__, argv, name, value);
}
int CmiGetArgStringDesc(char** argv, const char* name, char** value, const char* /*words*/) {
  return photon::converse::take_string(__func__, argv, name, value);
}
int CmiGetArgInt(char** argv, const char* name, int* value) {
  return photon::converse::take_int(__func__, argv, name, value);
}
int CmiGetArgIntDesc(char** argv, const char* name, int* value, const char* /*words*/) {
  return photon::converse::take_int(__func__, argv, name, value);
}
int CmiGetArgLong(char** argv, const char* name, CmiInt8* value) {
  return photon::converse::take_long(__func__, argv, name, value);
}
int CmiGetArgLongDesc(char** argv, const char* name, CmiInt8* value, const char* /*words*/) {
  return photon::converse::take_long(__func__, argv, name, value);
}
int CmiGetArgDouble(char** argv, const char* name, double* value) {
  return photon::converse::take_double(__func__, argv, name, value);
}
int CmiGetArgDoubleDesc(char** argv, const char* name, double* value, const char* /*words*/) {
  return photon::converse::take_double(__func__, argv, name, value);
}
int CmiGetArgFlag(char** argv, const char* name) { return photon::converse::take_flag(argv, name); }
int CmiGetArgFlagDesc(char** argv, const char* name, const char* /*words*/) {
  return photon::converse::take_flag(argv, name);
}

// A program is never asked for its usage here: unknown options stay in argv.
int CmiArgGivingUsage(void) { return 0; }
void CmiArgGroup(const char* /*parent*/, const char* /*module*/) {}
