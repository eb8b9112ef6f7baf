/* Library functions as the front end models them. */
typedef unsigned long size_t;
void *malloc(size_t size);

void *memcpy(void *to, const void *from, size_t count) {
  for (size_t i = 0; i < count; i++)
    ((char *)to)[i] = ((const char *)from)[i];
  return to;
}

void *memmove(void *to, const void *from, size_t count) {
  if (to <= from) {
    for (size_t i = 0; i < count; i++)
      ((char *)to)[i] = ((const char *)from)[i];
  } else {
    for (size_t i = count; i > 0; i--)
      ((char *)to)[i - 1] = ((const char *)from)[i - 1];
  }
  return to;
}

void *memset(void *to, int value, size_t count) {
  for (size_t i = 0; i < count; i++)
    ((unsigned char *)to)[i] = (unsigned char)value;
  return to;
}

int memcmp(const void *left, const void *right, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int a = ((const unsigned char *)left)[i], b = ((const unsigned char *)right)[i];
    if (a != b)
      return a < b ? -1 : 1;
  }
  return 0;
}

void *memchr(const void *text, int value, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (((const unsigned char *)text)[i] == (unsigned char)value)
      return (char *)text + i;
  return 0;
}

size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length])
    length++;
  return length;
}

char *strcpy(char *to, const char *from) {
  size_t i = 0;
  do {
    to[i] = from[i];
  } while (from[i++]);
  return to;
}

char *strncpy(char *to, const char *from, size_t count) {
  size_t i = 0;
  for (; i < count && from[i]; i++)
    to[i] = from[i];
  for (; i < count; i++)
    to[i] = 0;
  return to;
}

char *strcat(char *to, const char *from) {
  size_t start = 0, i = 0;
  while (to[start])
    start++;
  do {
    to[start + i] = from[i];
  } while (from[i++]);
  return to;
}

char *strncat(char *to, const char *from, size_t count) {
  size_t start = 0, i = 0;
  while (to[start])
    start++;
  for (; i < count && from[i]; i++)
    to[start + i] = from[i];
  to[start + i] = 0;
  return to;
}

int strcmp(const char *left, const char *right) {
  size_t i = 0;
  while (left[i] && left[i] == right[i])
    i++;
  int a = (unsigned char)left[i], b = (unsigned char)right[i];
  return a == b ? 0 : a < b ? -1 : 1;
}

int strncmp(const char *left, const char *right, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int a = (unsigned char)left[i], b = (unsigned char)right[i];
    if (a != b)
      return a < b ? -1 : 1;
    if (!a)
      return 0;
  }
  return 0;
}

char *strchr(const char *text, int value) {
  size_t i = 0;
  while (text[i] != (char)value) {
    if (!text[i])
      return 0;
    i++;
  }
  return (char *)text + i;
}

char *strrchr(const char *text, int value) {
  char *found = 0;
  size_t i = 0;
  do {
    if (text[i] == (char)value)
      found = (char *)text + i;
  } while (text[i++]);
  return found;
}

char *strdup(const char *text) {
  size_t length = 0;
  while (text[length])
    length++;
  char *copy = malloc(length + 1);
  if (copy)
    for (size_t i = 0; i <= length; i++)
      copy[i] = text[i];
  return copy;
}

/* The old size is not known: what lies behind the old object is copied too. */
void *realloc(void *old, size_t size) {
  char *fresh = malloc(size);
  if (fresh && old)
    for (size_t i = 0; i < size; i++)
      fresh[i] = ((char *)old)[i];
  return fresh;
}

int abs(int value) { return value < 0 ? -value : value; }
long labs(long value) { return value < 0 ? -value : value; }
long long llabs(long long value) { return value < 0 ? -value : value; }
