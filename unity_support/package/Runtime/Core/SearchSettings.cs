using System;

namespace PersonaEvo.Playtest
{
    /// <summary>Which choice a search ends in.</summary>
    public enum FinalChoice
    {
        /// <summary>As the policy's file says: that of a player or agent who plays move by move, else Plan.</summary>
        AsEvolved,
        /// <summary>The first one of the best plan that was seen; right where the model has no luck in it.</summary>
        Plan,
        /// <summary>The child visited most, of equals the one with the higher mean.</summary>
        Visits,
        /// <summary>The child of the highest mean, of equals the one visited more.</summary>
        Mean,
        /// <summary>The child below which the highest utility was seen, of equals the one visited more.</summary>
        Highest
    }

    /// <summary>How much a search may do, and how it ends.</summary>
    public sealed class SearchSettings
    {
        internal const int UsualIterations = 1000, UsualHorizon = 1000;

        /// <summary>Rollouts of a search; 0 for as many as the policy's file says, or 1000 where it does not.</summary>
        public int Iterations;
        /// <summary>
        /// Milliseconds of a search at most, 0 for no other limit than that of the policy's file; with a limit, a result
        /// depends on the machine.
        /// </summary>
        public int Milliseconds;
        /// <summary>
        /// The largest number of choices from the root, including those of rollouts; 0 for the number of decisions in the
        /// policy's file, or 1000 if it has none.
        /// </summary>
        public int Horizon;
        /// <summary>
        /// The largest number of nodes, each of which holds one saved state; 0 for as many as the driver's search has,
        /// which is one for each rollout, and twice as many where the tree is kept from move to move.
        /// </summary>
        public int Nodes;
        /// <summary>All random choices of the search follow from it.</summary>
        public ulong Seed;
        /// <summary>Which choice the search ends in.</summary>
        public FinalChoice Choice = FinalChoice.AsEvolved;

        /// <summary>Returns these settings with another seed.</summary>
        internal SearchSettings WithSeed(ulong seed)
        {
            var copy = (SearchSettings)MemberwiseClone();
            copy.Seed = seed;
            return copy;
        }

        /// <summary>Returns the rollouts of a search at a decision with so many choices.</summary>
        internal int IterationsFor(EvolvedSearch rules, int count)
        {
            if (Iterations > 0)
                return Iterations;
            if (rules.Iterations > 0)
                return (int)Math.Min(int.MaxValue, (long)rules.Iterations * (rules.IsPerChoice ? count : 1));
            return rules.Milliseconds > 0 ? int.MaxValue : UsualIterations;
        }

        /// <summary>Returns the milliseconds of a search, 0 for no limit.</summary>
        internal long MillisecondsFor(EvolvedSearch rules) =>
            Milliseconds > 0 || Iterations > 0 ? Milliseconds : rules.Milliseconds;
    }
}
