// The yardstick of the benchmarks: MiniDungeons 2 with the rules of the game, random playouts, UCB1 and three formulas
// as tree policies, written for speed alone. `yardstick.py` builds it and calls it through ctypes.
//
// A state is 32 bytes (up to 16 monsters, 16 potions and treasures, 254 tiles). The monsters' tiles are one SSE
// register, their hit points planes of bits. One comparison tells who stands on a tile, one table lookup (pshufb)
// who sees the hero, for all monsters at once, so that a turn only loops over the monsters that do something. Random
// numbers (xoroshiro64**, multiply and shift), the order of legal actions and the order of ties are those of
// persona_evo, so that playouts and trees can be compared number by number.

#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#define HOT static inline __attribute__((always_inline))

enum { NONE = 255, THROW = 4, WON_BIT = 128, DEAD_BIT = 64, NUMBER = 63 };
enum Thing : u8 { NOTHING, POTION, TREASURE, TRAP, PORTAL, DOOR };

struct alignas(32) State {
    u8 pos[16];         // tile of each monster, NONE beyond the last
    u16 h0, h1;         // hit points, low and high bit; of a minitaur: turns it is still knocked out
    u16 things;         // potions, then treasures still there
    u8 hero, jav;       // tiles; NONE: in hand
    int8_t hp;
    u8 steps;
    u8 drunk, opened;   // opened: with WON_BIT and DEAD_BIT
    u8 mtk, jt, tu, ts; // the upper bits of drunk and ts: of each ogre, 3 hit points more
};
static_assert(sizeof(State) == 32);

struct Level {
    // hot tables, [128] or [256] wide
    alignas(32) u8 sees[256][32];  // bitmap of tiles from which a monster sees this tile
    alignas(32) u8 seen[256][32];  // bitmap of tiles in the javelin's sight from this tile
    u8 near[256][32];              // bitmap of tiles within Manhattan distance 3
    u8 move[256][4];
    u8 moves[256];                 // bits of moves that lead somewhere
    u8 thing[256], number[256], after[256];
    u16 in_sight[256];             // things a monster on this tile can see
    u8 x[256], y[256], thing_tile[16];
    double pe3[256], ms7[17];      // 0.3 PE and 0.7 MS
    double pe[256];
    u16 mino, blob, ogre, wizard, goblin, mortal, all, potion_bits, treasure_bits;
    int n, m, potions, treasures, mortals, w, h, farthest, portal_a, portal_b;
    int way[256];
    State start;
    std::vector<std::string> rows;
    std::vector<u8> step;          // [target * stride + start]: next tile of the path
    int stride;
    const u8 *path;
};

// ---------------------------------------------------------------- loading

static int tile_at(const std::vector<int> &board, int w, int h, int x, int y) {
    return x < 0 || y < 0 || x >= w || y >= h ? NONE : board[y * w + x];
}

static bool free_line(const Level &v, const std::vector<int> &board, int a, int b) {
    int x = v.x[a], y = v.y[a], dx = v.x[b] - x, dy = v.y[b] - y, sx = dx > 0 ? 1 : -1, sy = dy > 0 ? 1 : -1;
    dx = abs(dx), dy = abs(dy);
    int e = dx - dy;
    for (int i = 0; i < 1 + dx + dy; i++) {
        if (tile_at(board, v.w, v.h, x, y) == NONE)
            return false;
        if (e > 0) x += sx, e -= 2 * dy;
        else y += sy, e += 2 * dx;
    }
    return true;
}

// the original's A*: (moves, next tile), moves -1 without a path
static std::pair<int, int> astar(const Level &v, int from, int to) {
    if (from == to) return {0, NONE};
    std::vector<int> heap{from}, f(v.n), g(v.n), parent(v.n, -1), mark(v.n, 0);
    auto guess = [&](int a) { return abs(v.x[a] - v.x[to]) + abs(v.y[a] - v.y[to]); };
    f[from] = guess(from), mark[from] = 1;
    while (!heap.empty()) {
        int here = heap[0];
        if (here == to) {
            int moves = g[to];
            while (parent[here] != from) here = parent[here];
            return {moves, here};
        }
        heap[0] = heap.back(), heap.pop_back();
        for (size_t i = 0;;) {
            size_t best = i;
            for (size_t c = 2 * i + 1; c <= 2 * i + 2; c++)
                if (c < heap.size() && f[heap[best]] > f[heap[c]]) best = c;
            if (best == i) break;
            std::swap(heap[i], heap[best]), i = best;
        }
        mark[here] = 2;
        for (int d : {0, 3, 1, 2}) {  // N W E S
            int next = v.move[here][d];
            if (next == NONE || mark[next] == 2) continue;
            int cost = g[here] + 1;
            if (!mark[next]) {
                mark[next] = 1, g[next] = cost, f[next] = cost + guess(next), parent[next] = here;
                heap.push_back(next);
                for (size_t i = heap.size() - 1; i > 0 && f[heap[i]] < f[heap[(i - 1) / 2]]; i = (i - 1) / 2)
                    std::swap(heap[i], heap[(i - 1) / 2]);
            } else if (cost < g[next]) {
                f[next] -= g[next] - cost, g[next] = cost, parent[next] = here;
                size_t i = std::find(heap.begin(), heap.end(), next) - heap.begin();
                while (i > 0 && f[heap[i - 1]] > f[next]) std::swap(heap[i], heap[i - 1]), i--;
                while (i + 1 < heap.size() && f[heap[i + 1]] < f[next]) std::swap(heap[i], heap[i + 1]), i++;
            }
        }
    }
    return {-1, NONE};
}

