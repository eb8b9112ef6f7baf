/* Sessions of a server in a list. A session that has waited too long is closed: without a
   fault, for up to six events. */
#include <stdlib.h>

struct session {
    int waited;
    struct session *next;
};

extern int event(void);

static struct session *open_session(struct session *list)
{
    struct session *s = malloc(sizeof *s);
    s->waited = 0;
    s->next = list;
    return s;
}

static struct session *tick(struct session *list)
{
    struct session **at = &list;
    while (*at) {
        struct session *s = *at;
        if (++s->waited > 2) {
            *at = s->next;
            free(s);
        } else {
            at = &s->next;
        }
    }
    return list;
}

int main(void)
{
    struct session *list = 0;
    for (int i = 0; i < 6; i++) {
        if (event())
            list = open_session(list);
        else
            list = tick(list);
    }
    while (list) {
        struct session *next = list->next;
        free(list);
        list = next;
    }
    return 0;
}
