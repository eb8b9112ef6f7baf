/* A queue of any length as a linked list with a pointer to its last node. */
#include <assert.h>
#include <stdlib.h>

extern int read_command(void);
extern int read_number(void);

struct job {
    int priority;
    struct job *next;
};

struct queue {
    struct job *first;
    struct job *last;
};

static int queue_push(struct queue *q, int priority)
{
    struct job *j = malloc(sizeof *j);

    if (j == NULL)
        return -1;
    j->priority = priority;
    j->next = NULL;
    if (q->last != NULL)
        q->last->next = j;
    else
        q->first = j;
    q->last = j;
    return 0;
}

static void queue_pop(struct queue *q)
{
    struct job *j = q->first;

    if (j == NULL)
        return;
    q->first = j->next;
    if (q->first == NULL)
        q->last = NULL;
    free(j);
}

/* Drops all jobs below a priority. */
static void queue_purge(struct queue *q, int priority)
{
    struct job **link = &q->first;
    struct job *last = NULL;

    while (*link != NULL) {
        struct job *j = *link;

        if (j->priority < priority) {
            *link = j->next;
            free(j);
        } else {
            last = j;
            link = &j->next;
        }
    }
    q->last = last;
}

int main(void)
{
    struct queue q = { NULL, NULL };
    int command;

    while ((command = read_command()) != 0) {
        if (command == 1)
            queue_push(&q, read_number());
        else if (command == 2)
            queue_pop(&q);
        else
            queue_purge(&q, read_number());
        assert((q.first == NULL) == (q.last == NULL));
        if (q.last != NULL)
            assert(q.last->next == NULL);
    }
    while (q.first != NULL)
        queue_pop(&q);
    return 0;
}
