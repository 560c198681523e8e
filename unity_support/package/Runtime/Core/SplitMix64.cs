using System;
using System.Collections.Generic;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// The random numbers that both sides use (PROTOCOL.md, "Random numbers"): the same seed gives the same numbers in C# and
    /// in Python, on every machine. A game that draws from GameRandom alone is the same game again for the same seed.
    /// </summary>
    public sealed class SplitMix64
    {
        private const double ToUnit = 1.0 / 9007199254740992.0;

        /// <summary>The numbers of a seed, from the first on.</summary>
        public SplitMix64(ulong seed)
        {
            State = seed;
        }

        /// <summary>Everything that the next number depends on. A saved game keeps it.</summary>
        public ulong State { get; set; }

        /// <summary>The next 64 random bits.</summary>
        public ulong Next()
        {
            unchecked
            {
                State += 0x9E3779B97F4A7C15UL;
                ulong z = State;
                z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9UL;
                z = (z ^ (z >> 27)) * 0x94D049BB133111EBUL;
                return z ^ (z >> 31);
            }
        }

        /// <summary>A whole number from 0 to n - 1.</summary>
        /// <exception cref="ArgumentOutOfRangeException">n is less than 1.</exception>
        public int Below(int n)
        {
            if (n < 1)
                throw new ArgumentOutOfRangeException("n", n, "a choice needs at least one possibility");
            return (int)(((Next() >> 32) * (ulong)n) >> 32);
        }

        /// <summary>A whole number from low to high, both included.</summary>
        public int Between(int low, int high) => low + Below(high - low + 1);

        /// <summary>A number in [0, 1).</summary>
        public double Unit() => (Next() >> 11) * ToUnit;

        /// <summary>An index, each as likely as its weight says.</summary>
        /// <exception cref="ArgumentException">A weight is negative or not finite, or none is positive.</exception>
        public int Weighted(double[] weights)
        {
            double sum = CheckedSum(weights);
            double target = Unit() * sum;
            double reached = 0.0;
            int last = 0;
            for (int i = 0; i < weights.Length; i++)
            {
                reached += weights[i];
                if (reached > target)
                    return i;
                if (weights[i] > 0.0)
                    last = i;
            }
            return last;
        }

        /// <summary>Puts a list into random order.</summary>
        public void Shuffle<T>(IList<T> list)
        {
            for (int i = list.Count - 1; i >= 1; i--)
            {
                int j = Below(i + 1);
                T kept = list[i];
                list[i] = list[j];
                list[j] = kept;
            }
        }

        /// <summary>The sum of weights, from left to right.</summary>
        /// <exception cref="ArgumentException">A weight is negative or not finite, or none is positive.</exception>
        internal static double CheckedSum(double[] weights)
        {
            double sum = 0.0;
            for (int i = 0; i < weights.Length; i++)
            {
                if (!(weights[i] >= 0.0) || double.IsInfinity(weights[i]))
                    throw new ArgumentException("weight " + i + " is " + weights[i] + ", not a finite number >= 0");
                sum += weights[i];
            }
            if (!(sum > 0.0) || double.IsInfinity(sum))
                throw new ArgumentException("the weights sum up to " + sum + ", not to a finite number above 0");
            return sum;
        }
    }
}
