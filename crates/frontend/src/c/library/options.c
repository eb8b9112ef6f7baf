/* unistd.h and getopt.h: options of the command. They are taken to come before all other arguments:
   the real functions put those behind the options. */
typedef unsigned long size_t;
struct __builtin_own_option {
  const char *name;
  int has_argument;
  int *flag;
  int value;
};
char *optarg;
int optind = 1, opterr = 1, optopt = '?';
/* The letters of an element that are still to be read; NULL if there are none. */
static char *letters;
static int is_plain(const char *text) { return text[0] != '-' || text[1] == 0; }
static const char *letter_in(const char *options, char letter) {
  if (letter == ':' || letter == ';')
    return 0;
  for (; *options; options++)
    if (*options == letter)
      return options;
  return 0;
}
/* Goes to the next element with options: 0 if there is one, else the result. */
static int next_element(int count, char **words, char order) {
  if (optind >= count)
    return -1;
  char *word = words[optind];
  if (is_plain(word)) {
    if (order != '-')
      return -1;
    optarg = word;
    optind++;
    return 1;
  }
  if (word[1] == '-' && word[2] == 0) {
    optind++;
    return -1;
  }
  return 0;
}
/* An option with a name; -1 if there is none. How much of its name is given is what counts: a part
   is enough if no other option begins so. */
static int named(const struct __builtin_own_option *all, const char *text, size_t length,
                 int *is_open) {
  int found = -1;
  for (int i = 0; all[i].name; i++) {
    size_t same = 0;
    while (same < length && all[i].name[same] == text[same])
      same++;
    if (same < length)
      continue;
    if (all[i].name[same] == 0) {
      *is_open = 0;
      return i;
    }
    if (found < 0)
      found = i;
    else if (all[found].has_argument != all[i].has_argument || all[found].flag != all[i].flag ||
             all[found].value != all[i].value)
      *is_open = 1;
  }
  return found;
}
static int long_option(int count, char **words, const struct __builtin_own_option *all, int *at,
                       char missing) {
  size_t length = 0;
  int is_open = 0;
  char *text = letters;
  letters = 0;
  while (text[length] && text[length] != '=')
    length++;
  int found = named(all, text, length, &is_open);
  optind++;
  if (found < 0 || is_open) {
    optopt = 0;
    return '?';
  }
  if (text[length]) {
    if (all[found].has_argument == 0) {
      optopt = all[found].value;
      return '?';
    }
    optarg = text + length + 1;
  } else if (all[found].has_argument == 1) {
    if (optind >= count) {
      optopt = all[found].value;
      return missing;
    }
    optarg = words[optind++];
  }
  if (at)
    *at = found;
  if (all[found].flag) {
    *all[found].flag = all[found].value;
    return 0;
  }
  return all[found].value;
}
static int next_option(int count, char **words, const char *options,
                       const struct __builtin_own_option *all, int *at) {
  char order = 0;
  if (count < 1)
    return -1;
  optarg = 0;
  if (optind == 0) {
    optind = 1;
    letters = 0;
  }
  if (*options == '-' || *options == '+')
    order = *options++;
  char missing = *options == ':' ? ':' : '?';
  if (!letters || !*letters) {
    int result = next_element(count, words, order);
    if (result)
      return result;
    letters = words[optind] + 1;
    if (all && *letters == '-') {
      letters++;
      return long_option(count, words, all, at, missing);
    }
  }
  char letter = *letters++;
  const char *known = letter_in(options, letter);
  int is_last = !*letters;
  if (is_last)
    optind++;
  if (!known) {
    optopt = letter;
    return '?';
  }
  if (known[1] != ':')
    return letter;
  if (!is_last) {
    optarg = letters;
    optind++;
  } else if (known[2] != ':') {
    if (optind >= count) {
      optopt = letter;
      letter = missing;
    } else {
      optarg = words[optind++];
    }
  }
  letters = 0;
  return letter;
}
int getopt(int count, char **words, const char *options) {
  return next_option(count, words, options, 0, 0);
}
int getopt_long(int count, char **words, const char *options, const void *all, int *at) {
  return next_option(count, words, options, all, at);
}
