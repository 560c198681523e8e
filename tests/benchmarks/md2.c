/* The rules of MiniDungeons 2 in C, the yardstick of the playout benchmark.

   It reads the same two rows of uint16 as the compiled Python (a level's tables and a state, laid out as
   persona_evo/games/catalog/minidungeons2/tables.py says), so both can be held against each other row by row. Only
   levels whose table of pairs is complete are supported. What a level fixes is taken out of the header once, into a
   struct that the compiler knows no store to a state can change. */

#include <stdint.h>

typedef uint16_t u16;

enum { T_TILES, T_MONSTERS, T_THINGS, T_WORDS, T_HERO, T_EXIT, T_PORTAL_A, T_PORTAL_B, T_POTIONS, T_TREASURES,
       T_MORTALS, T_FARTHEST, T_WIDTH, T_HEIGHT, T_PAIRED, T_HP_CAP, T_WIZARD_RANGE, T_OBJECT_WINS_TIE,
       T_GOBLINS_AVOID, T_NPC_AFTER_END, T_PAIR_AT, T_BOARD_AT = 22, T_HEADER = 32 };
enum { HERO_AT, HP_AT, JAVELIN_AT, STEPS_AT, FLAGS_AT, DRUNK_AT, OPENED_AT, SLAIN_AT, KNOCKED_AT, THROWN_AT,
       PORTALS_AT, TRAPS_AT, HURT_AT, THINGS_AT };
enum { NOTHING, POTION, TREASURE, TRAP, PORTAL, DOOR };
enum { GOBLIN = 1, WIZARD, OGRE, BLOB, MINITAUR };
enum { NOWHERE = 0xFFFF, NO_STEP = 4, SEES = 8, SEEN = 16, HAS_WON = 1, IS_DEAD = 2, HP_BIAS = 1000, THROW = 4 };
enum { RUNNING, WON, LOST };

typedef struct {
    const u16 *next, *way, *thing, *after, *sight, *kind, *pair, *targets;
    int tiles, monsters, places, hp, potions, treasures, mortals, farthest, portal_a, portal_b;
    int hp_cap, wizard_range, object_wins_tie, goblins_avoid, npc_after_end;
} Level;

typedef struct {
    uint32_t a, b;
} Rng;

static inline Level level_of(const u16 *t) {
    const int n = t[T_TILES], m = t[T_MONSTERS];
    Level v;
    v.tiles = n;
    v.monsters = m;
    v.places = THINGS_AT + t[T_WORDS];
    v.hp = v.places + m;
    v.next = t + T_HEADER + 2 * n;
    v.way = t + T_HEADER + 6 * n;
    v.thing = t + T_HEADER + 7 * n;
    v.after = t + T_HEADER + 8 * n;
    v.sight = t + T_HEADER + 9 * n;
    v.kind = t + T_HEADER + 10 * n;
    v.pair = t + (t[T_PAIR_AT] | (uint32_t)t[T_PAIR_AT + 1] << 16);
    v.targets = t + (t[T_BOARD_AT] | (uint32_t)t[T_BOARD_AT + 1] << 16) + t[T_WIDTH] * t[T_HEIGHT];
    v.potions = t[T_POTIONS];
    v.treasures = t[T_TREASURES];
    v.mortals = t[T_MORTALS];
    v.farthest = t[T_FARTHEST];
    v.portal_a = t[T_PORTAL_A];
    v.portal_b = t[T_PORTAL_B];
    v.hp_cap = t[T_HP_CAP];
    v.wizard_range = t[T_WIZARD_RANGE];
    v.object_wins_tie = t[T_OBJECT_WINS_TIE];
    v.goblins_avoid = t[T_GOBLINS_AVOID];
    v.npc_after_end = t[T_NPC_AFTER_END];
    return v;
}

static inline uint32_t draw(Rng *r) {
    const uint32_t a = r->a, x = a * 0x9E3779BBu, b = r->b ^ a;
    r->a = (a << 26 | a >> 6) ^ b ^ b << 9;
    r->b = b << 13 | b >> 19;
    return (x << 5 | x >> 27) * 5;
}

