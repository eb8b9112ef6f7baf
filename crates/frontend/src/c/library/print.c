/* stdio.h: what `sprintf` and `snprintf` write, part by part. `at` is how long the text is so far,
   whether it fits or not. */
typedef unsigned long size_t;
size_t __builtin_own_put(char *to, size_t size, size_t at, int character) {
  if (size > 0 && at < size - 1)
    to[at] = (char)character;
  return at + 1;
}
size_t __builtin_own_put_text(char *to, size_t size, size_t at, const char *text) {
  for (; *text; text++) {
    if (size > 0 && at < size - 1)
      to[at] = *text;
    at++;
  }
  return at;
}
/* So many characters of the format. */
size_t __builtin_own_put_part(char *to, size_t size, size_t at, const char *part, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (size > 0 && at < size - 1)
      to[at] = part[i];
    at++;
  }
  return at;
}
int __builtin_own_put_end(char *to, size_t size, size_t at) {
  if (size > 0)
    to[at < size ? at : size - 1] = 0;
  return (int)at;
}