// whether the level is within the limits of State
static bool load(Level &v, const char *text) {
    std::istringstream in(text);
    std::string line;
    while (std::getline(in, line)) {
        if (!line.empty() && line.back() == '\r') line.pop_back();
        v.rows.push_back(line);
    }
    while (!v.rows.empty() && v.rows.back().empty()) v.rows.pop_back();
    v.h = v.rows.size(), v.w = 0;
    for (auto &r : v.rows) v.w = std::max<int>(v.w, r.size());
    std::vector<int> board(v.w * v.h, NONE);
    for (int y = 0; y < v.h; y++)
        for (int x = 0; x < (int)v.rows[y].size(); x++)
            if (v.rows[y][x] != 'X') {
                if (v.n == 254) return false;
                board[y * v.w + x] = v.n, v.x[v.n] = x, v.y[v.n] = y, v.n++;
            }
    memset(v.move, NONE, sizeof v.move);
    State &s = v.start;
    memset(&s, 0, sizeof s);
    memset(s.pos, NONE, sizeof s.pos);
    s.hp = 10, s.jav = NONE;
    v.portal_a = v.portal_b = NONE;
    int exit_tile = NONE, thing_count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < v.n; i++) {
            char c = v.rows[v.y[i]][v.x[i]];
            if (strchr("PT", c) && pass == (c == 'T') && thing_count == 16) return false;
            if (pass == 1) {
                if (c == 'T')
                    v.thing[i] = TREASURE, v.number[i] = thing_count, v.thing_tile[thing_count++] = i, v.treasures++;
                continue;
            }
            static const int dx[] = {0, 1, 0, -1}, dy[] = {-1, 0, 1, 0};
            for (int d = 0; d < 4; d++) {
                v.move[i][d] = tile_at(board, v.w, v.h, v.x[i] + dx[d], v.y[i] + dy[d]);
                v.moves[i] |= (v.move[i][d] != NONE) << d;
            }
            v.after[i] = v.m;
            if (strchr("MRobm", c)) {
                if (v.m == 16) return false;
                u16 bit = 1 << v.m;
                s.pos[v.m++] = i, v.all |= bit;
                (c == 'M' ? v.goblin : c == 'R' ? v.wizard : c == 'o' ? v.ogre : c == 'b' ? v.blob : v.mino) |= bit;
                if (c == 'o') s.h1 |= bit;
                else if (c != 'm') s.h0 |= bit;
            } else if (c == 'P')
                v.thing[i] = POTION, v.number[i] = thing_count, v.thing_tile[thing_count++] = i, v.potions++;
            else if (c == 't') v.thing[i] = TRAP;
            else if (c == 'p') v.thing[i] = PORTAL, (v.portal_a == NONE ? v.portal_a : v.portal_b) = i;
            else if (c == 'e') v.thing[i] = DOOR, exit_tile = i;
            else if (c == 'H') s.hero = i;
        }
    s.things = (1u << thing_count) - 1;
    if (__builtin_popcount(v.ogre) > 6 || __builtin_popcount(v.blob) > 4) return false;
    v.mortal = v.all & ~v.mino, v.mortals = __builtin_popcount(v.mortal);
    v.potion_bits = (1u << v.potions) - 1, v.treasure_bits = s.things & ~v.potion_bits;
    v.stride = v.n <= 128 ? 128 : 256;
    v.step.assign(v.stride * v.n, NONE), v.path = v.step.data();
    for (int target = 0; target < v.n; target++)
        for (int i = 0; i < v.n; i++) {
            v.step[target * v.stride + i] = astar(v, i, target).second;
            int bit = 1 << (i & 7);
            if (free_line(v, board, i, target)) v.sees[target][i >> 3] |= bit;
            if (free_line(v, board, target, i)) v.seen[target][i >> 3] |= bit;
            if (abs(v.x[i] - v.x[target]) + abs(v.y[i] - v.y[target]) <= 3) v.near[target][i >> 3] |= bit;
        }
    for (int i = 0; i < v.n; i++) {
        for (int k = 0; k < thing_count; k++)
            v.in_sight[i] |= (v.sees[v.thing_tile[k]][i >> 3] >> (i & 7) & 1) << k;
        auto [moves, next] = astar(v, i, exit_tile);
        v.way[i] = i == exit_tile ? 0 : next == NONE ? -1 : moves;
        v.farthest = std::max(v.farthest, v.way[i]);
    }
    for (int i = 0; i < v.n; i++) {
        v.pe[i] = v.way[i] == 0 ? 1.0 : v.way[i] < 0 ? 0.0 : 1.0 - (double)v.way[i] / v.farthest;
        v.pe3[i] = 0.3 * v.pe[i];
    }
    for (int k = 0; k <= 16; k++) v.ms7[k] = v.mortals ? 0.7 * ((double)k / v.mortals) : 0.0;
    return true;
}

