using System;
using System.Collections.Generic;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// The part of the session that keeps states, from which later playthroughs begin (RESTORE of PROTOCOL.md).
    /// </summary>
    public sealed partial class PlaytestSession
    {
        private readonly Snapshots snapshots = new Snapshots();

        /// <summary>How many states are kept at most; the one used longest ago is forgotten first.</summary>
        public int MostSnapshots
        {
            get { return snapshots.Most; }
            set { snapshots.Most = value; }
        }

        /// <summary>
        /// Puts Model back into a state of an earlier playthrough, and the metrics, the score and GameRandom with it, if the
        /// driver asks for that and the state is still known. To be called after BeginPlaythrough, in place of the set-up:
        /// where it returns true, the game goes on with its next decision; where it returns false, the game sets itself up
        /// as usual. Needs Abilities.Snapshots and Model.
        /// </summary>
        /// <exception cref="InvalidOperationException">The playthrough is under way already, or there is no Model.</exception>
        public bool TryRestore()
        {
            if (!playing || trace.Count > 0)
                throw new InvalidOperationException("TryRestore is called between BeginPlaythrough and the first Select");
            Snapshot kept = rollout.Restore == 0 ? null : snapshots.Find(rollout.Restore);
            if (kept == null || !kept.Fits(rollout))
                return false;
            if (Model == null)
                throw new InvalidOperationException("TryRestore needs Model");
            Model.Restore(kept.State);
            GameRandom.State = kept.Random;
            Array.Copy(kept.Metrics, metrics.Values, kept.Metrics.Length);
            lastScore = kept.Score;
            stateHash = kept.Hash;
            hashed = kept.Hashed;
            trace.CopyFrom(kept.Trace, rollout.Metrics == MetricsWanted.EveryDecision);
            return true;
        }

        /// <summary>Keeps the state at the end of the prefix under the number that the driver gave it.</summary>
        private void Keep()
        {
            if (Model == null || (Abilities & Abilities.Snapshots) == 0)
                return;
            var kept = new Snapshot
            {
                Number = rollout.Snapshot, GameSeed = rollout.GameSeed, State = Model.Save(), Random = GameRandom.State,
                Metrics = (float[])metrics.Values.Clone(), Score = lastScore, Hash = stateHash, Hashed = hashed
            };
            kept.Trace.CopyFrom(trace, true);
            snapshots.Add(kept);
        }
    }

    /// <summary>A state and all else that the rest of a playthrough depends on.</summary>
    internal sealed class Snapshot
    {
        internal ulong Number, GameSeed, Random, Hash;
        internal object State;
        internal float[] Metrics;
        internal double Score;
        internal bool Hashed;
        internal readonly Trace Trace = new Trace();

        /// <summary>Whether the state is on the way of an order, and has the rows that it asks for.</summary>
        internal bool Fits(Rollout order)
        {
            if (order.GameSeed != GameSeed || order.RestoreDepth != Trace.Count || order.Length < Trace.Count)
                return false;
            if (order.Metrics == MetricsWanted.EveryDecision && Trace.Rows != Trace.Count)
                return false;
            for (int i = 0; i < Trace.Count; i++)
                if (order.PrefixChoice(i) != Trace.Choice(i) || order.PrefixCount(i) != Trace.Options(i))
                    return false;
            return true;
        }
    }

    /// <summary>States by their numbers; the one used longest ago makes room.</summary>
    internal sealed class Snapshots
    {
        private readonly Dictionary<ulong, LinkedListNode<Snapshot>> byNumber = new Dictionary<ulong, LinkedListNode<Snapshot>>();
        private readonly LinkedList<Snapshot> byUse = new LinkedList<Snapshot>();

        internal int Most = 1000;

        internal Snapshot Find(ulong number)
        {
            LinkedListNode<Snapshot> found;
            if (!byNumber.TryGetValue(number, out found))
                return null;
            byUse.Remove(found);
            byUse.AddLast(found);
            return found.Value;
        }

        internal void Add(Snapshot kept)
        {
            LinkedListNode<Snapshot> before;
            if (byNumber.TryGetValue(kept.Number, out before))
                byUse.Remove(before);
            byNumber[kept.Number] = byUse.AddLast(kept);
            while (byUse.Count > Math.Max(0, Most))
            {
                byNumber.Remove(byUse.First.Value.Number);
                byUse.RemoveFirst();
            }
        }

        internal void Clear()
        {
            byNumber.Clear();
            byUse.Clear();
        }
    }
}
