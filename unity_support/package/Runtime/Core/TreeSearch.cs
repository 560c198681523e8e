using System;
using System.Collections.Generic;
using System.Diagnostics;

namespace PersonaEvo.Playtest
{
    /// <summary>Which choice a search ends in.</summary>
    public enum FinalChoice
    {
        /// <summary>Visits where the policy was evolved move by move, else Plan.</summary>
        AsEvolved,
        /// <summary>The first one of the best plan that was seen; right where the model has no luck in it.</summary>
        Plan,
        /// <summary>The child visited most, of equals the one with the higher mean.</summary>
        Visits,
        /// <summary>The child of the highest mean, of equals the one visited more.</summary>
        Mean
    }

    /// <summary>How much a search may do, and how it ends.</summary>
    public sealed class SearchSettings
    {
        internal const int UsualIterations = 1000, UsualHorizon = 1000;

        /// <summary>Rollouts of a search; 0 for as many as the policy's file says, or 1000 where it does not.</summary>
        public int Iterations;
        /// <summary>Milliseconds at most, 0 for no limit; with a limit, a result depends on the machine.</summary>
        public int Milliseconds;
        /// <summary>
        /// The largest number of choices from the root, including those of rollouts; 0 for the number of decisions in the
        /// policy's file, or 1000 if it has none.
        /// </summary>
        public int Horizon;
        /// <summary>The largest number of nodes; each holds one saved state.</summary>
        public int Nodes = 100000;
        public ulong Seed;
        public FinalChoice Choice = FinalChoice.AsEvolved;
    }

    /// <summary>
    /// Monte Carlo tree search over a forward model, by the rules of the driver's search (see PROTOCOL.md for what it asks
    /// of a game): the first rollout goes out from the root; later ones descend by the tree policy to a node with untried
    /// choices, try the next of them, and go on from there. All random numbers are those of the driver's search of the same
    /// seed, so a policy of a connected game finds the same here.
    /// </summary>
    public sealed class TreeSearch
    {
        private sealed class Node
        {
            internal Node Parent;
            internal readonly List<Node> Children = new List<Node>();
            internal object State;
            internal double[] Metrics;
            internal int Number, Action, Count, Depth, Visits, Pending, Draws;
            internal double Total, Squares, Best = double.NegativeInfinity;
            /// <summary>Whether a rollout from here has come back: only then the driver knows its choices.</summary>
            internal bool Known;
            internal bool Done;

            internal double Mean { get { return Total / Visits; } }
        }

        /// <summary>
        /// A rollout under way; Repeated is the result where it is known already, else NaN. Draws says whether the choice
        /// that it makes at its node becomes a child.
        /// </summary>
        private struct Order
        {
            internal Node Node;
            internal bool Draws;
            internal ulong Seed;
            internal double Repeated;
        }

        /// <summary>How far UCB1's own constant may be from the range of utilities, as the driver has it.</summary>
        private const double Unfit = 30.0;
        /// <summary>Utilities after which a narrow range of them is no accident, as the driver has it.</summary>
        private const int EnoughSeen = 100;

        private readonly IForwardModel model;
        private readonly IWeightedModel weighted;
        private readonly Policy policy;
        private readonly EvolvedSearch rules;
        private readonly SearchSettings settings;
        private readonly int horizon, decisions;
        private readonly SearchRandom random;
        private readonly Scorer scorer, rolloutScorer;
        private readonly double[] measured;
        private readonly List<int> rolled = new List<int>();
        private readonly List<int> planRolled = new List<int>();
        private readonly Queue<Order> underWay = new Queue<Order>();
        private Node root, planNode;
        private int nodes, seen;
        private readonly bool isFitted;
        private double lowest, highest, scale, average, squares;

        /// <param name="metrics">How many metrics the model measures.</param>
        public TreeSearch(IForwardModel model, Policy policy, int metrics, SearchSettings settings = null)
        {
            this.model = model;
            this.policy = policy;
            this.settings = settings ?? new SearchSettings();
            rules = policy.Evolved;
            isFitted = rules.IsNormalised && policy.Constant == Math.Sqrt(2.0);
            weighted = rules.Rollouts == RolloutRule.Weights ? model as IWeightedModel : null;
            decisions = this.settings.Horizon > 0 ? this.settings.Horizon
                : rules.MaxDecisions > 0 ? rules.MaxDecisions : SearchSettings.UsualHorizon;
            horizon = rules.Horizon > 0 ? Math.Min(rules.Horizon, decisions) : decisions;
            random = new SearchRandom(this.settings.Seed);
            scorer = policy.Formula == null ? null : new Scorer(policy.Formula, metrics);
            rolloutScorer = rules.RolloutFormula == null ? null : new Scorer(rules.RolloutFormula, metrics);
            measured = new double[metrics + 1];
        }

        /// <summary>Rollouts of the last search.</summary>
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

        /// <summary>The mean utility after each choice at the root, NaN where it was not tried.</summary>
        public double[] RootMeans()
        {
            var means = new double[root.Count];
            for (int i = 0; i < means.Length; i++)
                means[i] = double.NaN;
            foreach (Node child in root.Children)
                means[child.Action] = child.Mean;
            return means;
        }

