/*
 * Payloads that land as elements of a datatype, and leave as such: MPIX_Am_layout_create. MPI
 * itself says where the bytes have to be.
 */
#include "am.h"

enum { kMemory = 8 << 20, kHole = 0xee };

struct scattered {
  MPIX_Am_layout layout;
  unsigned char* memory;
  MPI_Count count, chunk;
  MPI_Count landed, bytes;
  int parts, ends;
  int frees; /* the layout, in the first part */
};
static struct scattered one;

static int scatter_part(void* argument, const MPIX_Am_part* part) {
  check_true("argument", argument == &one);
  check_equal("error", MPI_SUCCESS, part->error);
  check_equal("offset", one.landed, part->offset);
  one.landed += part->bytes;
  check_equal("is_last", one.landed == one.bytes, part->is_last);
  if (!part->is_last && one.chunk != 0) check_equal("bytes", one.chunk, part->bytes);
  if (one.parts == 0 && one.frees)
    check_good("MPIX_Am_layout_free", MPIX_Am_layout_free(&one.layout));
  ++one.parts;
  one.ends += part->is_last;
  return MPI_SUCCESS;
}
static int scatter(void* user, const MPIX_Am_message* message, MPIX_Am_landing* landing) {
  (void)user;
  one.bytes = message->payload_bytes;
  landing->buffer = one.memory;
  landing->count = one.count;
  landing->layout = one.layout;
  landing->chunk_bytes = one.chunk;
  landing->comp_handler = scatter_part;
  landing->argument = &one;
  return MPI_SUCCESS;
}

enum { kShort, kLong, kDescending, kContiguous, kTypes };
static const char* const kNames[] = {"short runs", "long runs", "descending", "contiguous"};

static MPI_Datatype type_of(int kind) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int lengths[] = {3, 5000, 1};
  const MPI_Aint offsets[] = {40000, 16384, 0};
  if (kind == kShort) MPI_Type_vector(7, 3, 5, MPI_INT, &type);
  if (kind == kLong) MPI_Type_vector(4, 8192, 12288, MPI_BYTE, &type);
  if (kind == kDescending) MPI_Type_create_hindexed(3, lengths, offsets, MPI_INT, &type);
  if (kind == kContiguous) MPI_Type_contiguous(25, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

/* Where the bytes of a payload have to be: those of whole elements, and those of one more that MPI
 * has marked. */
static void expect(unsigned char* memory, const unsigned char* payload, MPI_Count bytes,
                   MPI_Datatype type) {
  int size = 0, at = 0;
  MPI_Aint low, extent;
  MPI_Type_size(type, &size);
  MPI_Type_get_extent(type, &low, &extent);
  const int whole = (int)(bytes / size), left = (int)(bytes % size);
  MPI_Unpack(payload, whole * size, &at, memory, whole, type, MPI_COMM_WORLD);
  if (left == 0) return;
  unsigned char* const packed = must_have(calloc(2, (size_t)size));
  unsigned char* const marks = must_have(calloc(2, (size_t)extent));
  memset(packed, 1, (size_t)left);
  at = 0;
  MPI_Unpack(packed, size, &at, marks, 1, type, MPI_COMM_WORLD);
  memcpy(packed, payload + bytes - left, (size_t)left);
  at = 0;
  MPI_Unpack(packed, size, &at, marks + extent, 1, type, MPI_COMM_WORLD);
  for (MPI_Aint i = 0; i < extent; ++i)
    if (marks[i]) memory[whole * extent + i] = marks[extent + i];
  free(packed);
  free(marks);
}

/* So many elements as fill some of the memory; the last one is filled in part. */
static void land(int kind, MPI_Count bytes, MPI_Count chunk, int leaves_scattered) {
  unsigned char* const expected = must_have(malloc(kMemory));
  MPI_Datatype type = type_of(kind);
  MPIX_Am am;
  int size = 0;
  MPI_Type_size(type, &size);
  if (leaves_scattered) bytes = bytes / size * size;
  const int count = (int)((bytes + size - 1) / size);
  unsigned char* const payload = payload_of(kind, (size_t)bytes);
  at_step("%s, %lld bytes, parts of %lld, %s", kNames[kind], (long long)bytes, (long long)chunk,
          leaves_scattered ? "scattered" : "from an array");
  one = (struct scattered){.memory = must_have(malloc(kMemory)), .count = count, .chunk = chunk};
  check_good("MPIX_Am_layout_create", MPIX_Am_layout_create(type, &one.layout));
  memset(one.memory, kHole, kMemory);
  memset(expected, kHole, kMemory);
  expect(expected, payload, bytes, type);
  am = join(scatter, NULL, 1, MPI_COMM_WORLD);
  meet();
  if (leaves_scattered)
    check_good("MPIX_Am_send",
               MPIX_Am_send(NULL, 0, expected, count, type, (my_rank + 1) % ranks, am));
  else
    send_to((my_rank + 1) % ranks, none, part_of(payload, (size_t)bytes), am);
  settle();
  leave(&am);
  check_equal("ends", 1, one.ends);
  check_equal("parts", chunk == 0 || bytes == 0 ? 1 : (bytes + chunk - 1) / chunk, one.parts);
  check_bytes("memory", expected, one.memory, kMemory);
  check_good("MPIX_Am_layout_free", MPIX_Am_layout_free(&one.layout));
  check_true("a freed layout is null", one.layout == MPIX_AM_LAYOUT_NULL);
  MPI_Type_free(&type);
  free(one.memory);
  free(expected);
  free(payload);
}

static void run_landings(void) {
  const MPI_Count sizes[] = {0, 100, 30000, 1 << 20, 2500001};
  const MPI_Count chunks[] = {0, 1000, 100000};
  for (int kind = 0; kind < kTypes; ++kind)
    for (int i = 0; i < 5; ++i)
      for (int k = 0; k < 3; ++k) {
        land(kind, sizes[i], chunks[k], 0);
        if (k == 0) land(kind, sizes[i], chunks[k], 1);
      }
}

/* The layout is freed while most of the message is still to come; so was its type. */
static void run_freed(void) {
  enum { kBytes = 2 << 20 };
  unsigned char* const payload = payload_of(9, kBytes);
  MPI_Datatype type = type_of(kShort);
  MPIX_Am am;
  one = (struct scattered){
      .memory = must_have(calloc(1, kMemory)), .count = kBytes, .chunk = 4096, .frees = 1};
  check_good("MPIX_Am_layout_create", MPIX_Am_layout_create(type, &one.layout));
  MPI_Type_free(&type);
  am = join(scatter, NULL, 1, MPI_COMM_WORLD);
  meet();
  send_to((my_rank + 1) % ranks, none, part_of(payload, kBytes), am);
  settle();
  leave(&am);
  check_equal("parts", kBytes / 4096, one.parts);
  check_true("it was freed", one.layout == MPIX_AM_LAYOUT_NULL);
  /* Three of five ints, seven times; then the next element follows the last int. */
  for (size_t i = 0; i < kBytes; ++i) {
    const size_t element = i / 84, in = i % 84;
    const size_t at = element * 132 + in / 12 * 20 + in % 12;
    if (one.memory[at] != payload[i]) fail("byte %zu of the payload", i);
  }
  free(one.memory);
  free(payload);
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"landings", run_landings}, {"freed", run_freed}, {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
