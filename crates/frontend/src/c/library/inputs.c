/* Functions that bring input. Replay compiles this text, too, with the values of a run for what
   `__input_...` returns. After `__outside`, `errno` may be any positive number, or what it was. */
typedef unsigned long size_t;
void *__builtin_own_room(size_t size);
void __VERIFIER_assume(int condition);
void __outside(void);

/* What is known of a stream when a read comes to its end (1), or fails (2). */
void __builtin_own_ended(void *stream, int how);

/* A pointer that the real function follows. */
void __builtin_own_needed(const void *pointer);

/* stdio.h: streams. */
void *__builtin_own_stream(void);
_Bool __input_opened(void);
void *fopen(const char *name, const char *mode) {
  __builtin_own_needed(mode);
  __outside();
  return __input_opened() ? __builtin_own_stream() : 0;
}
void *freopen(const char *name, const char *mode, void *stream) {
  __builtin_own_needed(mode);
  __builtin_own_needed(stream);
  __outside();
  return __input_opened() ? stream : 0;
}
void *fdopen(int file, const char *mode) {
  __builtin_own_needed(mode);
  __outside();
  return __input_opened() ? __builtin_own_stream() : 0;
}
void *tmpfile(void) {
  __outside();
  return __input_opened() ? __builtin_own_stream() : 0;
}
void *popen(const char *command, const char *mode) {
  __builtin_own_needed(mode);
  __outside();
  return __input_opened() ? __builtin_own_stream() : 0;
}

/* stdio.h: texts. A line may end with the file. */
_Bool __input_line_ends(void);
_Bool __input_line_fails(void);
char __input_line(void);
char *fgets(char *to, int size, void *stream) {
  int count = 0;
  __outside();
  if (size <= 0)
    return 0;
  __builtin_own_needed(stream);
  while (count < size - 1) {
    if (__input_line_ends()) {
      __builtin_own_ended(stream, 1);
      break;
    }
    char next = __input_line();
    to[count++] = next;
    if (next == '\n')
      break;
  }
  if (count == 0 && size > 1)
    return 0;
  if (count > 0 && __input_line_fails()) {
    __builtin_own_ended(stream, 2);
    return 0;
  }
  to[count] = 0;
  return to;
}
char *gets(char *to) {
  long count = 0;
  __outside();
  while (!__input_line_ends()) {
    char next = __input_line();
    if (next == '\n') {
      to[count] = 0;
      return to;
    }
    to[count++] = next;
  }
  if (count == 0 || __input_line_fails())
    return 0;
  to[count] = 0;
  return to;
}
char *fgets_unlocked(char *to, int size, void *stream) { return fgets(to, size, stream); }
long __input_line_length(void);
size_t __input_line_room(void);
long getdelim(char **line, size_t *size, int end, void *stream) {
  __builtin_own_needed(stream);
  __outside();
  long length = __input_line_length();
  size_t room = __input_line_room();
  __VERIFIER_assume(length >= -1 && length < 0x7fffffff && room > 0 && (length < 0 || room > (size_t)length));
  if (length == 0)
    length = -1;
  if (length < 0)
    __builtin_own_ended(stream, 1);
  if (!*line || (length > 0 && *size <= (size_t)length)) {
    *line = __builtin_own_room(room);
    *size = room;
  }
  for (long i = 0; i < length; i++) {
    char next = __input_line();
    __VERIFIER_assume(next != (char)end || i == length - 1);
    (*line)[i] = next;
  }
  if (length > 0) {
    (*line)[length] = 0;
    if ((*line)[length - 1] != (char)end)
      __builtin_own_ended(stream, 1);
  }
  return length;
}
long getline(char **line, size_t *size, void *stream) { return getdelim(line, size, '\n', stream); }

/* stdio.h: what `%s` and `%c` of `scanf` bring. Conversions of numbers become assignments of the
   program. */
_Bool __input_word_ends(void);
char __input_word(void);
void __builtin_own_word(char *to, long most) {
  long count = 0;
  do {
    char next = __input_word();
    __VERIFIER_assume(next != ' ' && (next < 9 || next > 13));
    to[count++] = next;
  } while (count < most && !__input_word_ends());
  to[count] = 0;
}
void __builtin_own_solid(char *to, long count) {
  for (long i = 0; i < count; i++) {
    char next = __input_word();
    __VERIFIER_assume(i > 0 || (next != ' ' && (next < 9 || next > 13)));
    to[i] = next;
  }
}
void __builtin_own_characters(char *to, long count) {
  for (long i = 0; i < count; i++)
    to[i] = __input_word();
}

/* stdio.h and unistd.h: bytes. Of an element that is not read as a whole, some bytes may be. */
unsigned char __input_byte(void);
size_t __input_count(void);
size_t fread(void *to, size_t size, size_t count, void *stream) {
  size_t part = 0;
  __outside();
  if (size == 0 || count == 0)
    return 0;
  __builtin_own_needed(stream);
  size_t elements = __input_count();
  __VERIFIER_assume(elements <= count);
  if (elements < count)
    __builtin_own_ended(stream, 1);
  if (elements < count && size > 1) {
    part = __input_count();
    __VERIFIER_assume(part < size);
  }
  for (size_t i = 0; i < elements * size + part; i++)
    ((unsigned char *)to)[i] = __input_byte();
  return elements;
}
long __input_read(void);
long read(int file, void *to, size_t size) {
  __outside();
  long count = __input_read();
  __VERIFIER_assume(count >= -1 && (count < 0 || (size_t)count <= size));
  for (long i = 0; i < count; i++)
    ((unsigned char *)to)[i] = __input_byte();
  return count;
}