// ---------------------------------------------------------------- the rules

struct Rng { u32 a, b; };
HOT u32 draw(Rng &r) {
    const u32 a = r.a, x = a * 0x9E3779BBu, b = r.b ^ a;
    r.a = (a << 26 | a >> 6) ^ b ^ b << 9;
    r.b = b << 13 | b >> 19;
    return (x << 5 | x >> 27) * 5;
}
HOT int below(Rng &r, int n) { return (int)((u64)draw(r) * (u32)n >> 32); }

// a state being played: the monsters' tiles in a register
struct Play {
    __m128i pos;
    u32 h0, h1, h2, things;
    int hero, jav, hp, steps, drunk, opened, mtk, jt, tu, ts;
};
HOT Play unpack(const Level &v, const State &s) {
    const u32 h2 = _pdep_u32(s.drunk >> 5 | s.ts >> 5 << 3, v.ogre);
    return {_mm_load_si128((const __m128i *)s.pos), s.h0, s.h1, h2, s.things, s.hero, s.jav, s.hp, s.steps,
            s.drunk & 31, s.opened, s.mtk, s.jt, s.tu, s.ts & 31};
}
HOT void pack(const Level &v, State &s, const Play &p) {
    const u32 h2 = _pext_u32(p.h2, v.ogre);
    _mm_store_si128((__m128i *)s.pos, p.pos);
    s.h0 = p.h0, s.h1 = p.h1, s.things = p.things, s.hero = p.hero, s.jav = p.jav, s.hp = p.hp, s.steps = p.steps;
    s.drunk = p.drunk | (h2 & 7) << 5, s.opened = p.opened, s.mtk = p.mtk, s.jt = p.jt, s.tu = p.tu;
    s.ts = p.ts | h2 >> 3 << 5;
}
HOT u32 on_tile(__m128i pos, int tile) { return _mm_movemask_epi8(_mm_cmpeq_epi8(pos, _mm_set1_epi8(tile))); }

