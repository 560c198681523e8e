using System;
using System.Collections.Generic;
using System.Diagnostics;

namespace PersonaEvo.Playtest
{
    /// <summary>Which choice a search ends in.</summary>
    public enum FinalChoice
    {
        /// <summary>The first one of the best plan that was seen; right where the model has no luck in it.</summary>
        Plan,
        /// <summary>The child visited most.</summary>
        Visits,
        /// <summary>The child of the highest mean.</summary>
        Mean
    }

    /// <summary>How much a search may do, and how it ends.</summary>
    public sealed class SearchSettings
    {
        public int Iterations = 1000;
        /// <summary>Milliseconds at most, 0 for no limit; with one, a result depends on the machine.</summary>
        public int Milliseconds;
        /// <summary>Choices from the root at most.</summary>
        public int Horizon = 1000;
        /// <summary>Nodes at most; each holds one saved state.</summary>
        public int Nodes = 100000;
        public ulong Seed;
        public FinalChoice Choice = FinalChoice.Plan;
    }

    /// <summary>
    /// Monte Carlo tree search over a forward model: select by the tree policy, expand untried choices first and in their
    /// order, roll out at random, back up. Ties are broken at random by the search's own stream.
    /// </summary>
    public sealed class TreeSearch
    {
        private sealed class Node
        {
            internal Node Parent;
            internal readonly List<Node> Children = new List<Node>();
            internal object State;
            internal double[] Metrics;
            internal int Action, Count, Depth, Visits;
            internal double Total, Squares, Best = double.NegativeInfinity;
            internal bool Done;
        }

        private readonly IForwardModel model;
        private readonly Policy policy;
        private readonly SearchSettings settings;
        private readonly SplitMix64 random;
        private readonly Scorer scorer;
        private readonly double[] measured;
        private readonly List<int> rolled = new List<int>();
        private readonly List<Node> ties = new List<Node>();
        private readonly List<int> planRolled = new List<int>();
        private Node root, planNode;
        private int nodes;

        /// <param name="metrics">How many the model measures.</param>
        public TreeSearch(IForwardModel model, Policy policy, int metrics, SearchSettings settings = null)
        {
            this.model = model;
            this.policy = policy;
            this.settings = settings ?? new SearchSettings();
            random = new SplitMix64(this.settings.Seed);
            scorer = policy.Formula == null ? null : new Scorer(policy.Formula, metrics);
            measured = new double[metrics];
        }

        /// <summary>Iterations of the last search.</summary>
        public int Iterations { get; private set; }

        /// <summary>Whether the last search saw everything within its horizon.</summary>
        public bool Exhausted { get { return root != null && root.Done; } }

        /// <summary>Utility of the best state that the last search saw.</summary>
        public double PlanUtility { get; private set; }

        /// <summary>The choices that lead there.</summary>
        public List<int> Plan()
        {
            var plan = new List<int>();
            for (Node node = planNode; node.Parent != null; node = node.Parent)
                plan.Add(node.Action);
            plan.Reverse();
            plan.AddRange(planRolled);
            return plan;
        }

        /// <summary>How often each choice at the root was tried, 0 where it was not.</summary>
        public int[] RootVisits()
        {
            var visits = new int[root.Count];
            foreach (Node child in root.Children)
                visits[child.Action] = child.Visits;
            return visits;
        }

        /// <summary>Searches from the model's state, which it is in again afterwards; the choice found.</summary>
        /// <exception cref="InvalidOperationException">The game is over.</exception>
        public int Choose()
        {
            if (model.Count < 1)
                throw new InvalidOperationException("the game is over, there is nothing to choose");
            object state = model.Save();
            nodes = 0;
            planNode = null;
            PlanUtility = double.NegativeInfinity;
            root = NewNode(null, -1);
            Consider(root, Utility());
            var clock = Stopwatch.StartNew();
            for (Iterations = 0; Iterations < settings.Iterations && !root.Done; Iterations++)
            {
                if (settings.Milliseconds > 0 && clock.ElapsedMilliseconds >= settings.Milliseconds)
                    break;
                Iterate();
            }
            model.Restore(state);
            return Final();
        }

        private void Iterate()
        {
            Node node = root;
            bool fresh = false;
            while (node.Count > 0 && node.Depth < settings.Horizon && !fresh)
            {
                bool untried = node.Children.Count < node.Count;
                Node next = untried && nodes < settings.Nodes ? Expand(node) : Best(node);
                if (next == null)
                    break;
                fresh = untried && next.Visits == 0;
                node = next;
            }
            if (!fresh)
                model.Restore(node.State);
            BackUp(node, Simulate(node));
            Close(node);
        }

        private Node Expand(Node parent)
        {
            model.Restore(parent.State);
            model.Apply(parent.Children.Count);
            return NewNode(parent, parent.Children.Count);
        }

        private Node NewNode(Node parent, int action)
        {
            var node = new Node { Parent = parent, Action = action, Count = model.Count, State = model.Save() };
            if (scorer != null)
            {
                model.Measure(measured);
                node.Metrics = (double[])measured.Clone();
            }
            if (parent != null)
            {
                node.Depth = parent.Depth + 1;
                parent.Children.Add(node);
            }
            nodes++;
            return node;
        }