        /// <summary>Searches from the model's state, which it is in again afterwards; returns the choice found.</summary>
        /// <exception cref="InvalidOperationException">The game is over.</exception>
        public int Choose()
        {
            if (model.Count < 1)
                throw new InvalidOperationException("the game is over, there is nothing to choose");
            object state = model.Save();
            nodes = 0;
            planNode = null;
            lowest = highest = average = squares = 0.0;
            scale = 1.0;
            seen = 0;
            PlanUtility = double.NegativeInfinity;
            root = NewNode(null, -1);
            if (!rules.IsConnected)
                Consider(root, Utility());
            int limit = Limit(model.Count);
            var clock = Stopwatch.StartNew();
            for (Iterations = 0; ; Iterations++)
            {
                bool late = settings.Milliseconds > 0 && clock.ElapsedMilliseconds >= settings.Milliseconds;
                while (!late && underWay.Count < rules.Slots && Iterations + underWay.Count < limit && Send()) { }
                if (underWay.Count == 0)
                    break;
                Receive(underWay.Dequeue());
            }
            model.Restore(state);
            return Final();
        }

        private int Limit(int count)
        {
            if (settings.Iterations > 0)
                return settings.Iterations;
            if (rules.Iterations == 0)
                return SearchSettings.UsualIterations;
            return (int)Math.Min(int.MaxValue, (long)rules.Iterations * (rules.IsPerChoice ? count : 1));
        }

        /// <summary>Sends a rollout on its way; false where nothing is left to be tried.</summary>
        private bool Send()
        {
            Node node = Descend();
            if (node == null)
                return false;
            bool known = node.Count == 0 && node.Visits > 0;
            underWay.Enqueue(new Order
            {
                Node = node, Draws = IsWide(node) && node.Known && node.Depth < horizon, Seed = random.Rollouts.Next(),
                Repeated = known ? node.Mean : double.NaN
            });
            for (Node at = node; at != null; at = at.Parent)
                at.Pending++;
            return true;
        }

        private Node Descend()
        {
            Node node = root;
            while (true)
            {
                if (rules.CutOff && node.Done)
                    return null;
                if (!node.Known || node.Count == 0 || node.Depth >= horizon)
                    return node;
                bool wide = IsWide(node), isNew = node.Children.Count < node.Count;
                if (wide && (node.Children.Count == 0 || node.Draws < Math.Sqrt(node.Visits + node.Pending)))
                    return Drawing(node);
                if (!wide && isNew)
                    return nodes < settings.Nodes ? Expand(node) : node;
                Node best = Best(node);
                if (best == null)
                    return wide && isNew ? Drawing(node) : null;
                node = best;
            }
        }

        private bool IsWide(Node node)
        {
            return rules.Widening > 0 && node.Count >= rules.Widening;
        }

        private static Node Drawing(Node node)
        {
            node.Draws++;
            return node;
        }

        private void Receive(Order order)
        {
            Node node = order.Node;
            double utility = order.Repeated;
            if (double.IsNaN(utility))
            {
                model.Restore(node.State);
                utility = Simulate(node, order.Seed);
                Fit(utility);
            }
            for (Node at = node; at != null; at = at.Parent)
            {
                at.Pending--;
                Enter(at, utility);
            }
            if (order.Draws && rolled.Count > 0)
                Draw(node, rolled[0], utility);
            if (node.Known)
                return;
            node.Known = true;
            Close(node);
        }

        private static void Enter(Node node, double utility)
        {
            node.Visits++;
            node.Total += utility;
            node.Squares += utility * utility;
            node.Best = Math.Max(node.Best, utility);
        }

        /// <summary>Makes the choice that a rollout drew a child, if it is none, and counts the result there.</summary>
        private void Draw(Node parent, int action, double utility)
        {
            Node child = parent.Children.Find(c => c.Action == action);
            if (child == null)
            {
                if (nodes >= settings.Nodes)
                    return;
                model.Restore(parent.State);
                model.Apply(action);
                child = NewNode(parent, action);
            }
            Enter(child, utility);
            if (child.Known)
                return;
            child.Known = true;
            Close(child);
        }

        /// <summary>Enters a utility into the range of those seen, and fits UCB1's own constant to that.</summary>
        private void Fit(double utility)
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

        private Node Expand(Node parent)
        {
            int tried = parent.Children.Count;
            int action = rules.IsExpandedAtRandom ? random.Untried(parent.Number, parent.Count, tried) : tried;
            model.Restore(parent.State);
            model.Apply(action);
            return NewNode(parent, action);
        }

        private Node NewNode(Node parent, int action)
        {
            var node = new Node
            {
                Parent = parent, Number = nodes, Action = action, Count = model.Count, State = model.Save()
            };
            if (scorer != null)
            {
                Measure();
                node.Metrics = (double[])measured.Clone();
                int score = measured.Length - 1;
                node.Metrics[score] = node.Count == 0 ? measured[score] : 0.0;
            }
            if (parent != null)
            {
                node.Depth = parent.Depth + 1;
                parent.Children.Add(node);
            }
            nodes++;
            return node;
        }

