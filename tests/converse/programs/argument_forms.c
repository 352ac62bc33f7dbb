/* The spellings of options, and what may be called before ConverseInit(). With an argument of its
 * own it tries what has to end the job. */
#include <converse.h>

static void expect(int holds, const char* words) {
  if (holds) return;
  fprintf(stderr, "argument_forms: %s\n", words);
  exit(1);
}

/* What an int option "-n" has of one argument, or of two; -1: it is not found. */
static int int_of(const char* first, const char* second) {
  char text[2][16];
  char* argv[] = {(char*)"program", text[0], text[1], NULL};
  strcpy(text[0], first);
  if (second != NULL)
    strcpy(text[1], second);
  else
    argv[2] = NULL;
  int value = -1;
  if (!CmiGetArgInt(argv, "-n", &value)) return -1;
  expect(CmiGetArgc(argv) == 1, "an option that was found is still there");
  return value;
}

static void look_at_numbers(void) {
  expect(int_of("-n", "7") == 7 && int_of("-n7", NULL) == 7 && int_of("-n=7", NULL) == 7, "7");
  expect(int_of("-n+5", NULL) == 5, "-n+5");
  expect(int_of("-n-5", NULL) == -5, "-n-5");
  expect(int_of("-n", "7k") == 7, "-n 7k");
  expect(int_of("-n", "010") == 8 && int_of("-n0x10", NULL) == 16, "ints as C writes them");
  expect(int_of("-n08", NULL) == 0, "-n08");
  expect(int_of("-n.txt", NULL) == -1 && int_of("-name", "7") == -1, "another option");
  char* argv[] = {(char*)"program", (char*)"-l", (char*)"010k",    (char*)"-d",   (char*)"1.5x",
                  (char*)"-e",      (char*)"no", (char*)"-d=0.25", (char*)"last", NULL};
  CmiInt8 large = 0;
  double ratio = 0, other = 3;
  expect(CmiGetArgLong(argv, "-l", &large) && large == 10, "a long is decimal");
  expect(CmiGetArgDouble(argv, "-d", &ratio) && ratio == 1.5, "1.5x");
  expect(!CmiGetArgDouble(argv, "-e", &other) && other == 3, "a double that is no number");
  expect(!CmiGetArgDouble(argv, "-d", &ratio), "a double behind a sign");
  expect(CmiGetArgc(argv) == 3, "what is left of the doubles");
}

static void refuse_one(const char* what) {
  char* argv[] = {(char*)"program", (char*)what, (char*)"-n", NULL};
  int value = 0;
  char* text = NULL;
  if (strcmp(what, "-no-number") == 0) CmiGetArgInt(argv, "-no", &value);
  if (strcmp(what, "-nothing") == 0) CmiGetArgInt(argv, "-n", &value);
  if (strcmp(what, "-no-string") == 0) CmiGetArgString(argv, "-n", &text);
}

CpvStaticDeclare(int, threads);

static void run_thread(void* user) {
  volatile char frame[32768];
  for (size_t at = 0; at < sizeof frame; ++at) frame[at] = (char)at;
  *(int*)user += frame[3] == 3;
}

static void start(int argc, char** argv) {
  CpvInitialize(int, threads);
  expect(argc == 1 && argv[1] == NULL, "+stacksize is still there");
  CthAwaken(CthCreate(run_thread, &CpvAccess(threads), 0));
  CsdScheduler(0);
  expect(CpvAccess(threads) == 1, "the thread has not run");
  if (CmiMyPe() == 0) CmiPrintf("ok argument_forms\n");
  ConverseExit();
}

int main(int argc, char** argv) {
  const double before = CmiWallTimer();
  expect(before >= 0 && CmiTimer() >= before && CmiCpuTimer() >= 0, "a clock before the start");
  look_at_numbers();
  for (int at = 1; at < argc; ++at)
    if (argv[at][0] == '-') refuse_one(argv[at]);
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
