using System;
using System.Collections.Generic;
using System.Linq;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// Plays inside the game, with no driver, by the search that its policy was evolved under: a single search whose plan
    /// is followed through the whole game, or a search for each move. Policies of games that were not connected get a search
    /// for each move, and the best plan so far is followed until a better one is found.
    /// </summary>
    /// <remarks>
    /// With a policy of a connected game, a playthrough is the one that the driver makes with the same seed. The first
    /// playthrough has the seed of the settings, the next one the seed after that, and so on.
    /// </remarks>
    public sealed class TreeSearchPlayer : IPlayer
    {
        /// <summary>Rollouts from which the length of a game is estimated before the first move, as the driver has it.</summary>
        private const int Pilot = 16;

        private readonly IForwardModel model;
        private readonly Policy policy;
        private readonly EvolvedSearch rules;
        private readonly SearchSettings settings;
        private readonly int metrics;
        private readonly bool follows, isSkilled;
        private readonly List<int> plan = new List<int>();
        private ulong seed;
        private int games, made, last;
        private TreeSearch search;
        private SplitMix64 mistakes, byChance;
        private Line seen;
        private double planUtility, ahead;

        /// <param name="model">The game as it is now.</param>
        /// <param name="policy">The policy to play by.</param>
        /// <param name="metrics">How many metrics the model measures.</param>
        /// <param name="settings">How much a search may do; null for as much as the policy's file says.</param>
        /// <exception cref="PlaytestException">The policy was evolved under a search that cannot be played here.</exception>
        public TreeSearchPlayer(IForwardModel model, Policy policy, int metrics, SearchSettings settings = null)
        {
            this.model = model;
            this.policy = policy;
            this.metrics = metrics;
            this.settings = settings ?? new SearchSettings();
            rules = policy.Evolved;
            rules.Check(policy, model, this.settings);
            FinalChoice choice = this.settings.Choice;
            follows = choice == FinalChoice.Plan || (choice == FinalChoice.AsEvolved && !rules.IsPerMove);
            isSkilled = rules.Sight > 0 && choice == FinalChoice.AsEvolved;
            Reset();
        }

        /// <summary>Searches so far.</summary>
        public int Searches { get; private set; }

        /// <summary>The last search, to show what the player considered.</summary>
        public TreeSearch Search => search;

        /// <inheritdoc/>
        public void Begin()
        {
            if (made == 0)
                return;
            games++;
            Reset();
        }

        /// <summary>The search's choice, or the next one of the plan.</summary>
        public int Choose(int count, double[] weights)
        {
            if (model.Count != count)
                throw new InvalidOperationException("the model offers " + model.Count + " choices where the game offers "
                    + count);
            last = rules.Seeds > 0 ? Guessed(count) : follows ? Planned(count) : Moved();
            made++;
            return last;
        }

        private void Reset()
        {
            seed = unchecked(settings.Seed + (ulong)games);
            made = 0;
            ahead = 0.0;
            byChance = null;
            seen = new Line();
            plan.Clear();
            mistakes = new SplitMix64(SearchRandom.Derived(seed, "str:errors"));
            search = New(rules.KeepsTree || (rules.Seeds > 0 && rules.IsPerMove)
                ? SearchRandom.Derived(seed, "str:agent", "int:0") : seed);
        }

        private TreeSearch New(ulong own)
        {
            SearchSettings given = settings.WithSeed(own);
            return rules.Seeds > 0 ? new OpenLoopSearch((ISeededModel)model, policy, metrics, given)
                : new TreeSearch(policy, metrics, given, model);
        }

        /// <summary>The next choice of a plan for the whole game.</summary>
        private int Planned(int count)
        {
            if (plan.Count == 0 || plan[0] >= count || !rules.IsConnected)
                Replan();
            int choice = plan[0];
            plan.RemoveAt(0);
            return choice;
        }

        private void Replan()
        {
            Searches++;
            search.Made = made;
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

        /// <summary>The choice of a search for this move, or a mistake.</summary>
        private int Moved()
        {
            Searches++;
            ulong own = SearchRandom.Derived(seed, "str:move", "int:" + made);
            if (isSkilled)
                search = New(own);
            else if (rules.KeepsTree && made > 0)
                search.Follow(last);
            search.Made = made;
            int choice = search.Choose();
            return isSkilled ? Skilled(own, choice) : choice;
        }

        /// <summary>The choice of a search that does not know what the player cannot know.</summary>
        private int Guessed(int count)
        {
            seen.See(count, search.Play.Measured(false));
            int choice = rules.IsPerMove ? GuessedMove(count) : GuessedShare(count);
            seen.Choices.Add(choice);
            return choice;
        }

        private int GuessedMove(int count)
        {
            Searches++;
            ulong own = SearchRandom.Derived(seed, "str:move", "int:" + made);
            if (isSkilled)
                search = New(own);
            var open = (OpenLoopSearch)search;
            int limit = settings.IterationsFor(rules, count);
            open.Look(seen, limit < int.MaxValue ? limit : 0);
            open.SpendHere(limit);
            int choice = open.Answer();
            return isSkilled ? Skilled(own, choice) : choice;
        }

        /// <summary>
        /// A move of a playthrough with one budget: it gets what is left, divided by the decisions that rollouts make to the
        /// end of the game. When nothing is left, the game is played to its end by chance.
        /// </summary>
        private int GuessedShare(int count)
        {
            var open = (OpenLoopSearch)search;
            if (byChance == null)
            {
                ulong order = open.Glance();
                int left = settings.IterationsFor(rules, count) - open.Spent - 1;
                if (left > 0)
                    return Shared(open, left);
                byChance = new SplitMix64(order);
            }
            return open.Play.Roll(count, made, byChance);
        }

        private int Shared(OpenLoopSearch open, int left)
        {
            Searches++;
            int begun = open.Spent, share = Part(left, Math.Max(1.0, ahead));
            open.Look(seen, ahead > 0.0 ? share : Pilot);
            if (ahead == 0.0)
            {
                open.SpendHere(Math.Min(Pilot, left));
                share = Part(left, open.DecisionsLeft);
            }
            open.SpendHere(share - (open.Spent - begun));
            ahead = open.DecisionsLeft - 1.0;
            return open.Answer();
        }

        private static int Part(int whole, double parts)
        {
            double share = 1.0 / parts;
            return share >= 1.0 ? whole : Math.Max(1, (int)Math.Round(whole * share, MidpointRounding.ToEven));
        }

        /// <summary>
        /// The best choice of a search, of equals one by chance; or a mistake, which prefers what seems to be worth more.
        /// </summary>
        /// <param name="best">The choice if the search tried none.</param>
        private int Skilled(ulong own, int best)
        {
            List<SearchNode> tried = search.Tried();
            List<int> lots = Enumerable.Range(0, tried.Count).ToList();
            new SplitMix64(SearchRandom.Derived(own, "str:ties")).Shuffle(lots);
            List<SearchNode> order = Enumerable.Range(0, tried.Count).OrderBy(i => tried[i].Visits).ThenBy(i => tried[i].Mean)
                .ThenBy(i => lots[i]).Select(i => tried[i]).ToList();
            double[] means = order.Count == 0 ? new[] { 0.0 } : order.Select(child => child.Mean).ToArray();
            bool errs = mistakes.Unit() < rules.Errors;
            int rank = errs ? mistakes.Weighted(Chances(means, rules.Temperature)) : means.Length - 1;
            return order.Count == 0 ? best : order[rank].Action;
        }

        /// <summary>
        /// How likely a mistake makes each choice: in proportion to exp(value / temperature), values from 0 to 1.
        /// </summary>
        private static double[] Chances(double[] means, double temperature)
        {
            double high = means.Max(), span = high > means.Min() ? high - means.Min() : 1.0;
            return Array.ConvertAll(means, mean => Math.Exp((mean - high) / span / temperature));
        }
    }
}