// the monsters whose tiles are in a bitmap; NONE is in no bitmap, since there are 254 tiles, or 127 where not WIDE
template <bool WIDE> HOT u32 among(__m128i pos, const u8 *map) {
    const __m128i bits = _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
    const __m128i at = _mm_and_si128(_mm_srli_epi16(pos, 3), _mm_set1_epi8(31));
    __m128i byte = _mm_shuffle_epi8(_mm_load_si128((const __m128i *)map), at);
    if (WIDE) {
        const __m128i high = _mm_shuffle_epi8(_mm_load_si128((const __m128i *)(map + 16)), at);
        byte = _mm_blendv_epi8(byte, high, pos);
    }
    const __m128i bit = _mm_shuffle_epi8(bits, _mm_and_si128(pos, _mm_set1_epi8(7)));
    return _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_and_si128(byte, bit), bit));
}
HOT u32 alive(const Play &p) { return p.h0 | p.h1; }
HOT int get_hp(const Play &p, int i) { return (p.h0 >> i & 1) | (p.h1 >> i & 1) << 1; }
HOT void set_hp(Play &p, int i, int v) {
    p.h0 = (p.h0 & ~(1u << i)) | (v & 1u) << i;
    p.h1 = (p.h1 & ~(1u << i)) | (u32)(v >> 1) << i;
}
HOT u32 blockers(const Level &v, const Play &p) { return alive(p) ^ v.mino; }
HOT void hurt_hero(Play &p, int damage) {
    p.hp -= damage;
    if (p.hp <= 0) p.opened |= DEAD_BIT;
}
HOT int strength(const Level &v, const Play &p, int i) {
    const u32 bit = 1u << i;
    return v.blob & bit ? get_hp(p, i) : v.ogre & bit ? 2 : v.wizard & bit ? 0 : 1;
}
HOT void hurt(const Level &v, Play &p, int i, int damage) {
    const int hp = get_hp(p, i) + 3 * (p.h2 >> i & 1);
    if (v.mino >> i & 1) {
        if (hp == 0) set_hp(p, i, 3), p.mtk++;
    } else if (hp > 0) {
        const int left = hp > damage ? hp - damage : 0, high = left > 3;
        p.h2 = (p.h2 & ~(1u << i)) | (u32)high << i;
        set_hp(p, i, left - 3 * high);
    }
}
HOT bool hero_meets_thing(const Level &v, Play &p, int tile) {
    if (p.opened & DEAD_BIT) return false;
    const u32 bit = 1u << v.number[tile];
    switch (v.thing[tile]) {
    case POTION: if (p.things & bit) p.things ^= bit, p.drunk++, p.hp++; return false;
    case TREASURE: if (p.things & bit) p.things ^= bit, p.opened++; return false;
    case TRAP: p.ts++, hurt_hero(p, 1); return false;
    case DOOR: p.opened |= WON_BIT; return false;
    case PORTAL: p.tu++; return true;
    }
    return false;
}
HOT void move_hero(const Level &v, Play &p, int d) {
    const int to = v.move[p.hero][d];
    if (to != NONE) {
        u32 there = on_tile(p.pos, to);
        if (!(there | v.thing[to])) p.hero = to;
        else {
            bool meets = v.thing[to] != NOTHING, ported = false, stopped = false;
            for (; there; there &= there - 1) {
                const int i = __builtin_ctz(there);
                if (meets && i >= v.after[to]) meets = false, ported = hero_meets_thing(v, p, to);
                if (blockers(v, p) >> i & 1) {
                    if (!(p.opened & DEAD_BIT)) {
                        hurt(v, p, i, 1);
                        hurt_hero(p, strength(v, p, i));
                    }
                    stopped |= blockers(v, p) >> i & 1;
                }
            }
            if (meets) ported = hero_meets_thing(v, p, to);
            if (ported) p.hero = v.portal_b == to ? v.portal_a : v.portal_b;
            else if (!stopped) p.hero = to;
        }
    }
    if (p.jav == p.hero) p.jav = NONE;
}
HOT void throw_at(const Level &v, Play &p, int tile) {
    if (p.jav != NONE || tile >= v.n || !(v.seen[p.hero][tile >> 3] >> (tile & 7) & 1)) return;
    u32 there = on_tile(p.pos, tile);
    if (!there) return;
    p.jav = tile, p.jt++;
    for (; there; there &= there - 1) {
        const int i = __builtin_ctz(there);
        if (v.wizard >> i & 1 || strength(v, p, i) > 0) { hurt(v, p, i, 1); break; }
    }
}
HOT void set_pos(Play &p, int i, int to) {
    const __m128i iota = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    p.pos = _mm_blendv_epi8(p.pos, _mm_set1_epi8(to), _mm_cmpeq_epi8(iota, _mm_set1_epi8(i)));
}
HOT void monster_meets_thing(const Level &v, Play &p, int me, int tile) {
    const u32 bit = 1u << v.number[tile], mine = 1u << me;
    if (v.thing[tile] == TRAP) {
        if (!(v.wizard & mine)) hurt(v, p, me, 1);
    } else if (v.thing[tile] == POTION) {
        if (v.blob & mine && p.things & bit && get_hp(p, me) > 0)
            p.things ^= bit, set_hp(p, me, std::min(3, get_hp(p, me) + 1));
    } else if (v.thing[tile] == TREASURE) {
        if (v.ogre & mine) p.things &= ~bit;
    }
}
HOT void move_monster(const Level &v, Play &p, int me, int to) {
    const u32 mine = 1u << me;
    u32 there = on_tile(p.pos, to) & ~mine;
    const int thing = v.thing[to];
    if (!(there | thing) && to != p.hero) { set_pos(p, me, to); return; }
    bool stopped = false;
    if (to == p.hero && !(p.opened & DEAD_BIT)) {
        if (!(v.wizard & mine)) {
            hurt_hero(p, strength(v, p, me));
            hurt(v, p, me, 1);
        }
        stopped = !(p.opened & DEAD_BIT);
    }
    bool meets = thing != NOTHING;
    for (; there; there &= there - 1) {
        const int i = __builtin_ctz(there);
        if (meets && i >= v.after[to]) meets = false, monster_meets_thing(v, p, me, to);
        if (!(v.wizard & mine) && blockers(v, p) >> i & 1 && !(v.mino & mine && get_hp(p, me))) {
            if (v.blob & mine && v.blob >> i & 1) {
                if (get_hp(p, me)) set_hp(p, me, std::min(3, get_hp(p, me) + get_hp(p, i))), set_hp(p, i, 0);
            } else {
                // a blob strikes back with the level that the blow has left it, -1 for one of level 1 hit by an ogre
                const int blow = strength(v, p, me);
                const int back = v.blob >> i & 1 ? get_hp(p, i) - blow : strength(v, p, i);
                hurt(v, p, i, blow);
                if (!(v.wizard >> i & 1)) hurt(v, p, me, back);
            }
        }
        stopped |= blockers(v, p) >> i & 1;
    }
    if (meets) monster_meets_thing(v, p, me, to);
    if (!stopped) set_pos(p, me, to);
}
HOT int way_between(const Level &v, int a, int b) { return abs(v.x[a] - v.x[b]) + abs(v.y[a] - v.y[b]); }