        /// <summary>The child that the tree policy scores highest, null where all are closed.</summary>
        private Node Best(Node parent)
        {
            double top = double.NegativeInfinity;
            ties.Clear();
            foreach (Node child in parent.Children)
            {
                if (policy.CutOff && child.Done)
                    continue;
                double score = Score(child, parent.Visits);
                if (score < top)
                    continue;
                if (score > top)
                    ties.Clear();
                top = score;
                ties.Add(child);
            }
            if (ties.Count == 0)
                return null;
            return ties.Count == 1 ? ties[0] : ties[random.Below(ties.Count)];
        }

        private double Score(Node child, int parentVisits)
        {
            double mean = child.Total / child.Visits;
            if (scorer == null)
                return mean + policy.Constant * Math.Sqrt(Math.Log(Math.Max(1, parentVisits)) / child.Visits);
            double spread = Math.Sqrt(Math.Max(0.0, child.Squares / child.Visits - mean * mean));
            double estimate = policy.MeanOnly ? mean : 0.75 * mean + 0.25 * child.Best;
            Array.Copy(child.Metrics, scorer.Values, child.Metrics.Length);
            return scorer.Score(estimate, child.Visits, parentVisits, child.Depth, child.Best, spread);
        }

        /// <summary>Goes on at random from the model's state; the utility of where that ends.</summary>
        private double Simulate(Node node)
        {
            rolled.Clear();
            double utility = Utility();
            Consider(node, utility);
            int length = Math.Min(policy.RolloutLength, settings.Horizon - node.Depth);
            for (int count = model.Count; count > 0 && rolled.Count < length; count = model.Count)
            {
                int choice = random.Below(count);
                model.Apply(choice);
                rolled.Add(choice);
                utility = Utility();
                Consider(node, utility);
            }
            return utility;
        }

        private double Utility()
        {
            if (policy.Utility == null)
                return model.Score;
            model.Measure(measured);
            return policy.Utility.Evaluate(measured);
        }

        /// <summary>Keeps the plan to here if it is the best: by utility, then the shorter one.</summary>
        private void Consider(Node node, double utility)
        {
            bool better = planNode == null || utility > PlanUtility;
            if (!better && (utility < PlanUtility || node.Depth + rolled.Count >= planNode.Depth + planRolled.Count))
                return;
            PlanUtility = utility;
            planNode = node;
            planRolled.Clear();
            planRolled.AddRange(rolled);
        }

        private static void BackUp(Node node, double utility)
        {
            for (; node != null; node = node.Parent)
            {
                node.Visits++;
                node.Total += utility;
                node.Squares += utility * utility;
                node.Best = Math.Max(node.Best, utility);
            }
        }

        /// <summary>Marks what has nothing new below it, from a node upwards.</summary>
        private void Close(Node node)
        {
            for (; node != null && !node.Done; node = node.Parent)
            {
                bool leaf = node.Count == 0 || node.Depth >= settings.Horizon;
                if (!leaf && (node.Children.Count < node.Count || node.Children.Exists(c => !c.Done)))
                    return;
                node.Done = true;
            }
        }

        private int Final()
        {
            if (settings.Choice == FinalChoice.Plan)
            {
                List<int> plan = Plan();
                if (plan.Count > 0)
                    return plan[0];
            }
            Node best = null;
            foreach (Node child in root.Children)
                if (best == null || Rank(child) > Rank(best))
                    best = child;
            return best == null ? 0 : best.Action;
        }

        private double Rank(Node child)
        {
            return settings.Choice == FinalChoice.Mean ? child.Total / child.Visits : child.Visits;
        }
    }

    /// <summary>Plays inside the game, with no driver, by a tree search before each choice.</summary>
    public sealed class TreeSearchPlayer : IPlayer
    {
        private readonly IForwardModel model;
        private readonly TreeSearch search;
        private readonly bool follows;
        private readonly List<int> plan = new List<int>();
        private double planUtility;

        /// <param name="metrics">How many the model measures.</param>
        public TreeSearchPlayer(IForwardModel model, Policy policy, int metrics, SearchSettings settings = null)
        {
            settings = settings ?? new SearchSettings();
            this.model = model;
            search = new TreeSearch(model, policy, metrics, settings);
            follows = settings.Choice == FinalChoice.Plan;
        }

        public void Begin()
        {
            plan.Clear();
        }

        /// <summary>The search's choice; by plan, the one before is followed until a better one is found.</summary>
        public int Choose(int count, double[] weights)
        {
            if (model.Count != count)
                throw new InvalidOperationException("the model offers " + model.Count + " choices where the game offers " + count);
            int choice = search.Choose();
            if (!follows)
                return choice;
            List<int> found = search.Plan();
            if (found.Count > 0 && (plan.Count == 0 || search.PlanUtility > planUtility))
            {
                plan.Clear();
                plan.AddRange(found);
                planUtility = search.PlanUtility;
            }
            if (plan.Count == 0)
                return choice;
            choice = plan[0];
            plan.RemoveAt(0);
            return choice;
        }
    }
}