static inline int below(Rng *r, int n) { return (int)((uint64_t)draw(r) * (uint32_t)n >> 32); }

static inline void hurt_hero(u16 *s, int damage) {
    const int left = s[HP_AT] > HP_BIAS ? s[HP_AT] - HP_BIAS : 0;
    s[HURT_AT] += damage < left ? damage : left;
    s[HP_AT] -= damage;
    if (s[HP_AT] <= HP_BIAS)
        s[FLAGS_AT] |= IS_DEAD;
}

static inline void hurt_monster(const Level *v, u16 *s, int i, int damage) {
    u16 *hp = s + v->hp + i;
    if (v->kind[i] == MINITAUR) {
        if (*hp == 0) {
            *hp = 3;
            s[KNOCKED_AT]++;
        }
    } else if (*hp > 0) {
        if (*hp <= damage) {
            *hp = 0;
            s[SLAIN_AT]++;
        } else {
            *hp -= damage;
        }
    }
}

static inline int strength(int kind, int hp) {
    return kind == BLOB ? hp : kind == OGRE ? 2 : kind == WIZARD ? 0 : 1;
}

static inline int blocks(int kind, int hp) { return (hp == 0) == (kind == MINITAUR); }

static inline int is_there(const u16 *s, int k) { return s[THINGS_AT + (k >> 4)] >> (k & 15) & 1; }

static inline void take(u16 *s, int k) { s[THINGS_AT + (k >> 4)] &= ~(1 << (k & 15)); }

static inline int hero_meets_thing(const Level *v, u16 *s, int tile) {
    const int thing = v->thing[tile], k = thing >> 3;
    if (s[FLAGS_AT] & IS_DEAD)
        return 0;
    switch (thing & 7) {
    case POTION:
        if (is_there(s, k)) {
            take(s, k);
            s[DRUNK_AT]++;
            if (v->hp_cap == 0 || s[HP_AT] - HP_BIAS < v->hp_cap)
                s[HP_AT]++;
        }
        return 0;
    case TREASURE:
        if (is_there(s, k)) {
            take(s, k);
            s[OPENED_AT]++;
        }
        return 0;
    case TRAP:
        s[TRAPS_AT]++;
        hurt_hero(s, 1);
        return 0;
    case DOOR:
        s[FLAGS_AT] |= HAS_WON;
        return 0;
    case PORTAL:
        s[PORTALS_AT]++;
        return 1;
    }
    return 0;
}

static inline void move_hero(const Level *v, u16 *s, int direction) {
    int hero = s[HERO_AT];
    const int to = v->next[4 * hero + direction];
    if (to != NOWHERE) {
        int meets = v->thing[to] != NOTHING, ported = 0, stopped = 0;
        for (int i = 0; i < v->monsters; i++) {
            if (s[v->places + i] != to)
                continue;
            if (meets && i >= v->after[to]) {
                meets = 0;
                ported = hero_meets_thing(v, s, to);
            }
            const int kind = v->kind[i];
            if (blocks(kind, s[v->hp + i])) {
                if (!(s[FLAGS_AT] & IS_DEAD)) {
                    hurt_monster(v, s, i, 1);
                    hurt_hero(s, kind == BLOB ? s[v->hp + i] : strength(kind, 1));
                }
                stopped |= blocks(kind, s[v->hp + i]);
            }
        }
        if (meets)
            ported = hero_meets_thing(v, s, to);
        if (ported)
            hero = v->portal_b == to ? v->portal_a : v->portal_b;
        else if (!stopped)
            hero = to;
        s[HERO_AT] = hero;
    }
    if (s[JAVELIN_AT] == hero)
        s[JAVELIN_AT] = NOWHERE;
}

