/* What the two halves of the program `variables` know of each other. */
#pragma once

#include "converse.h"

enum { kNumbers = 20, kThreads = 3 };

typedef struct Point {
  int x, y;
} Point;

typedef int Numbers[kNumbers];

void second_initialize(void);
int second_is_late_initialized(void);
void second_check(void);
void second_check_node(void);
int second_thread_sum(void);
