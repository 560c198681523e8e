using System;

namespace PersonaEvo.Playtest
{
    /// <summary>Looks one decision ahead and finds the choice after which a formula is highest.</summary>
    internal static class Lookahead
    {
        /// <summary>Returns the best choice, the first of equals. The model is back in its state afterwards.</summary>
        /// <param name="decisions">Made so far; D of a child is one more. The other search variables are 0.</param>
        /// <param name="asSent">Rounds metrics to what is sent to a driver.</param>
        internal static int Best(IForwardModel model, Scorer scorer, int decisions, bool asSent)
        {
            object state = model.Save();
            int count = model.Count, best = 0;
            double top = double.NegativeInfinity;
            for (int choice = 0; choice < count; choice++)
            {
                model.Apply(choice);
                scorer.Measure(model);
                if (asSent)
                    scorer.RoundMetrics();
                double score = scorer.Score(0.0, 0.0, 0.0, decisions + 1, 0.0, 0.0);
                if (score > top)
                {
                    top = score;
                    best = choice;
                }
                model.Restore(state);
            }
            return best;
        }
    }

    /// <summary>Plays inside the game, with no driver, by a formula and one step of lookahead.</summary>
    public sealed class LookaheadPlayer : IPlayer
    {
        private readonly IForwardModel model;
        private readonly Scorer scorer;
        private int decisions;

        /// <exception cref="ArgumentException">The policy has no formula.</exception>
        public LookaheadPlayer(IForwardModel model, Policy policy, int metrics)
        {
            if (policy.Formula == null)
                throw new ArgumentException("UCB1 needs a search; one step of lookahead needs a formula over the metrics");
            this.model = model;
            scorer = new Scorer(policy.Formula, metrics);
        }

        /// <inheritdoc/>
        public void Begin()
        {
            decisions = 0;
        }

        /// <inheritdoc/>
        public int Choose(int count, double[] weights) => Lookahead.Best(model, scorer, decisions++, false);
    }
}