static inline void throw_javelin(const Level *v, u16 *s, int tile) {
    if (s[JAVELIN_AT] != NOWHERE || tile >= v->tiles || !(v->pair[s[HERO_AT] * v->tiles + tile] & SEEN))
        return;
    int somebody = 0;
    for (int i = 0; i < v->monsters; i++) {
        if (s[v->places + i] != tile)
            continue;
        somebody = 1;
        if (v->kind[i] == WIZARD || strength(v->kind[i], s[v->hp + i]) > 0) {
            hurt_monster(v, s, i, 1);
            break;
        }
    }
    if (somebody) {
        s[JAVELIN_AT] = tile;
        s[THROWN_AT]++;
    }
}

static inline void monster_meets_monster(const Level *v, u16 *s, int kind, int me, int i) {
    const int other = v->kind[i];
    if (kind == WIZARD || !blocks(other, s[v->hp + i]) || (kind == MINITAUR && s[v->hp + me] != 0))
        return;
    if (kind == BLOB && other == BLOB) {
        const int sum = s[v->hp + me] + s[v->hp + i];
        s[v->hp + me] = sum < 3 ? sum : 3;
        s[v->hp + i] = 0;
        s[SLAIN_AT]++;
        return;
    }
    const int blow = strength(kind, s[v->hp + me]);
    const int back = other == BLOB ? s[v->hp + i] - blow : strength(other, 1);
    hurt_monster(v, s, i, blow);
    if (other != WIZARD)
        hurt_monster(v, s, me, back);
}

static inline void monster_meets_thing(const Level *v, u16 *s, int kind, int me, int tile) {
    const int thing = v->thing[tile], k = thing >> 3;
    switch (thing & 7) {
    case TRAP:
        if (kind != WIZARD)
            hurt_monster(v, s, me, 1);
        return;
    case POTION:
        if (kind == BLOB && is_there(s, k)) {
            take(s, k);
            if (s[v->hp + me] < 3)
                s[v->hp + me]++;
        }
        return;
    case TREASURE:
        if (kind == OGRE && is_there(s, k))
            take(s, k);
        return;
    }
}

static inline void move_monster(const Level *v, u16 *s, int kind, int me, int to) {
    int stopped = 0;
    if (s[HERO_AT] == to && !(s[FLAGS_AT] & IS_DEAD)) {
        if (kind != WIZARD) {
            hurt_hero(s, strength(kind, s[v->hp + me]));
            hurt_monster(v, s, me, 1);
        }
        stopped = !(s[FLAGS_AT] & IS_DEAD);
    }
    int meets = v->thing[to] != NOTHING;
    for (int i = 0; i < v->monsters; i++) {
        if (s[v->places + i] != to || i == me)
            continue;
        if (meets && i >= v->after[to]) {
            meets = 0;
            monster_meets_thing(v, s, kind, me, to);
        }
        monster_meets_monster(v, s, kind, me, i);
        stopped |= blocks(v->kind[i], s[v->hp + i]);
    }
    if (meets)
        monster_meets_thing(v, s, kind, me, to);
    if (!stopped)
        s[v->places + me] = to;
}

static inline int nearest_thing(const Level *v, const u16 *s, int here, int first, int count, int limit) {
    int best = NOWHERE;
    for (int k = first; k < first + count; k++) {
        if (!is_there(s, k))
            continue;
        const int tile = v->targets[k], p = v->pair[tile * v->tiles + here];
        if (p & SEES && p >> 6 < limit) {
            limit = p >> 6;
            best = tile;
        }
    }
    return best;
}

static inline void act(const Level *v, u16 *s, int kind, int me, int p, int here) {
    int way = p & 7;
    if (kind == WIZARD) {
        if (p >> 6 <= v->wizard_range) {
            hurt_hero(s, 1);
            return;
        }
    } else if (kind == BLOB || kind == OGRE) {
        const int limit = p & SEES ? (p >> 6) + v->object_wins_tie : 1 << 30;
        const int tile = kind == BLOB ? nearest_thing(v, s, here, 0, v->potions, limit)
                                      : nearest_thing(v, s, here, v->potions, v->treasures, limit);
        if (tile != NOWHERE)
            way = v->pair[tile * v->tiles + here] & 7;
        else if (!(p & SEES))
            return;
    }
    if (way == NO_STEP)
        return;
    const int to = v->next[4 * here + way];
    if (v->goblins_avoid && kind <= WIZARD)
        for (int j = 0; j < v->monsters; j++)
            if (s[v->places + j] == to && j != me && v->kind[j] <= WIZARD && s[v->hp + j] > 0)
                return;
    move_monster(v, s, kind, me, to);
}