        /// <summary>
        /// Returns the child that the tree policy scores highest, or null if all are closed. If nothing is known of any
        /// child yet, it returns one with the fewest rollouts under way.
        /// </summary>
        private Node Best(Node parent)
        {
            double top = double.NegativeInfinity;
            Node waiting = null, best = null;
            int equals = 1;
            for (int i = parent.Children.Count - 1; i >= 0; i--)
            {
                Node child = parent.Children[i];
                if (rules.CutOff && child.Done)
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
                else if (score == top && best != null && random.TakesLast(++equals))
                    best = child;
            }
            return best ?? waiting;
        }

        private double Score(Node child, Node parent)
        {
            int visits = child.Visits + child.Pending, parentVisits = parent.Visits + parent.Pending;
            double value = (child.Total + child.Pending * lowest) / visits;
            if (scorer == null)
            {
                double share = Math.Log(Math.Max(1, parentVisits)) / visits;
                double scaled = (child.Total + child.Pending * lowest) / scale / visits;
                double bonus = rules.IsConstantInside ? Math.Sqrt(policy.Constant * share) : policy.Constant * Math.Sqrt(share);
                return scaled + (IsWide(parent) && isFitted ? Math.Sqrt(squares / seen) / scale * bonus : bonus);
            }
            double spread = Math.Sqrt(Math.Max(0.0, child.Squares / child.Visits - child.Mean * child.Mean));
            double estimate = rules.MeanOnly ? value : 0.75 * value + 0.25 * child.Best;
            Array.Copy(child.Metrics, scorer.Values, child.Metrics.Length);
            return scorer.Score(estimate, visits, parentVisits, child.Depth, child.Best, spread);
        }

        /// <summary>Goes on from the model's state by the rollout's rule; returns the utility of where that ends.</summary>
        private double Simulate(Node node, ulong seed)
        {
            var choices = new SplitMix64(seed);
            rolled.Clear();
            int length = Math.Min(rules.RolloutLength, decisions - node.Depth);
            for (int count = model.Count; count > 0 && rolled.Count < length; count = model.Count)
            {
                if (!rules.IsConnected)
                    Consider(node, Utility());
                int choice = Roll(count, node.Depth + rolled.Count, choices);
                model.Apply(choice);
                rolled.Add(choice);
            }
            double utility = Utility();
            Consider(node, utility);
            return utility;
        }

        private int Roll(int count, int made, SplitMix64 choices)
        {
            if (rolloutScorer != null)
                return Lookahead.Best(model, rolloutScorer, made, true);
            double[] weights = weighted == null ? null : weighted.Weights();
            return weights == null ? choices.Below(count) : choices.Weighted(weights);
        }

        private double Utility()
        {
            if (policy.Utility == null)
                return model.Score;
            Measure();
            return policy.Utility.Evaluate(measured);
        }

        /// <summary>Reads the metrics, as a driver would be sent them, and the score.</summary>
        private void Measure()
        {
            model.Measure(measured);
            for (int i = 0; i < measured.Length - 1; i++)
                measured[i] = MetricTable.ToWire(measured[i]);
            measured[measured.Length - 1] = model.Score;
        }

        /// <summary>Keeps the plan to here if it is the best one: by utility, then the shorter one.</summary>
        private void Consider(Node node, double utility)
        {
            bool better = planNode == null || utility > PlanUtility;
            if (!better && (rules.IsConnected || utility < PlanUtility
                || node.Depth + rolled.Count >= planNode.Depth + planRolled.Count))
                return;
            PlanUtility = utility;
            planNode = node;
            planRolled.Clear();
            planRolled.AddRange(rolled);
        }

        /// <summary>Marks what has nothing new below it, from a node upwards.</summary>
        private void Close(Node node)
        {
            for (; node != null && !node.Done; node = node.Parent)
            {
                bool leaf = node.Count == 0 || node.Depth >= horizon;
                if (!leaf && (node.Children.Count < node.Count || node.Children.Exists(c => !c.Done)))
                    return;
                node.Done = true;
            }
        }

        private int Final()
        {
            FinalChoice choice = settings.Choice;
            if (choice == FinalChoice.AsEvolved)
                choice = rules.IsPerMove ? FinalChoice.Visits : FinalChoice.Plan;
            List<int> plan = Plan();
            if (choice == FinalChoice.Plan && plan.Count > 0)
                return plan[0];
            Node best = null;
            foreach (Node child in root.Children)
                if (child.Visits > 0 && (best == null || IsBetter(child, best, choice == FinalChoice.Mean)))
                    best = child;
            return best == null ? 0 : best.Action;
        }

        private static bool IsBetter(Node one, Node other, bool byMean)
        {
            if (byMean)
                return one.Mean > other.Mean || (one.Mean == other.Mean && one.Visits > other.Visits);
            return one.Visits > other.Visits || (one.Visits == other.Visits && one.Mean > other.Mean);
        }
    }
}
