/* Monte Carlo tree search with UCB1 in C, the yardstick of the search benchmark.

   It does what persona_evo/search/mcts.py does under the settings of the paper, for one game and one utility
   (0.7 MS + 0.3 PE - 5 DEAD), and fills the same arrays, so that both trees can be held against each other. */

#include <math.h>

#include "md2.c"

enum { DONE = 16, OVER = 15, NOBODY = -1, UNKNOWN = -1 };

typedef struct {
    int32_t parent, first, next, visits, action, left, depth, status, open, twin;
} Link;

typedef struct {
    double total, best, squares, score;
} Value;

typedef struct {
    Level level;
    Link *links;
    Value *values;
    u16 *states;
    int64_t size;
    int32_t nodes, capacity, horizon, length, stop_at_win;
    double c;
    Rng rng;
    double top;
    int32_t top_node, top_won, top_steps;
} Search;

static inline double ratio(int part, int whole) { return whole > 0 ? (double)part / whole : 0.0; }

static inline double utility(const Level *v, const u16 *s) {
    const int way = v->way[s[HERO_AT]];
    const double near = way == 0 ? 1.0 : way == NOWHERE ? 0.0 : 1.0 - (double)way / v->farthest;
    return 0.7 * ratio(s[SLAIN_AT], v->mortals) + 0.3 * near - 5.0 * (s[FLAGS_AT] & IS_DEAD ? 1.0 : 0.0);
}

static inline void set_node(Search *q, int node, int parent, int action, int depth) {
    const int status = over(q->states + node * q->size);
    q->links[node] = (Link){parent, NOBODY, NOBODY, 0, action, UNKNOWN, depth,
                            status != RUNNING || depth >= q->horizon ? status | DONE : status, 0, node};
    q->values[node] = (Value){0.0, -INFINITY, 0.0, 0.0};
}

static inline int expand(Search *q, int node) {
    Link *link = q->links + node;
    int actions[512];
    const int count = legal(&q->level, q->states + node * q->size, actions);
    const int action = actions[count - link->left--];
    const int child = q->nodes++;
    u16 *s = q->states + child * q->size;
    copy_state(s, q->states + node * q->size, q->size);
    step(&q->level, s, action);
    set_node(q, child, node, action, link->depth + 1);
    q->links[child].next = link->first;
    link->first = child;
    link->open += !(q->links[child].status & DONE);
    return child;
}

static inline double score(const Search *q, int child, double log_visits) {
    const int n = q->links[child].visits > 0 ? q->links[child].visits : 1;
    return q->values[child].total / n + q->c * sqrt(log_visits / n);
}

static inline int choose(Search *q, int node) {
    const double log_visits = log(q->links[node].visits > 0 ? q->links[node].visits : 1);
    int chosen = NOBODY, ties = 1;
    double top = -INFINITY;
    for (int child = q->links[node].first; child != NOBODY; child = q->links[child].next) {
        const double s = score(q, child, log_visits);
        if (s > top) {
            top = s;
            chosen = child;
            ties = 1;
        } else if (s == top) {
            ties++;
        }
    }
    if (ties > 1) {
        int wanted = below(&q->rng, ties);
        for (chosen = q->links[node].first; chosen != NOBODY; chosen = q->links[chosen].next)
            if (score(q, chosen, log_visits) == top && wanted-- == 0)
                break;
    }
    return chosen;
}

static inline void consider(Search *q, int node, double u) {
    const int won = (q->links[node].status & OVER) == WON, steps = q->links[node].depth;
    if (u < q->top || (u == q->top && (won < q->top_won || (won == q->top_won && steps >= q->top_steps))))
        return;
    q->top = u;
    q->top_node = node;
    q->top_won = won;
    q->top_steps = steps;
}

static inline double simulate(Search *q, int node) {
    u16 s[1024];
    int actions[512];
    const int left = q->horizon - q->links[node].depth, length = q->length < left ? q->length : left;
    copy_state(s, q->states + node * q->size, q->size);
    for (int made = 0; made < length && over(s) == RUNNING; made++)
        step(&q->level, s, actions[below(&q->rng, legal(&q->level, s, actions))]);
    return utility(&q->level, s);
}

static inline int iterate(Search *q) {
    int node = 0, fresh = 0, actions[512];
    while (!(q->links[node].status & OVER) && q->links[node].depth < q->horizon) {
        Link *link = q->links + node;
        if (link->left == UNKNOWN)
            link->left = legal(&q->level, q->states + node * q->size, actions);
        if (link->left > 0 && q->nodes < q->capacity) {
            node = expand(q, node);
            fresh = 1;
            break;
        }
        if (link->first == NOBODY)
            break;
        node = choose(q, node);
    }
    if (!fresh && q->stop_at_win && (q->links[node].status & OVER) == WON)
        return 1;
    if (fresh)
        consider(q, node, utility(&q->level, q->states + node * q->size));
    const double u = simulate(q, node);
    for (int at = node; at != NOBODY; at = q->links[at].parent) {
        Value *value = q->values + at;
        q->links[at].visits++;
        value->total += u;
        value->squares += u * u;
        value->best = u > value->best ? u : value->best;
    }
    return 0;
}

/* A search from `start`; returns the iterations made, the number of nodes in nodes[0] and the best one in nodes[1]. */
int64_t mcts(const u16 *tables, const u16 *start, int64_t size, void *links, void *values, u16 *states,
             int64_t capacity, int64_t iterations, int64_t horizon, int64_t length, int64_t stop_at_win, double c,
             int64_t *rng, int64_t *nodes) {
    Search q = {.level = level_of(tables), .links = links, .values = values, .states = states, .size = size,
                .nodes = 1, .capacity = capacity, .horizon = horizon, .length = length,
                .stop_at_win = stop_at_win, .c = c, .rng = {(uint32_t)rng[0], (uint32_t)rng[1]},
                .top = -INFINITY};
    copy_state(states, start, size);
    set_node(&q, 0, NOBODY, -1, 0);
    consider(&q, 0, utility(&q.level, states));
    int64_t made = 0;
    while (made < iterations) {
        made++;
        if (iterate(&q))
            break;
    }
    nodes[0] = q.nodes;
    nodes[1] = q.top_node;
    rng[0] = q.rng.a;
    rng[1] = q.rng.b;
    return made;
}