template <bool WIDE> HOT void monsters_act(const Level &v, Play &p) {
    alignas(16) u8 at[16];
    _mm_store_si128((__m128i *)at, p.pos);
    const u32 sees = among<WIDE>(p.pos, v.sees[p.hero]);
    const u8 *path = v.path + p.hero * (WIDE ? 256 : 128);
    // monsters that may act: alive or minitaur, and see the hero or may see what they are after
    u32 may = ((sees & alive(p)) | v.mino | ((v.blob | v.ogre) & alive(p))) & v.all;
    for (; may; may &= may - 1) {
        const int i = __builtin_ctz(may), here = at[i];
        const u32 mine = 1u << i;
        const int hp = get_hp(p, i);
        int to = path[here];
        if (v.mino & mine) {
            if (hp) { set_hp(p, i, hp - 1); continue; }
        } else {
            if (!hp) continue;
            if (v.wizard & mine) {
                if (v.near[p.hero][here >> 3] >> (here & 7) & 1) { hurt_hero(p, 1); continue; }
            } else if ((v.blob | v.ogre) & mine) {
                u32 wanted = v.in_sight[here] & p.things & (v.blob & mine ? v.potion_bits : v.treasure_bits);
                if (wanted) {
                    int limit = sees & mine ? way_between(v, here, p.hero) : 1 << 30, best = NONE;
                    for (; wanted; wanted &= wanted - 1) {
                        const int tile = v.thing_tile[__builtin_ctz(wanted)], far = way_between(v, here, tile);
                        if (far < limit) limit = far, best = tile;
                    }
                    if (best != NONE) to = v.path[best * (WIDE ? 256 : 128) + here];
                } else if (!(sees & mine)) continue;
            }
        }
        if (to != NONE) move_monster(v, p, i, to);
    }
}
template <bool WIDE> HOT void step(const Level &v, Play &p, int action) {
    p.steps++;
    if (action >= THROW) throw_at(v, p, action - THROW);
    else if (action >= 0) move_hero(v, p, action);
    monsters_act<WIDE>(v, p);
}
HOT bool over(const Play &p) { return p.opened & (WON_BIT | DEAD_BIT); }

// monsters at whose tiles the javelin can be thrown, no tile twice
template <bool WIDE> HOT u32 targets(const Level &v, const Play &p) {
    if (p.jav != NONE) return 0;
    u32 found = among<WIDE>(p.pos, v.seen[p.hero]) & v.all;
    u32 down = found & (~blockers(v, p) | v.mino);  // only those can share a tile with another
    for (; down; down &= down - 1) {
        u8 at[16];
        _mm_storeu_si128((__m128i *)at, p.pos);
        u32 same = on_tile(p.pos, at[__builtin_ctz(down)]) & found;
        found = (found & ~same) | (same & -same);
    }
    return found;
}
static const struct Nth {
    u8 at[16][4];
    Nth() { for (int m = 0; m < 16; m++) for (int k = 0, d = 0; d < 4; d++) if (m >> d & 1) at[m][k++] = d; }
} nth_move;
HOT int tile_of(__m128i pos, int i) {
    return _mm_cvtsi128_si32(_mm_shuffle_epi8(pos, _mm_set1_epi8(i))) & 255;
}
// the k-th legal action
HOT int nth(const Level &v, const Play &p, u32 throws, int k) {
    const int moves = v.moves[p.hero];
    const int t = __builtin_popcount(throws);
    if (k < t) return THROW + tile_of(p.pos, __builtin_ctz(_pdep_u32(1u << k, throws)));
    return nth_move.at[moves][k - t];
}
template <bool WIDE> HOT int legal_count(const Level &v, const Play &p, u32 &throws) {
    throws = targets<WIDE>(v, p);
    return __builtin_popcount(throws) + __builtin_popcount(v.moves[p.hero]);
}
template <bool WIDE> HOT int random_turns(const Level &v, Play &p, int length, Rng &r) {
    int made = 0;
    for (; made < length && !over(p); made++) {
        u32 throws;
        const int count = legal_count<WIDE>(v, p, throws);
        if (!count) break;
        step<WIDE>(v, p, nth(v, p, throws, below(r, count)));
    }
    return made;
}
HOT int slain(const Level &v, const Play &p) { return __builtin_popcount(v.mortal & ~alive(p)); }
HOT double utility(const Level &v, const Play &p) {
    return v.ms7[slain(v, p)] + v.pe3[p.hero] - 5.0 * (p.opened & DEAD_BIT ? 1.0 : 0.0);
}

