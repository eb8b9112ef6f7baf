// A stack without locks. Between reading `top->next` and the exchange, another thread may take two
// nodes and put the first one back: the exchange succeeds, and the second node is on the stack again
// although that thread owns it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct node {
  struct node *next;
  int owned;
} a, b;
struct node *_Atomic top;

struct node *pop(void) {
  struct node *first = top;
  while (first) {
    struct node *second = first->next;
    if (atomic_compare_exchange_strong(&top, &first, second))
      return first;
  }
  return 0;
}

void push(struct node *node) {
  struct node *first = top;
  do
    node->next = first;
  while (!atomic_compare_exchange_strong(&top, &first, node));
}

void *taker(void *unused) {
  struct node *mine = pop();
  struct node *rest = top;
  assert(mine != &a || rest != &b || !b.owned);
  return 0;
}

void *worker(void *unused) {
  struct node *one = pop();
  struct node *two = pop();
  if (two)
    two->owned = 1;
  if (one)
    push(one);
  return 0;
}

int main(void) {
  pthread_t t, w;
  a.next = &b;
  top = &a;
  pthread_create(&t, 0, taker, 0);
  pthread_create(&w, 0, worker, 0);
  pthread_join(t, 0);
  pthread_join(w, 0);
  return 0;
}
