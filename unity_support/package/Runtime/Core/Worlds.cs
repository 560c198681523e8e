using System;
using System.Collections.Generic;

namespace PersonaEvo.Playtest
{
    /// <summary>Choices from the start of a game, how many there were at each, and the metrics before each.</summary>
    internal sealed class Line
    {
        internal readonly List<int> Choices = new List<int>();

        /// <summary>One more than there are choices where it is known how it goes on; 0 stands for the end of the game.</summary>
        internal readonly List<int> Counts = new List<int>();

        /// <summary>As many as Counts; null where nobody reads them.</summary>
        internal readonly List<double[]> Rows = new List<double[]>();

        /// <summary>What the end is worth.</summary>
        internal double Utility;

        /// <summary>Whether a choice that was to be made was not there; its place in Counts says what was there.</summary>
        internal bool IsCut;

        internal int Made => Choices.Count;

        internal void See(int count, double[] row)
        {
            Counts.Add(count);
            Rows.Add(row);
        }

        /// <summary>Whether this line begins with all choices of another one, and as many choices at each of them.</summary>
        internal bool BeginsWith(Line other)
        {
            if (Made < other.Made)
                return false;
            for (int i = 0; i < other.Made; i++)
                if (Choices[i] != other.Choices[i] || Counts[i] != other.Counts[i])
                    return false;
            return true;
        }
    }

    /// <summary>
    /// The seeds that stand for what a player cannot know: the worlds that a search averages over. A world is worth
    /// searching if it agrees with what the player has seen: the same choices lead to the same numbers of choices and to the
    /// same metrics. The first rollout of a world in a state is a probe, which shows whether it does. If not, another seed
    /// takes its place; after a number of failures those come in whose metrics were closest.
    /// </summary>
    internal sealed class Worlds
    {
        private enum Condition { New, Probed, Ready, GivenUp }

        private struct Probe
        {
            internal double Away;
            internal ulong Seed;
            internal OpenLoopSearch.WorldOrder Order;
            internal Line Result;
        }

        private readonly SplitMix64 random;
        private readonly Condition[] conditions;
        private readonly List<Probe> others = new List<Probe>();
        private Line seen;
        private double[] low, high;
        private int turn, failures, allowed;

        internal readonly ulong[] Seeds;

        internal Worlds(int number, SplitMix64 random)
        {
            this.random = random;
            conditions = new Condition[number];
            Seeds = new ulong[number];
            for (int i = 0; i < number; i++)
                Seeds[i] = Draw();
        }

        /// <summary>Probes all worlds again in a state, with which so many seeds may fail to agree.</summary>
        internal void Look(Line seen, int failures)
        {
            this.seen = seen;
            allowed = failures;
            this.failures = turn = 0;
            Array.Clear(conditions, 0, conditions.Length);
            others.Clear();
            Stretch(seen.Rows[seen.Made]);
        }

        /// <summary>Returns the world of the next rollout, in turn; -1 if the probes of all others are under way.</summary>
        internal int Next()
        {
            for (int k = 0; k < Seeds.Length; k++)
            {
                int world = (turn + k) % Seeds.Length;
                if (conditions[world] != Condition.New && conditions[world] != Condition.Ready)
                    continue;
                turn = world + 1;
                return world;
            }
            return -1;
        }

        /// <summary>Whether the next rollout of a world is its probe, which it then is.</summary>
        internal bool BeginProbe(int world)
        {
            bool isNew = conditions[world] == Condition.New;
            if (isNew)
                conditions[world] = Condition.Probed;
            return isNew;
        }

        /// <summary>Whether a world's probe shows that it agrees; if not, another seed takes its place, if one may.</summary>
        internal bool Accept(OpenLoopSearch.WorldOrder order, Line result)
        {
            double away = Distance(result);
            if (away == 0.0)
            {
                conditions[order.World] = Condition.Ready;
                return true;
            }
            if (!double.IsInfinity(away))
                others.Add(new Probe { Away = away, Seed = Seeds[order.World], Order = order, Result = result });
            failures++;
            conditions[order.World] = failures <= allowed ? Condition.New : Condition.GivenUp;
            if (failures <= allowed)
                Seeds[order.World] = Draw();
            return false;
        }

        /// <summary>Gives the worlds without a seed the best of those that were probed, and enters their probes.</summary>
        internal void TakeSecondBest(Action<OpenLoopSearch.WorldOrder, Line> enter)
        {
            for (int world = 0; world < Seeds.Length; world++)
            {
                if (conditions[world] != Condition.GivenUp || others.Count == 0)
                    continue;
                int best = 0;
                for (int i = 1; i < others.Count; i++)
                    if (others[i].Away < others[best].Away)
                        best = i;
                Probe probe = others[best];
                others.RemoveAt(best);
                Seeds[world] = probe.Seed;
                conditions[world] = Condition.Ready;
                probe.Order.World = world;
                enter(probe.Order, probe.Result);
            }
        }

        /// <summary>How far a rollout is from what was seen: 0 if it agrees, infinity if its seed cannot be used.</summary>
        private double Distance(Line result)
        {
            int at = seen.Made;
            if (result.Made <= at || !result.BeginsWith(seen) || result.Counts[at] == 0)
                return double.PositiveInfinity;
            Stretch(result.Rows[at]);
            double away = result.Counts[at] == seen.Counts[at] ? 0.0 : 1.0;
            for (int metric = 0; metric < low.Length; metric++)
            {
                double now = Gap(result, at, metric), steps = Math.Abs(now), span = high[metric] - low[metric];
                double before = Gap(result, 0, metric);
                for (int i = 1; i <= at; i++)
                {
                    double next = Gap(result, i, metric);
                    steps += Math.Abs(next - before);
                    before = next;
                }
                away += steps / (span > 0.0 ? span : 1.0);
            }
            return away;
        }

        private double Gap(Line result, int at, int metric) => result.Rows[at][metric] - seen.Rows[at][metric];

        /// <summary>Widens the ranges of metrics so that they hold a row. SCORE behind them is none of them.</summary>
        private void Stretch(double[] row)
        {
            if (low == null)
            {
                low = new double[row.Length - 1];
                Array.Copy(row, low, low.Length);
                high = (double[])low.Clone();
            }
            for (int i = 0; i < low.Length; i++)
            {
                low[i] = Math.Min(low[i], row[i]);
                high[i] = Math.Max(high[i], row[i]);
            }
        }

        private ulong Draw() => random.Next() >> 1;
    }
}