/* unistd.h: names of files. */
long readlink(const char *path, char *to, size_t size) {
  __outside();
  long count = __input_read();
  __VERIFIER_assume(count >= -1 && count != 0 && (count < 0 || (size_t)count <= size));
  for (long i = 0; i < count; i++)
    to[i] = (char)__input_byte();
  return count;
}
long __input_folder_length(void);
char __input_folder(void);
char *getcwd(char *to, size_t size) {
  __outside();
  long length = __input_folder_length();
  __VERIFIER_assume(length >= 0 && length < 4096);
  if (length == 0 || ((to || size > 0) && (size_t)length >= size))
    return 0;
  if (!to)
    to = __builtin_own_room(size > 0 ? size : (size_t)length + 1);
  to[0] = '/';
  for (long i = 1; i < length; i++) {
    char next = __input_folder();
    __VERIFIER_assume(next != 0);
    to[i] = next;
  }
  to[length] = 0;
  return to;
}

/* stdio.h: characters, in programs that put some back. */
static struct {
  void *stream;
  int character;
} __builtin_own_back[4];
static int __builtin_own_backs;
int __input_character(void);
int ungetc(int c, void *stream) {
  __builtin_own_needed(stream);
  if (c == -1 || __builtin_own_backs == 4)
    return -1;
  __builtin_own_back[__builtin_own_backs].stream = stream;
  __builtin_own_back[__builtin_own_backs++].character = (unsigned char)c;
  __builtin_own_ended(stream, 0);
  return (unsigned char)c;
}
void __builtin_own_forget(void *stream) {
  for (int i = 0; i < __builtin_own_backs; i++)
    if (__builtin_own_back[i].stream == stream)
      __builtin_own_back[i].stream = 0;
}
int __builtin_own_getc(void *stream) {
  __builtin_own_needed(stream);
  for (int i = __builtin_own_backs - 1; i >= 0; i--)
    if (__builtin_own_back[i].stream == stream) {
      int c = __builtin_own_back[i].character;
      for (__builtin_own_backs--; i < __builtin_own_backs; i++)
        __builtin_own_back[i] = __builtin_own_back[i + 1];
      return c;
    }
  __outside();
  int c = __input_character();
  __VERIFIER_assume(c >= -1 && c <= 255);
  if (c == -1)
    __builtin_own_ended(stream, 1);
  return c;
}

/* time.h */
long __input_time(void);
long time(long *to) {
  long now = __input_time();
  __VERIFIER_assume(now >= 0);
  if (to)
    *to = now;
  return now;
}

/* stdlib.h: the environment. What was asked for once is known. */
struct __builtin_own_variable {
  char *name, *value;
  struct __builtin_own_variable *next;
};
static struct __builtin_own_variable *__builtin_own_variables;
static int __builtin_own_is_cleared;
static char *__builtin_own_copy(const char *text, size_t length) {
  char *copy = __builtin_own_room(length + 1);
  for (size_t i = 0; i < length; i++)
    copy[i] = text[i];
  copy[length] = 0;
  return copy;
}
long __input_variable_length(void);
char __input_variable(void);
static char *__builtin_own_value(void) {
  long length = __input_variable_length();
  __VERIFIER_assume(length >= -1 && length < 0x7fffffff);
  if (length < 0)
    return 0;
  /* Fresh memory holds anything; what programs mostly look at is an input with a name. */
  char *text = __builtin_own_room((size_t)length + 1);
  for (long i = 0; i < 8 && i < length; i++)
    text[i] = __input_variable();
  text[length] = 0;
  return text;
}
static struct __builtin_own_variable *__builtin_own_named(const char *name, size_t length) {
  struct __builtin_own_variable *variable = __builtin_own_variables;
  for (; variable; variable = variable->next) {
    size_t i = 0;
    while (i < length && variable->name[i] == name[i])
      i++;
    if (i == length && variable->name[i] == 0)
      return variable;
  }
  variable = __builtin_own_room(sizeof *variable);
  variable->name = __builtin_own_copy(name, length);
  variable->value = __builtin_own_is_cleared ? 0 : __builtin_own_value();
  variable->next = __builtin_own_variables;
  __builtin_own_variables = variable;
  return variable;
}
static size_t __builtin_own_length(const char *name) {
  size_t length = 0;
  while (name[length] && name[length] != '=')
    length++;
  return length;
}
char *getenv(const char *name) {
  size_t length = __builtin_own_length(name);
  return length == 0 || name[length] ? 0 : __builtin_own_named(name, length)->value;
}
void __builtin_own_set_errno(int number);
int setenv(const char *name, const char *value, int overwrite) {
  size_t length = __builtin_own_length(name), size = 0;
  if (length == 0 || name[length]) {
    __builtin_own_set_errno(22);
    return -1;
  }
  struct __builtin_own_variable *variable = __builtin_own_named(name, length);
  while (value[size])
    size++;
  if (!variable->value || overwrite)
    variable->value = __builtin_own_copy(value, size);
  return 0;
}
int unsetenv(const char *name) {
  size_t length = __builtin_own_length(name);
  if (length == 0 || name[length]) {
    __builtin_own_set_errno(22);
    return -1;
  }
  __builtin_own_named(name, length)->value = 0;
  return 0;
}
int putenv(char *text) {
  size_t length = __builtin_own_length(text);
  struct __builtin_own_variable *variable = __builtin_own_named(text, length);
  variable->value = text[length] ? text + length + 1 : 0;
  return 0;
}
int clearenv(void) {
  __builtin_own_is_cleared = 1;
  for (struct __builtin_own_variable *variable = __builtin_own_variables; variable; variable = variable->next)
    variable->value = 0;
  return 0;
}
