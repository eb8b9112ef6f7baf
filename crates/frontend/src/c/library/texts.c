/* string.h: functions that cut texts into words, and some others. */
typedef unsigned long size_t;
size_t strspn(const char *text, const char *accepted);
size_t strcspn(const char *text, const char *rejected);
size_t strlen(const char *text);
int strncmp(const char *left, const char *right, size_t count);
int strncasecmp(const char *left, const char *right, size_t count);
int memcmp(const void *left, const void *right, size_t count);
void *memmove(void *to, const void *from, size_t count);
int strcmp(const char *left, const char *right);

char *strtok_r(char *text, const char *separators, char **rest) {
  if (!text)
    text = *rest;
  if (!text)
    return 0;
  text += strspn(text, separators);
  if (!*text) {
    *rest = text;
    return 0;
  }
  char *end = text + strcspn(text, separators);
  if (*end) {
    *end = 0;
    end++;
  }
  *rest = end;
  return text;
}
char *__strtok_r(char *text, const char *separators, char **rest) { return strtok_r(text, separators, rest); }
static char *rest_of_text;
char *strtok(char *text, const char *separators) { return strtok_r(text, separators, &rest_of_text); }

char *strsep(char **text, const char *separators) {
  char *word = *text;
  if (!word)
    return 0;
  char *end = word + strcspn(word, separators);
  if (*end) {
    *end = 0;
    *text = end + 1;
  } else {
    *text = 0;
  }
  return word;
}

char *stpncpy(char *to, const char *from, size_t count) {
  size_t length = 0;
  while (length < count && from[length]) {
    to[length] = from[length];
    length++;
  }
  for (size_t i = length; i < count; i++)
    to[i] = 0;
  return to + length;
}

void *memccpy(void *to, const void *from, int last, size_t count) {
  for (size_t i = 0; i < count; i++) {
    ((char *)to)[i] = ((const char *)from)[i];
    if (((const unsigned char *)from)[i] == (unsigned char)last)
      return (char *)to + i + 1;
  }
  return 0;
}

void *memmem(const void *text, size_t length, const void *part, size_t size) {
  for (size_t i = 0; size <= length && i <= length - size; i++)
    if (!memcmp((const char *)text + i, part, size))
      return (char *)text + i;
  return 0;
}

char *strcasestr(const char *text, const char *part) {
  size_t size = strlen(part);
  for (size_t i = 0;; i++) {
    if (!strncasecmp(text + i, part, size))
      return (char *)text + i;
    if (!text[i])
      return 0;
  }
}

void bcopy(const void *from, void *to, size_t count) { memmove(to, from, count); }
size_t strlcpy(char *to, const char *from, size_t size) {
  size_t length = 0;
  for (; from[length]; length++)
    if (length + 1 < size)
      to[length] = from[length];
  if (size > 0)
    to[length < size ? length : size - 1] = 0;
  return length;
}
size_t strlcat(char *to, const char *from, size_t size) {
  size_t length = 0;
  while (length < size && to[length])
    length++;
  return length + strlcpy(to + length, from, size - length);
}
/* In the locale "C". */
int strcoll(const char *left, const char *right) { return strcmp(left, right); }
size_t strxfrm(char *to, const char *from, size_t size) {
  size_t length = strlen(from);
  for (size_t i = 0; i <= length && i < size; i++)
    to[i] = from[i];
  return length;
}