// ---------------------------------------------------------------- playouts

template <bool WIDE> static int64_t playouts_of(const Level &v, int64_t turns, int longest, int64_t *rng) {
    Rng r = {(u32)rng[0], (u32)rng[1]};
    int64_t sum = 0;
    while (turns > 0) {
        Play p = unpack(v, v.start);
        const int64_t made = random_turns<WIDE>(v, p, turns < longest ? turns : longest, r);
        turns -= made, sum += made * made;
    }
    rng[0] = r.a, rng[1] = r.b;
    return sum;
}

// ---------------------------------------------------------------- search

// What a descent reads lies together: the children of a node are one block of these, made when its first child is.
struct Slot {
    double total;
    u32 visits, link;  // link: 0 untouched, ENDED, or first child | number of legal actions << 27
};
struct Node {
    State state;
    u32 parent;
    u16 action;
    u16 depth;
};
enum : u32 { ENDED = 0xFFFFFFFF, BLOCK = (1u << 27) - 1 };

struct Tree {
    Slot *slots;
    Node *nodes;
    u32 room, used, made;
    double top;
    u32 top_node, top_won, top_steps;
};

static void *big(size_t bytes) {
    void *p = aligned_alloc(1 << 21, (bytes + (1 << 21) - 1) >> 21 << 21);
    if (!p) abort();
    return p;
}

HOT void consider(Tree &t, u32 node, double u, bool won, u32 steps) {
    if (u < t.top || (u == t.top && (won < t.top_won || (won == t.top_won && steps >= t.top_steps)))) return;
    t.top = u, t.top_node = node, t.top_won = won, t.top_steps = steps;
}

// the child of the highest score; of equal ones, which persona_evo counts from the newest, one at random
HOT int best_of(const double *score, int count, Rng &r) {
    double top = -INFINITY;
    int chosen = 0, ties = 1;
    for (int k = count - 1; k >= 0; k--) {
        if (score[k] > top) top = score[k], chosen = k, ties = 1;
        else if (score[k] == top) ties++;
    }
    if (ties > 1) {
        int wanted = below(r, ties);
        for (chosen = count - 1; chosen >= 0; chosen--)
            if (score[chosen] == top && wanted-- == 0) break;
    }
    return chosen;
}
HOT int choose(const Slot *c, int count, double log_visits, double C, Rng &r) {
    double s[32];
    for (int k = 0; k < count; k++) {
        const double n = c[k].visits;
        s[k] = c[k].total / n + C * sqrt(log_visits / n);
    }
    return best_of(s, count, r);
}

template <bool WIDE>
static int64_t mcts_of(const Level &v, Tree &t, int64_t iterations, int horizon, int length, double C, int64_t *rng) {
    Rng r = {(u32)rng[0], (u32)rng[1]};
    static thread_local u32 path[1 << 16];
    t.used = 1, t.made = 1, t.top = -INFINITY, t.top_won = t.top_steps = t.top_node = 0;
    t.slots[0] = {0.0, 0, 0};
    t.nodes[0] = {v.start, 0, 0, 0};
    {
        Play p = unpack(v, v.start);
        consider(t, 0, utility(v, p), false, 0);
    }
    int64_t made = 0;
    while (made < iterations) {
        made++;
        u32 node = 0, fresh = 0;
        int depth = 0;
        path[0] = 0;
        Play p;
        while (true) {
            Slot &slot = t.slots[node];
            if (slot.link == ENDED || depth >= horizon) break;
            if (slot.link == 0) {
                const Play q = unpack(v, t.nodes[node].state);
                u32 throws;
                const u32 count = legal_count<WIDE>(v, q, throws);
                if (!count || t.used + count > t.room) break;
                slot.link = t.used | count << 27;
                t.used += count;
            }
            const u32 count = slot.link >> 27, first = slot.link & BLOCK, tried = slot.visits - (node != 0);
            if (tried < count) {
                p = unpack(v, t.nodes[node].state);
                const int action = nth(v, p, targets<WIDE>(v, p), tried);
                step<WIDE>(v, p, action);
                const u32 child = first + tried;
                pack(v, t.nodes[child].state, p);
                t.nodes[child].parent = node, t.nodes[child].action = action, t.nodes[child].depth = ++depth;
                t.slots[child] = {0.0, 0, over(p) ? (u32)ENDED : 0};
                t.made++;
                path[depth] = node = child, fresh = 1;
                break;
            }
            node = first + choose(t.slots + first, count, log((double)slot.visits), C, r);
            __builtin_prefetch(t.nodes + node);
            path[++depth] = node;
        }
        if (fresh) consider(t, node, utility(v, p), (p.opened & (WON_BIT | DEAD_BIT)) == WON_BIT, depth);
        else p = unpack(v, t.nodes[node].state);
        random_turns<WIDE>(v, p, std::min(length, horizon - depth), r);
        const double u = utility(v, p);
        for (int k = depth; k >= 0; k--) t.slots[path[k]].total += u, t.slots[path[k]].visits++;
    }
    rng[0] = r.a, rng[1] = r.b;
    return made;
}

