using System;

namespace PersonaEvo.Playtest
{
    /// <summary>The content of a ROLLOUT.</summary>
    internal sealed class Rollout
    {
        internal ulong Id, GameSeed, RolloutSeed;
        internal MetricsWanted Metrics;
        /// <summary>Whether the driver asks for pictures of the game.</summary>
        internal bool Pictures;
        internal ChoiceRule Rule;
        internal uint Policy;
        internal int Length;
        /// <summary>Numbers of a state to begin from, with the choices before it, and of one to keep; 0 for none.</summary>
        internal ulong Restore, Snapshot;
        internal int RestoreDepth;
        private ushort[] prefix = new ushort[64];

        internal int PrefixChoice(int depth) => prefix[2 * depth];
        internal int PrefixCount(int depth) => prefix[2 * depth + 1];

        /// <summary>Reads ROLLOUT, or RESTORE, which is ROLLOUT behind three numbers.</summary>
        internal void Read(ref FrameReader payload, bool restores)
        {
            Restore = restores ? payload.U64() : 0;
            RestoreDepth = restores ? (int)payload.U32() : 0;
            Snapshot = restores ? payload.U64() : 0;
            Id = payload.U64();
            GameSeed = payload.U64();
            RolloutSeed = payload.U64();
            byte flags = payload.U8(), mode = payload.U8();
            Policy = payload.U32();
            Pictures = (flags & 4) != 0;
            flags = (byte)(flags & ~4);
            if (flags > 2 || mode > 3 || payload.Left % 4 != 0)
                throw new PlaytestException("ROLLOUT " + Id + " has flags " + flags + ", mode " + mode + " and a prefix of "
                    + payload.Left + " bytes; expected are flags up to 2 (or 4 more), a mode up to 3 and pairs of 4 bytes");
            Metrics = (MetricsWanted)flags;
            Rule = (ChoiceRule)mode;
            Length = payload.Left / 4;
            if (prefix.Length < 2 * Length)
                prefix = new ushort[4 * Length];
            for (int i = 0; i < 2 * Length; i++)
                prefix[i] = (ushort)payload.U16();
        }
    }

    /// <summary>The choices of a playthrough, and the metrics before each of them.</summary>
    internal sealed class Trace
    {
        private ushort[] pairs = new ushort[256];
        private float[] rows = new float[1024];
        private int cells;

        internal int Count { get; private set; }
        internal int Rows { get; private set; }

        internal int Choice(int depth) => pairs[2 * depth];
        internal int Options(int depth) => pairs[2 * depth + 1];

        internal void Clear()
        {
            Count = Rows = cells = 0;
        }

        internal void Add(int choice, int count)
        {
            if (2 * Count + 2 > pairs.Length)
                Array.Resize(ref pairs, pairs.Length * 2);
            pairs[2 * Count] = (ushort)choice;
            pairs[2 * Count + 1] = (ushort)count;
            Count++;
        }

        /// <summary>Makes this a copy of another trace.</summary>
        internal void CopyFrom(Trace other, bool withRows)
        {
            if (pairs.Length < 2 * other.Count)
                pairs = new ushort[2 * other.Count];
            Array.Copy(other.pairs, pairs, 2 * other.Count);
            Count = other.Count;
            Rows = withRows ? other.Rows : 0;
            cells = withRows ? other.cells : 0;
            if (rows.Length < cells)
                rows = new float[cells];
            Array.Copy(other.rows, rows, cells);
        }

        internal void AddRow(float[] values)
        {
            if (cells + values.Length > rows.Length)
                Array.Resize(ref rows, Math.Max(rows.Length * 2, cells + values.Length));
            Array.Copy(values, 0, rows, cells, values.Length);
            cells += values.Length;
            Rows++;
        }

        internal void WritePairs(FrameWriter target)
        {
            for (int i = 0; i < 2 * Count; i++)
                target.U16(pairs[i]);
        }

        internal void WriteRows(FrameWriter target)
        {
            for (int i = 0; i < cells; i++)
                target.F32(rows[i]);
        }

        /// <summary>FNV-1a over the pairs and the final metrics as they are sent (final may be empty).</summary>
        internal ulong Hash(float[] final)
        {
            ulong hash = Fnv.Start;
            for (int i = 0; i < 2 * Count; i++)
                hash = Fnv.Add(hash, pairs[i], 2);
            for (int i = 0; i < final.Length; i++)
                hash = Fnv.Add(hash, FrameWriter.Bits(final[i]), 4);
            return hash;
        }
    }

    /// <summary>FNV-1a with 64 bits, for hashes of states. GetHashCode may differ from run to run.</summary>
    public static class Fnv
    {
        /// <summary>The hash of nothing.</summary>
        public const ulong Start = 14695981039346656037UL;
        private const ulong Prime = 1099511628211UL;

        /// <summary>Returns a hash that also covers the lowest bytes of a value, the lowest byte first.</summary>
        public static ulong Add(ulong hash, ulong value, int bytes = 8)
        {
            unchecked
            {
                for (int i = 0; i < bytes; i++)
                    hash = (hash ^ ((value >> (8 * i)) & 0xFF)) * Prime;
                return hash;
            }
        }
    }
}
