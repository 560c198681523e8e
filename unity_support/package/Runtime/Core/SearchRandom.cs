using System.Globalization;
using System.Text;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// The random numbers of a search, which are those of the driver's search of the same seed: the seeds of its rollouts,
    /// what breaks ties, and the order in which choices are tried.
    /// </summary>
    internal sealed class SearchRandom
    {
        private const ulong SequenceMask = (1UL << 48) - 1;
        private readonly ulong salt;
        private uint first, second;

        internal SearchRandom(ulong seed)
        {
            Rollouts = new SplitMix64(Derived(seed, "str:rollouts"));
            salt = Derived(seed, "str:expansion") & uint.MaxValue;
            ulong word = Derived(seed, "str:stream");
            first = (uint)word;
            second = (uint)(word >> 31);
            if (first == 0 && second == 0)
                first = 1;
        }

        /// <summary>Seeds of rollouts.</summary>
        internal SplitMix64 Rollouts { get; private set; }

        /// <summary>A whole number from 0 to n - 1.</summary>
        internal int Below(int n) => (int)((ulong)Draw() * (ulong)n >> 32);

        /// <summary>The choice that a node tries after `tried` others, in an order of its own.</summary>
        /// <param name="node">The number of the node, in the order in which nodes were made.</param>
        internal int Untried(int node, int count, int tried)
        {
            var order = new int[count];
            for (int k = 0; k < count; k++)
                order[k] = k;
            ulong x = salt ^ (ulong)node * 0x9E3779B1UL;
            for (int k = 0; k <= tried; k++)
            {
                x = unchecked(x * 25214903917UL + 11UL) & SequenceMask;
                int other = k + (int)((x >> 16) % (ulong)(count - k)), kept = order[k];
                order[k] = order[other];
                order[other] = kept;
            }
            return order[tried];
        }

        /// <summary>The next 32 bits of xoroshiro64** 1.0 (Blackman and Vigna, public domain).</summary>
        private uint Draw()
        {
            unchecked
            {
                uint a = first, b = second, drawn = Rotated(a * 0x9E3779BBU, 5) * 5U;
                b ^= a;
                first = Rotated(a, 26) ^ b ^ b << 9;
                second = Rotated(b, 13);
                return drawn;
            }
        }

        private static uint Rotated(uint value, int bits) => value << bits | value >> (32 - bits);

        /// <summary>A seed for one use, as the driver derives it: 63 bits of the BLAKE2b of seed and use.</summary>
        /// <param name="use">Names and numbers, as in "str:move" and "int:3".</param>
        internal static ulong Derived(ulong seed, params string[] use)
        {
            string text = seed.ToString(CultureInfo.InvariantCulture) + "\u001f" + string.Join("\u001f", use);
            return Blake2b.Short(Encoding.UTF8.GetBytes(text)) >> 1;
        }
    }

    /// <summary>BLAKE2b (RFC 7693) of a short text, with a digest of 8 bytes.</summary>
    internal static class Blake2b
    {
        private const int Block = 128, Digest = 8;

        private static readonly ulong[] Start =
        {
            0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
            0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179
        };

        private static readonly byte[][] Orders =
        {
            new byte[] { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
            new byte[] { 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
            new byte[] { 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
            new byte[] { 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
            new byte[] { 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
            new byte[] { 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
            new byte[] { 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
            new byte[] { 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
            new byte[] { 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
            new byte[] { 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 }
        };

        /// <summary>Returns the digest of at most 128 bytes.</summary>
        internal static ulong Short(byte[] text)
        {
            var message = new ulong[Block / 8];
            for (int i = 0; i < text.Length; i++)
                message[i / 8] |= (ulong)text[i] << 8 * (i % 8);
            ulong first = Start[0] ^ 0x01010000UL ^ Digest;
            var v = new ulong[16];
            Start.CopyTo(v, 0);
            Start.CopyTo(v, 8);
            v[0] = first;
            v[12] ^= (ulong)text.Length;
            v[14] = ~v[14];
            for (int round = 0; round < 12; round++)
            {
                byte[] order = Orders[round % 10];
                for (int i = 0; i < 4; i++)
                    Mix(v, i, 4 + i, 8 + i, 12 + i, message[order[2 * i]], message[order[2 * i + 1]]);
                for (int i = 0; i < 4; i++)
                    Mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, message[order[8 + 2 * i]],
                        message[order[9 + 2 * i]]);
            }
            return first ^ v[0] ^ v[8];
        }

        private static void Mix(ulong[] v, int a, int b, int c, int d, ulong x, ulong y)
        {
            unchecked
            {
                v[a] += v[b] + x;
                v[d] = Rotated(v[d] ^ v[a], 32);
                v[c] += v[d];
                v[b] = Rotated(v[b] ^ v[c], 24);
                v[a] += v[b] + y;
                v[d] = Rotated(v[d] ^ v[a], 16);
                v[c] += v[d];
                v[b] = Rotated(v[b] ^ v[c], 63);
            }
        }

        private static ulong Rotated(ulong value, int bits) => value >> bits | value << (64 - bits);
    }
}