// The same with a formula as tree policy, compiled in; R = 0.75 mean + 0.25 max. Scores are kept and renewed along the
// path, but for the part that changes with every visit of the parent. The order of operations is that of the formulas
// in `engine.py`.
//
//   METRICS  R + 0.5 * MS + 0.3 * PE - WON - DEAD - 0.02 * ST
//   N        R + MS + 0.3 * PE - WON - DEAD - 0.01 * N
//   N_P      R + MS + PE - WON - DEAD + 2 * sqrt(2 * log(P) / N)
enum { UCB1, METRICS, N, N_P };

struct FormulaSlot {
    double total, best, ms, pe, won, dead, st;
    u32 visits, link;
};

template <int KIND> HOT FormulaSlot fresh_slot(const Level &v, const Play &p) {
    const bool dead = p.opened & DEAD_BIT;
    return {0.0, -INFINITY, (KIND == METRICS ? 0.5 : 1.0) * (v.mortals ? (double)slain(v, p) / v.mortals : 0.0),
            (KIND == N_P ? 1.0 : 0.3) * v.pe[p.hero], !dead && p.opened & WON_BIT ? 1.0 : 0.0, dead ? 1.0 : 0.0,
            0.02 * p.steps, 0, over(p) ? (u32)ENDED : 0};
}
template <int KIND> HOT double score_of(const FormulaSlot &s) {
    const double part = 0.75 * (s.total / s.visits) + 0.25 * s.best + s.ms + s.pe - s.won - s.dead;
    return KIND == METRICS ? part - s.st : KIND == N ? part - 0.01 * s.visits : part;
}

template <bool WIDE, int KIND>
static int64_t formula_mcts_of(const Level &v, Tree &t, FormulaSlot *slots, double *score, int64_t iterations,
                               int horizon, int length, int64_t *rng) {
    Rng r = {(u32)rng[0], (u32)rng[1]};
    static thread_local u32 path[1 << 16];
    double now[32];
    t.used = 1, t.made = 1, t.top = -INFINITY, t.top_won = t.top_steps = t.top_node = 0;
    t.nodes[0] = {v.start, 0, 0, 0};
    {
        Play p = unpack(v, v.start);
        slots[0] = fresh_slot<KIND>(v, p), score[0] = 0.0;
        consider(t, 0, utility(v, p), false, 0);
    }
    int64_t made = 0;
    while (made < iterations) {
        made++;
        u32 node = 0, fresh = 0;
        int depth = 0;
        path[0] = 0;
        Play p;
        while (true) {
            FormulaSlot &slot = slots[node];
            if (slot.link == ENDED || depth >= horizon) break;
            if (slot.link == 0) {
                const Play q = unpack(v, t.nodes[node].state);
                u32 throws;
                const u32 count = legal_count<WIDE>(v, q, throws);
                if (!count || t.used + count > t.room) break;
                slot.link = t.used | count << 27;
                t.used += count;
            }
            const u32 count = slot.link >> 27, first = slot.link & BLOCK, tried = slot.visits - (node != 0);
            if (tried < count) {
                p = unpack(v, t.nodes[node].state);
                const int action = nth(v, p, targets<WIDE>(v, p), tried);
                step<WIDE>(v, p, action);
                const u32 child = first + tried;
                pack(v, t.nodes[child].state, p);
                t.nodes[child].parent = node, t.nodes[child].action = action, t.nodes[child].depth = ++depth;
                slots[child] = fresh_slot<KIND>(v, p);
                t.made++;
                path[depth] = node = child, fresh = 1;
                break;
            }
            if (KIND == N_P) {
                const double twice = 2.0 * log((double)slot.visits);
                for (u32 k = 0; k < count; k++)
                    now[k] = score[first + k] + 2.0 * sqrt(twice / (double)slots[first + k].visits);
            }
            node = first + best_of(KIND == N_P ? now : score + first, count, r);
            path[++depth] = node;
        }
        if (fresh) consider(t, node, utility(v, p), (p.opened & (WON_BIT | DEAD_BIT)) == WON_BIT, depth);
        else p = unpack(v, t.nodes[node].state);
        random_turns<WIDE>(v, p, std::min(length, horizon - depth), r);
        const double u = utility(v, p);
        for (int k = depth; k >= 0; k--) {
            FormulaSlot &s = slots[path[k]];
            s.total += u, s.visits++, s.best = s.best > u ? s.best : u;
            score[path[k]] = score_of<KIND>(s);
        }
    }
    rng[0] = r.a, rng[1] = r.b;
    return made;
}

