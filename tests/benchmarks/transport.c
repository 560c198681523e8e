/* A connected game that costs next to nothing: what is measured with it is the driver and the transport.
 * DECISIONS decisions of two to five choices, METRICS metrics. A second implementation of unity_support/PROTOCOL.md. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_D 4096
#define MOST_M 64
static int decisions = 40, metrics = 8, sock;
static unsigned char in[1 << 16], out[32 + MOST_D * (4 + 4 * MOST_M) + 4 * MOST_M];

static uint64_t next(uint64_t *s) {
    uint64_t z = (*s += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}
static uint32_t below(uint64_t *s, uint64_t n) { return (uint32_t)(((next(s) >> 32) * n) >> 32); }

static void get(unsigned char *to, size_t n) {
    while (n) {
        ssize_t k = read(sock, to, n);
        if (k <= 0) exit(0);
        to += k;
        n -= (size_t)k;
    }
}
static void put(const unsigned char *from, size_t n) {
    while (n) {
        ssize_t k = write(sock, from, n);
        if (k <= 0) exit(0);
        from += k;
        n -= (size_t)k;
    }
}

static void play(const unsigned char *order, uint32_t size) {
    uint64_t id, game, choices;
    memcpy(&id, order, 8);
    memcpy(&game, order + 8, 8);
    memcpy(&choices, order + 16, 8);
    int flags = order[24], columns = flags ? metrics : 0, rows = flags == 2 ? decisions : 0;
    uint32_t planned = (size - 30) / 4, n = (uint32_t)decisions, zero = 0;
    const unsigned char *prefix = order + 30;
    unsigned char *at = out + 5 + 21, *row = at + 4 * n + 6;
    double score = 0;
    float now[MOST_M] = {0};
    unsigned char status = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint16_t pair[2];
        for (int m = 0; m < columns; m++) now[m] = (float)(score + m * (int)i);
        if (rows) memcpy(row + 4 * (size_t)columns * i, now, 4 * (size_t)columns);
        pair[1] = (uint16_t)(2 + below(&game, 4));
        if (i < planned) {
            uint16_t known;
            memcpy(pair, prefix + 4 * i, 2);
            memcpy(&known, prefix + 4 * i + 2, 2);
            if (known != pair[1] || pair[0] >= pair[1]) {
                status = 2;
                n = i + 1;
            }
        } else {
            pair[0] = (uint16_t)below(&choices, pair[1]);
        }
        if (status == 0) score += pair[0];
        memcpy(at + 4 * i, pair, 4);
    }
    if (rows) memmove(at + 4 * n + 6, row, 4 * (size_t)columns * n);
    if (rows) rows = (int)n;
    memcpy(out + 5, &id, 8);
    out[13] = status;
    memcpy(out + 14, &score, 8);
    memcpy(out + 22, &n, 4);
    at += 4 * n;
    uint32_t r = (uint32_t)rows;
    uint16_t c = (uint16_t)columns;
    memcpy(at, &r, 4);
    memcpy(at + 4, &c, 2);
    at += 6 + 4 * (size_t)rows * (size_t)columns;
    memcpy(at, now, 4 * (size_t)columns);
    at += 4 * columns;
    memcpy(at, &game, 8);
    memcpy(at + 8, &zero, 4);
    at += 12;
    uint32_t whole = (uint32_t)(at - out - 5);
    memcpy(out, &whole, 4);
    out[4] = 4;
    put(out, whole + 5);
}

int main(int argc, char **argv) {
    if (argc > 1) decisions = atoi(argv[1]);
    if (argc > 2) metrics = atoi(argv[2]);
    if (decisions < 1 || decisions > MOST_D || metrics < 0 || metrics > MOST_M) return 2;
    struct sockaddr_in where = {.sin_family = AF_INET};
    where.sin_port = htons((uint16_t)atoi(getenv("PE_PORT")));
    inet_pton(AF_INET, getenv("PE_ADDR"), &where.sin_addr);
    sock = socket(AF_INET, SOCK_STREAM, 0);
    int one = 1;
    setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(sock, (struct sockaddr *)&where, sizeof where)) return 3;
    char *hello = (char *)in + 5;
    int n = sprintf(hello, "{\"magic\":\"persona-evo\",\"protocol\":[1,0],\"library\":\"C 1\",\"game\":{\"name\":\"fast\","
                    "\"version\":\"1\"},\"nonce\":\"%s\",\"capabilities\":[\"seed\"],\"max_decisions\":%d,\"metrics\":[",
                    getenv("PE_NONCE"), decisions);
    for (int m = 0; m < metrics; m++) n += sprintf(hello + n, "%s{\"symbol\":\"M%d\"}", m ? "," : "", m);
    n += sprintf(hello + n, "]}");
    memcpy(in, &n, 4);
    in[4] = 1;
    put(in, (size_t)n + 5);
    for (;;) {
        uint32_t size;
        unsigned char head[5];
        get(head, 5);
        memcpy(&size, head, 4);
        if (size > sizeof in) return 4;
        get(in, size);
        if (head[4] == 3) play(in, size);
        else if (head[4] == 10) return 0;
        else if (head[4] == 9) return 5;
    }
}
