namespace PersonaEvo.Games.Roguelike2d
{
    /// <summary>The generator of PROTOCOL.md, for playing without the driver (see <see cref="Replay"/>).</summary>
    public sealed class SplitMix64
    {
        private ulong state;

        public SplitMix64(ulong seed)
        {
            state = seed;
        }

        public ulong Next()
        {
            unchecked
            {
                state += 0x9E3779B97F4A7C15UL;
                ulong z = state;
                z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9UL;
                z = (z ^ (z >> 27)) * 0x94D049BB133111EBUL;
                return z ^ (z >> 31);
            }
        }

        public int Below(int n)
        {
            return (int)(((Next() >> 32) * (ulong)n) >> 32);
        }

        public double Unit()
        {
            return (Next() >> 11) * (1.0 / 9007199254740992.0);
        }

        public int Weighted(double[] weights)
        {
            double sum = 0, total = 0;
            foreach (double weight in weights)
                sum += weight;
            double target = Unit() * sum;
            for (int k = 0; k < weights.Length; k++)
            {
                total += weights[k];
                if (total > target)
                    return k;
            }
            int last = weights.Length - 1;
            while (weights[last] <= 0)
                last--;
            return last;
        }
    }
}
