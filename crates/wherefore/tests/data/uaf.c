#include <stdlib.h>
#include <stdio.h>
struct session { int id; int *data; };
static struct session *open_session(int id) {
  struct session *s = malloc(sizeof *s);
  if (!s)
    exit(1);
  s->id = id;
  s->data = malloc(4);
  return s;
}
static void close_session(struct session *s) {
  free(s->data);
  free(s);
}
static int use(struct session *s) {
  return s->id;
}
int main(void) {
  struct session *s = open_session(7);
  int c, sum = 0;
  while ((c = getchar()) != EOF) {
    if (c == 'q')
      close_session(s);
    else if (c == 'u')
      sum += use(s);
    else
      sum++;
  }
  printf("%d\n", sum);
  return 0;
}