static inline void step(const Level *v, u16 *s, int action) {
    s[STEPS_AT]++;
    if (action >= THROW)
        throw_javelin(v, s, action - THROW);
    else if (action >= 0)
        move_hero(v, s, action);
    const u16 *row = v->pair + s[HERO_AT] * v->tiles;
    for (int i = 0; i < v->monsters; i++) {
        if (s[FLAGS_AT] && !v->npc_after_end)
            return;
        const int kind = v->kind[i];
        u16 *hp = s + v->hp + i;
        if (kind == MINITAUR) {
            if (*hp) {
                --*hp;
                continue;
            }
        } else if (*hp == 0) {
            continue;
        }
        const int here = s[v->places + i], p = row[here];
        if (p & SEES || kind == MINITAUR || (kind >= OGRE && v->sight[here] & (5 - kind)))
            act(v, s, kind, i, p, here);
    }
}

static inline int legal(const Level *v, const u16 *s, int *actions) {
    const int hero = s[HERO_AT];
    int count = 0;
    if (s[JAVELIN_AT] == NOWHERE) {
        const u16 *row = v->pair + hero * v->tiles;
        for (int i = 0; i < v->monsters; i++) {
            const int tile = s[v->places + i];
            if (!(row[tile] & SEEN))
                continue;
            int k = 0;
            while (k < count && actions[k] != THROW + tile)
                k++;
            if (k == count)
                actions[count++] = THROW + tile;
        }
    }
    for (int d = 0; d < 4; d++)
        if (v->next[4 * hero + d] != NOWHERE)
            actions[count++] = d;
    return count;
}

static inline int over(const u16 *s) { return s[FLAGS_AT] & IS_DEAD ? LOST : s[FLAGS_AT] ? WON : RUNNING; }

static inline void copy_state(u16 *restrict to, const u16 *restrict from, int size) {
    for (int k = 0; k < size; k++)
        to[k] = from[k];
}

/* Random playouts from `start`, each of at most `longest` turns, until `turns` turns are made; returns a checksum. */
int64_t playouts(const u16 *tables, const u16 *start, int64_t size, int64_t turns, int64_t longest, int64_t *rng) {
    const Level v = level_of(tables);
    Rng r = {(uint32_t)rng[0], (uint32_t)rng[1]};
    u16 s[1024];
    int actions[512];
    int64_t sum = 0;
    while (turns > 0) {
        copy_state(s, start, size);
        for (int k = 0; k < longest && turns > 0 && over(s) == RUNNING; k++, turns--)
            step(&v, s, actions[below(&r, legal(&v, s, actions))]);
        sum += s[HERO_AT] + s[STEPS_AT];
    }
    rng[0] = r.a;
    rng[1] = r.b;
    return sum;
}

/* The states after each turn of such playouts, `size` words each, written to `out`. */
void trace(const u16 *tables, const u16 *start, int64_t size, int64_t turns, int64_t longest, int64_t *rng, u16 *out) {
    const Level v = level_of(tables);
    Rng r = {(uint32_t)rng[0], (uint32_t)rng[1]};
    u16 s[1024];
    int actions[512];
    while (turns > 0) {
        copy_state(s, start, size);
        for (int k = 0; k < longest && turns > 0 && over(s) == RUNNING; k++, turns--) {
            step(&v, s, actions[below(&r, legal(&v, s, actions))]);
            copy_state(out, s, size);
            out += size;
        }
    }
    rng[0] = r.a;
    rng[1] = r.b;
}
