// Two commands of a server print what a program lists; one of them forgets that there may be no
// stream: wherefore check examples/listing.c --property stdio
#include <stdio.h>

int at_limit(void);

static FILE *open_listing(const char *name) {
  if (at_limit())
    return NULL;
  return fopen(name, "r");
}

static int print_listing(const char *name) {
  char line[80];
  FILE *in = open_listing(name);
  if (in == NULL)
    return 1;
  while (fgets(line, sizeof line, in))
    fputs(line, stdout);
  return fclose(in);
}

static int print_status(const char *name) {
  char line[80];
  FILE *in = open_listing(name);
  if (fgets(line, sizeof line, in))
    fputs(line, stdout);
  return fclose(in);
}

int main(int argc, char **argv) {
  return argc > 1 ? print_listing("files") : print_status("state");
}
