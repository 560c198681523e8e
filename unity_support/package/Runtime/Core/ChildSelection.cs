using System;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// Chooses the child that a search descends to, as the driver does: by UCB1 or by a formula. Each rollout under way
    /// counts as a visit with the lowest utility seen, so that the next one goes elsewhere.
    /// </summary>
    internal sealed class ChildSelection
    {
        /// <summary>How far UCB1's own constant may be from the range of utilities, as the driver has it.</summary>
        private const double Unfit = 30.0;
        /// <summary>Utilities after which a narrow range of them is no accident, as the driver has it.</summary>
        private const int EnoughSeen = 100;

        private readonly Policy policy;
        private readonly EvolvedSearch rules;
        private readonly SearchRandom random;
        private readonly Scorer scorer;
        private readonly bool isFitted;
        private int seen;
        private double lowest, highest, scale, average, squares;

        internal ChildSelection(Policy policy, int metrics, SearchRandom random)
        {
            this.policy = policy;
            this.random = random;
            rules = policy.Evolved;
            scorer = policy.Formula == null ? null : new Scorer(policy.Formula, metrics);
            isFitted = rules.IsNormalised && policy.Formula == null && policy.Constant == Math.Sqrt(2.0);
            Forget();
        }

        /// <summary>Whether the tree policy is a formula, which may read metrics.</summary>
        internal bool IsFormula => scorer != null;

        /// <summary>Forgets the range of utilities.</summary>
        internal void Forget()
        {
            seen = 0;
            lowest = highest = average = squares = 0.0;
            scale = 1.0;
        }

        /// <summary>Enters a utility into the range of those seen, and fits UCB1's own constant to that.</summary>
        internal void See(double utility)
        {
            lowest = seen == 0 ? utility : Math.Min(lowest, utility);
            highest = seen == 0 ? utility : Math.Max(highest, utility);
            seen++;
            double away = utility - average;
            average += away / seen;
            squares += away * (utility - average);
            double spread = highest - lowest;
            bool narrow = seen >= EnoughSeen && spread > 0.0 && spread < 1.0 / Unfit;
            scale = isFitted && (narrow || (spread > 1.0 && !double.IsInfinity(spread))) ? spread : 1.0;
        }

        /// <summary>Whether a decision has so many choices that they do not all become children at once.</summary>
        internal bool IsWide(int count) => rules.Widening > 0 && count >= rules.Widening;

        /// <summary>
        /// Returns the open child with the highest score, or null if all are closed. If nothing is known of any child yet,
        /// it is one with the fewest rollouts under way.
        /// </summary>
        /// <param name="closes">Whether closed children are left out.</param>
        internal SearchNode Best(SearchNode parent, bool closes)
        {
            double top = double.NegativeInfinity;
            SearchNode waiting = null, best = null;
            int equals = 1;
            for (int i = parent.Children.Count - 1; i >= 0; i--)
            {
                SearchNode child = parent.Children[i];
                if (closes && child.IsClosed)
                    continue;
                if (waiting == null || child.Pending <= waiting.Pending)
                    waiting = child;
                if (child.Visits == 0)
                    continue;
                double score = Score(child, parent);
                if (score > top)
                {
                    top = score;
                    best = child;
                    equals = 1;
                }
                else if (score == top && best != null && random.Below(++equals) == 0)
                    best = child;
            }
            return best ?? waiting;
        }

        private double Score(SearchNode child, SearchNode parent)
        {
            int visits = child.Visits + child.Pending, parentVisits = parent.Visits + parent.Pending;
            double total = child.Total + child.Pending * lowest;
            if (scorer == null)
            {
                double share = Math.Log(Math.Max(1, parentVisits)) / visits;
                double mean = total / scale / visits;
                double bonus = rules.IsConstantInside ? Math.Sqrt(policy.Constant * share) : policy.Constant * Math.Sqrt(share);
                if (!IsWide(parent.Count))
                    return mean + bonus;
                double deviation = isFitted ? Math.Sqrt(squares / seen) : 1.0;
                return mean + child.Prior * deviation / scale * (mean + bonus - mean);
            }
            double spread = Math.Sqrt(Math.Max(0.0, child.Squares / child.Visits - child.Mean * child.Mean));
            double estimate = rules.MeanOnly ? total / visits : 0.75 * (total / visits) + 0.25 * child.Best;
            Array.Copy(child.Metrics, scorer.Values, child.Metrics.Length);
            return scorer.Score(estimate, visits, parentVisits, child.Depth, child.Best, spread);
        }
    }
}
