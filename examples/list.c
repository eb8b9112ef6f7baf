#include <stdio.h>

struct list {
  int value;
  struct list *next;
};

static int nth(struct list *l, int n) {
  if (n > 0)
    return nth(l->next, n - 1);
  return l->value;
}

int main(void) {
  struct list b = {2, 0}, a = {1, &b};
  int n = getchar() - '0';
  return nth(&a, n);
}