template <bool WIDE>
static int64_t search_of(const Level &v, Tree &t, int kind, int64_t iterations, int horizon, int length, double C,
                         int64_t *rng) {
    FormulaSlot *slots = (FormulaSlot *)t.slots;
    double *score = (double *)(slots + t.room);
    switch (kind) {
    case METRICS: return formula_mcts_of<WIDE, METRICS>(v, t, slots, score, iterations, horizon, length, rng);
    case N: return formula_mcts_of<WIDE, N>(v, t, slots, score, iterations, horizon, length, rng);
    case N_P: return formula_mcts_of<WIDE, N_P>(v, t, slots, score, iterations, horizon, length, rng);
    }
    return mcts_of<WIDE>(v, t, iterations, horizon, length, C, rng);
}

// ---------------------------------------------------------------- for ctypes

extern "C" {
// a level from its text, null where it is beyond the limits of State
void *md2_load(const char *text) {
    Level *v = new Level();
    if (load(*v, text)) return v;
    delete v;
    return nullptr;
}
void md2_unload(void *level) { delete (Level *)level; }

// random playouts of so many turns in all, at most `longest` each; the sum of the squares of their lengths
int64_t md2_playouts(void *level, int64_t turns, int64_t longest, int64_t *rng) {
    Level *v = (Level *)level;
    return v->n > 127 ? playouts_of<true>(*v, turns, longest, rng) : playouts_of<false>(*v, turns, longest, rng);
}

// the metrics after each turn of such playouts, double[turns, 12]: ST, PE, PD, TO, MS, HL, MTK, JT, TU, TS, DEAD, WON
void md2_trace(void *level, int64_t turns, int64_t longest, int64_t *rng, double *out) {
    const Level &v = *(Level *)level;
    Rng r = {(u32)rng[0], (u32)rng[1]};
    while (turns > 0) {
        Play p = unpack(v, v.start);
        for (int k = 0; k < longest && turns > 0 && !over(p); k++, turns--, out += 12) {
            if (v.n > 127) random_turns<true>(v, p, 1, r);
            else random_turns<false>(v, p, 1, r);
            State packed;
            pack(v, packed, p);
            p = unpack(v, packed);
            const bool dead = p.opened & DEAD_BIT;
            const double row[] = {
                (double)p.steps, v.pe[p.hero], v.potions ? (double)p.drunk / v.potions : 0.0,
                v.treasures ? (double)(p.opened & NUMBER) / v.treasures : 0.0,
                v.mortals ? (double)slain(v, p) / v.mortals : 0.0, std::max(p.hp, 0) / 10.0, (double)p.mtk,
                (double)p.jt, (double)p.tu, (double)p.ts, (double)dead, (double)(!dead && p.opened & WON_BIT),
            };
            memcpy(out, row, sizeof row);
        }
    }
    rng[0] = r.a, rng[1] = r.b;
}

// memory for searches; room: children at most, those that are not tried yet included
void *md2_tree(int64_t room) {
    Tree *t = new Tree();
    t->slots = (Slot *)big(room * (sizeof(FormulaSlot) + sizeof(double)));
    t->nodes = (Node *)big(room * sizeof(Node)), t->room = room;
    return t;
}
void md2_free(void *tree) {
    Tree *t = (Tree *)tree;
    free(t->slots), free(t->nodes), delete t;
}

// a search; out: nodes, children made room for, moves to the best node, whether it is won, bytes of a child under UCB1
int64_t md2_search(void *level, void *tree, int kind, int64_t iterations, int64_t horizon, int64_t length, double C,
                   int64_t *rng, int64_t *out, double *best) {
    Level *v = (Level *)level;
    Tree *t = (Tree *)tree;
    const int64_t made = v->n > 127 ? search_of<true>(*v, *t, kind, iterations, horizon, length, C, rng)
                                    : search_of<false>(*v, *t, kind, iterations, horizon, length, C, rng);
    out[0] = t->made, out[1] = t->used, out[2] = t->top_steps, out[3] = t->top_won;
    out[4] = sizeof(Slot) + sizeof(Node);
    *best = t->top;
    return made;
}
}
