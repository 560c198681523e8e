using System;
using System.Collections.Generic;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// Plays inside the game, with no driver, by the search that its policy was evolved under: a single search whose plan
    /// is followed through the whole game, or a new search for each move. Policies whose files do not say get a search for
    /// each move, and the best plan so far is followed until a better one is found.
    /// </summary>
    public sealed class TreeSearchPlayer : IPlayer
    {
        private readonly IForwardModel model;
        private readonly TreeSearch search;
        private readonly EvolvedSearch rules;
        private readonly SplitMix64 mistakes;
        private readonly bool follows;
        private readonly List<int> plan = new List<int>();
        private double planUtility;

        /// <param name="metrics">How many metrics the model measures.</param>
        public TreeSearchPlayer(IForwardModel model, Policy policy, int metrics, SearchSettings settings = null)
        {
            settings = settings ?? new SearchSettings();
            this.model = model;
            rules = policy.Evolved;
            search = new TreeSearch(model, policy, metrics, settings);
            mistakes = new SplitMix64(~settings.Seed);
            follows = settings.Choice == FinalChoice.Plan || (settings.Choice == FinalChoice.AsEvolved && !rules.IsPerMove);
        }

        /// <summary>Searches so far.</summary>
        public int Searches { get; private set; }

        public void Begin()
        {
            plan.Clear();
        }

        /// <summary>The search's choice, or the next one of the plan.</summary>
        public int Choose(int count, double[] weights)
        {
            if (model.Count != count)
                throw new InvalidOperationException("the model offers " + model.Count + " choices where the game offers " + count);
            if (!follows)
                return Moved(count);
            if (plan.Count == 0 || plan[0] >= count || !rules.IsConnected)
                Replan();
            int choice = plan[0];
            plan.RemoveAt(0);
            return choice;
        }

        private void Replan()
        {
            Searches++;
            int choice = search.Choose();
            List<int> found = search.Plan();
            if (found.Count == 0)
                found.Add(choice);
            if (plan.Count > 0 && !rules.IsConnected && search.PlanUtility <= planUtility)
                return;
            plan.Clear();
            plan.AddRange(found);
            planUtility = search.PlanUtility;
        }

        /// <summary>The choice of a search of its own, or a mistake.</summary>
        private int Moved(int count)
        {
            Searches++;
            int choice = search.Choose();
            if (rules.Errors == 0.0 || mistakes.Unit() >= rules.Errors)
                return choice;
            return mistakes.Weighted(Chances(search.RootMeans(), rules.Temperature));
        }

        /// <summary>How likely a mistake makes each choice: in proportion to exp(value / temperature), values from 0 to 1.</summary>
        private static double[] Chances(double[] means, double temperature)
        {
            double low = double.PositiveInfinity, high = double.NegativeInfinity;
            foreach (double mean in means)
            {
                low = mean < low ? mean : low;
                high = mean > high ? mean : high;
            }
            double span = high > low ? high - low : 1.0;
            return Array.ConvertAll(means, m => double.IsNaN(m) ? 0.0 : Math.Exp((m - high) / span / temperature));
        }
    }
}
