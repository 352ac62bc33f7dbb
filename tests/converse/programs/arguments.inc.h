/* Arguments of the program, beside those of Converse: found once, taken out, the rest kept. */
#include "program.inc.h"

static int strings_are(char** argv, int from, const char* const* wanted, int count) {
  for (int i = 0; i < count; ++i)
    if (argv[from + i] == NULL || strcmp(argv[from + i], wanted[i]) != 0) return 0;
  return argv[from + count] == NULL;
}

static void take_numbers(char** argv) {
  int rounds = 5;
  CmiInt8 large = 6;
  double ratio = 0.25;
  expect(CmiGetArgInt(argv, "-rounds", &rounds), "an int that is there");
  expect_equal(rounds, -7, "int");
  expect(!CmiGetArgInt(argv, "-rounds", &rounds), "an int that was taken");
  expect_equal(rounds, -7, "int that was not found a second time");
  expect(CmiGetArgLongDesc(argv, "+large", &large, "A large number"), "a long that is there");
  expect(large == 123456789012LL, "long");
  expect(CmiGetArgDoubleDesc(argv, "+ratio", &ratio, "A ratio"), "a double that is there");
  expect(ratio == 1.5e-3, "double");
  expect(!CmiGetArgDouble(argv, "+other", &ratio), "a double that is not there");
  expect(ratio == 1.5e-3, "double that was not found");
}

static void start(int argc, char** argv) {
  char* name = NULL;
  const char* const left[] = {"first", "-5", "+unknown", "last"};
  begin_program("arguments");
  expect_equal(CmiGetArgc(argv), argc, "count of arguments");
  expect(argv[argc] == NULL, "no null behind the last argument");
  const int before = argc;
  take_numbers(argv);
  expect(CmiGetArgStringDesc(argv, "-name", &name, "A name"), "a string that is there");
  expect(strcmp(name, "two words") == 0, "string");
  expect(CmiGetArgFlag(argv, "+verbose"), "a flag that is there");
  expect(!CmiGetArgFlagDesc(argv, "+verbose", "Be verbose"), "a flag that was taken");
  expect(!CmiGetArgString(argv, "+missing", &name), "a string that is not there");
  expect(strcmp(name, "two words") == 0, "string that was not found");
  expect_equal(CmiGetArgc(argv), before - 9, "count of what is left");
  expect_equal(CmiGetArgc(argv), 5, "count of what is left, with the program");
  expect(strings_are(argv, 1, left, 4), "what is left");
  char** copy = CmiCopyArgs(argv);
  expect(strings_are(copy, 1, left, 4), "copy of the arguments");
  CmiDeleteArgs(copy + 1, 2);
  expect(strings_are(copy, 1, left + 2, 2), "copy without its first two");
  expect(strings_are(argv, 1, left, 4), "what is left when a copy is changed");
  free(copy);
  finish_pe();
}

/* Behind what the job was started with. */
int main(int argc, char** argv) {
  const char* const more[] = {"first",     "-rounds",      "-7",     "+verbose", "-5",
                              "+large",    "123456789012", "+ratio", "1.5e-3",   "-name",
                              "two words", "+unknown",     "last"};
  const int count = (int)(sizeof more / sizeof more[0]);
  char** all = (char**)calloc((size_t)(argc + count + 1), sizeof(char*));
  memcpy(all, argv, (size_t)argc * sizeof(char*));
  memcpy(all + argc, more, sizeof more);
  ConverseInit(argc + count, all, start, 0, 0);
  return 0;
}
