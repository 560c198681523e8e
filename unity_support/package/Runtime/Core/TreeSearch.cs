using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// Monte Carlo tree search over a forward model, by the rules of the driver's search: the first rollout goes out from
    /// the root; later ones descend by the tree policy to a node with untried choices, try the next of them, and go on from
    /// there. All random numbers are those of the driver's search of the same seed, so a policy of a connected game finds
    /// the same here.
    /// </summary>
    public class TreeSearch
    {
        /// <summary>
        /// A rollout under way: its seed, its result if that is known already (else NaN), whether the choice that it makes at
        /// its node becomes a child, and whether it tells the weights of the choices there.
        /// </summary>
        internal class Order
        {
            internal SearchNode Node;
            internal ulong Seed;
            internal double Repeated;
            internal bool Draws, Asks;
        }

        /// <summary>
        /// Results repeated in a row after which a formula that never changes its mind has nothing left to find.
        /// </summary>
        private const int Patience = 1000;
        private const int MostNodes = 2000000;

        internal readonly EvolvedSearch Rules;
        internal readonly SearchRandom Random;
        internal readonly ChildSelection Selection;
        internal readonly Simulation Play;
        internal SearchNode Root;
        private readonly SearchSettings settings;
        private readonly bool isStatic;
        private readonly List<int> rolled = new List<int>();
        private readonly List<int> planRolled = new List<int>();
        private readonly Queue<Order> underWay = new Queue<Order>();
        private SearchNode planNode;
        private int nodes, room, repeats;

        /// <param name="model">The game, in any state.</param>
        /// <param name="policy">What chooses the child to descend to.</param>
        /// <param name="metrics">How many metrics the model measures.</param>
        /// <param name="settings">How much the search may do; null for as much as the policy's file says.</param>
        /// <exception cref="PlaytestException">The policy was evolved under a search that cannot be played here.</exception>
        public TreeSearch(IForwardModel model, Policy policy, int metrics, SearchSettings settings = null)
            : this(policy, metrics, settings, model)
        {
            if (Rules.Seeds > 0)
                throw new PlaytestException("policy " + policy.Name + " was evolved with several seeds, whose search has to know "
                    + "what was seen since the game began: play it by a TreeSearchPlayer");
        }

        internal TreeSearch(Policy policy, int metrics, SearchSettings settings, IForwardModel model)
        {
            this.settings = settings ?? new SearchSettings();
            Rules = policy.Evolved;
            Rules.Check(policy, model, this.settings);
            Random = new SearchRandom(this.settings.Seed);
            Selection = new ChildSelection(policy, metrics, Random);
            Play = new Simulation(model, policy, metrics);
            isStatic = policy.IsStatic;
        }

        /// <summary>Rollouts of the last search.</summary>
        public int Iterations { get; internal set; }

        /// <summary>Whether the last search saw everything within its horizon.</summary>
        public bool Exhausted => Root != null && Root.IsClosed;

        /// <summary>Utility of the best state that the last search saw.</summary>
        public double PlanUtility { get; private set; }

        /// <summary>Choices made since the start of the game.</summary>
        internal int Made { get; set; }

        /// <summary>Rollouts that count towards the budget.</summary>
        internal virtual int Spent => Iterations;

        internal IForwardModel Model => Play.Model;

        /// <summary>Choices from the root to the deepest node at most.</summary>
        internal int Horizon
        {
            get
            {
                int whole = Rules.Horizon > 0 ? Math.Min(Rules.Horizon, Decisions) : Decisions;
                return settings.Horizon > 0 ? Math.Min(whole, settings.Horizon)
                    : Rules.Sight > 0 ? Math.Min(Rules.Sight, whole - Made) : whole;
            }
        }

        /// <summary>Choices from the root to the end of a rollout at most.</summary>
        internal int Reach => settings.Horizon > 0 ? settings.Horizon : Decisions - Made;

        /// <summary>Choices of a whole playthrough at most.</summary>
        private int Decisions => Rules.MaxDecisions > 0 ? Rules.MaxDecisions : SearchSettings.UsualHorizon;

        internal bool HasRoom => nodes < room;

        /// <summary>The choices that lead there.</summary>
        public List<int> Plan()
        {
            var plan = new List<int>();
            for (SearchNode node = planNode; node.Parent != null; node = node.Parent)
                plan.Add(node.Action);
            plan.Reverse();
            plan.AddRange(planRolled);
            return plan;
        }

        /// <summary>How often each choice at the root was tried, 0 where it was not.</summary>
        public int[] RootVisits()
        {
            var visits = new int[Root.Count];
            foreach (SearchNode child in Tried())
                visits[child.Action] = child.Visits;
            return visits;
        }

        /// <summary>The mean utility after each choice at the root, NaN where it was not tried.</summary>
        public double[] RootMeans()
        {
            var means = new double[Root.Count];
            for (int i = 0; i < means.Length; i++)
                means[i] = double.NaN;
            foreach (SearchNode child in Tried())
                means[child.Action] = child.Mean;
            return means;
        }

        /// <summary>Searches from the model's state, which it is in again afterwards; returns the choice found.</summary>
        /// <exception cref="InvalidOperationException">The game is over.</exception>
        public int Choose()
        {
            int count = Model.Count;
            if (count < 1)
                throw new InvalidOperationException("the game is over, there is nothing to choose");
            object state = Model.Save();
            Iterations = 0;
            planNode = null;
            PlanUtility = double.NegativeInfinity;
            int limit = settings.IterationsFor(Rules, count);
            if (!Rules.KeepsTree)
                Selection.Forget();
            if (Root == null || !Rules.KeepsTree)
                Plant(state, limit);
            Spend(limit);
            Model.Restore(state);
            return Answer();
        }

        /// <summary>Goes on from the state that a choice leads to, with what the tree holds below it.</summary>
        internal void Follow(int choice)
        {
            SearchNode child = Root.Child(choice);
            Root = child == null || child.Count == SearchNode.Unknown ? null : child;
            if (Root == null)
                return;
            Root.Parent = null;
            var kept = new List<SearchNode> { Root };
            for (int i = 0; i < kept.Count; i++)
            {
                kept[i].Depth--;
                kept.AddRange(kept[i].Children);
            }
            kept.Sort((one, other) => one.Number.CompareTo(other.Number));
            for (nodes = 0; nodes < kept.Count; nodes++)
                kept[nodes].Number = nodes;
        }

        /// <summary>Makes rollouts until the budget is used up or nothing is left to try.</summary>
        internal void Spend(int limit)
        {
            int end = Spent + limit;
            long milliseconds = settings.MillisecondsFor(Rules);
            var clock = Stopwatch.StartNew();
            repeats = 0;
            while (true)
            {
                bool late = milliseconds > 0 && Root.Visits > 0 && clock.ElapsedMilliseconds >= milliseconds;
                while (!late && underWay.Count < Rules.Slots && Spent + underWay.Count < end
                    && !(isStatic && repeats >= Patience))
                {
                    Order order = Send();
                    if (order == null)
                        break;
                    repeats = double.IsNaN(order.Repeated) ? 0 : repeats + 1;
                    order.Node.Await(1);
                    underWay.Enqueue(order);
                }
                if (underWay.Count == 0)
                    return;
                Order first = underWay.Dequeue();
                first.Node.Await(-1);
                Receive(first);
            }
        }

        /// <summary>Returns the next rollout, or null where nothing is left to be tried.</summary>
        internal virtual Order Send()
        {
            SearchNode node = Descend();
            if (node == null)
                return null;
            var order = new Order
            {
                Node = node,
                Seed = Random.Rollouts.Next(),
                Repeated = node.Count == 0 && node.Visits > 0 ? node.Mean : double.NaN,
                Draws = Selection.IsWide(node.Count) && node.Depth < Horizon
            };
            if (order.Draws && Rules.HasPriors)
                Place(order);
            return order;
        }

        /// <summary>
        /// Lets a rollout that was to draw a choice at its node start at the next choice in order. The first one at a node
        /// tells the weights instead, and those before it comes back only add to the node's statistics.
        /// </summary>
        private void Place(Order order)
        {
            SearchNode node = order.Node;
            order.Draws = node.InOrder != null;
            while (order.Draws && HasRoom && node.InOrder.Count > 0)
            {
                KeyValuePair<int, double> next = node.InOrder.Dequeue();
                if (node.Child(next.Key) != null)
                    continue;
                order.Node = Grow(node, next.Key);
                order.Node.Prior = next.Value;
                order.Draws = false;
            }
            order.Asks = order.Node == node && !node.IsAsked;
            node.IsAsked |= order.Asks;
        }

        /// <summary>Plays a rollout, unless its result is known, and enters it into the tree.</summary>
        internal virtual void Receive(Order order)
        {
            Iterations++;
            SearchNode node = order.Node;
            double utility = order.Repeated;
            int count = node.Count;
            if (double.IsNaN(utility))
            {
                Model.Restore(node.State);
                count = CountAt(node);
                utility = Simulate(node, order.Seed);
                Selection.See(utility);
            }
            node.BackUp(utility);
            if (order.Draws && rolled.Count > 0)
                Draw(node, rolled[0], utility);
            if (order.Asks)
                SetOrder(node, order.Seed);
            Reveal(node, count);
        }

        /// <summary>Makes a node of the tree.</summary>
        internal virtual SearchNode NewNode(SearchNode parent, int action) => new SearchNode(parent, action, nodes++);

        /// <summary>Begins a new tree, for so many rollouts at a time.</summary>
        internal void Clear(int limit)
        {
            nodes = 0;
            room = settings.Nodes > 0 ? settings.Nodes : (int)Math.Min(MostNodes, (limit + 1L) * (Rules.KeepsTree ? 2 : 1));
            Root = NewNode(null, -1);
        }

        private void Plant(object state, int limit)
        {
            Clear(limit);
            Describe(Root, state);
            if (!Rules.IsConnected)
                Consider(Root, Play.Utility());
        }

        /// <summary>Returns the choice that the search ends in; one drawn by chance if none was tried.</summary>
        internal int Answer()
        {
            FinalChoice how = settings.Choice == FinalChoice.AsEvolved ? Rules.Answer : settings.Choice;
            if (how == FinalChoice.Plan)
            {
                List<int> plan = Plan();
                if (plan.Count > 0)
                    return plan[0];
            }
            SearchNode best = null;
            foreach (SearchNode child in Tried())
                if (best == null || Comparer<Tuple<double, double>>.Default.Compare(Rank(child, how), Rank(best, how)) > 0)
                    best = child;
            return best == null ? Random.Rollouts.Below(Root.Count) : best.Action;
        }

        /// <summary>Returns the children of the root that have results, in the game's order.</summary>
        internal List<SearchNode> Tried()
        {
            List<SearchNode> tried = Root.Children.FindAll(child => child.Visits > 0 && child.Action < Root.Count);
            tried.Sort((one, other) => one.Action.CompareTo(other.Action));
            return tried;
        }

        private static Tuple<double, double> Rank(SearchNode child, FinalChoice how)
        {
            double visits = child.Visits;
            return how == FinalChoice.Mean ? Tuple.Create(child.Mean, visits)
                : how == FinalChoice.Highest ? Tuple.Create(child.Best, visits)
                : Tuple.Create(visits, child.Mean);
        }

        private SearchNode Descend()
        {
            SearchNode node = Root;
            int horizon = Horizon;
            while (true)
            {
                if (Rules.CutOff && node.IsClosed)
                    return null;
                if (node.Count <= 0 || node.Depth >= horizon)
                    return node;
                bool isWide = Selection.IsWide(node.Count), isOpen = node.Children.Count < node.Count;
                if (isWide && NextDraws(node))
                    return node;
                if (!isWide && isOpen)
                    return HasRoom ? Expand(node) : node;
                SearchNode best = Selection.Best(node, Rules.CutOff);
                if (best == null && isWide && isOpen)
                    node.Draws++;
                if (best == null)
                    return isWide && isOpen ? node : null;
                node = best;
            }
        }

        /// <summary>Whether the next rollout through a wide node draws a choice there; if so, counts it.</summary>
        internal static bool NextDraws(SearchNode node)
        {
            bool draws = node.Children.Count == 0 || node.Draws < Math.Sqrt(node.Visits + node.Pending);
            if (draws)
                node.Draws++;
            return draws;
        }

        /// <summary>Puts a node's choices in the order of their weights; those of equal weights are shuffled.</summary>
        private void SetOrder(SearchNode node, ulong seed)
        {
            Model.Restore(node.State);
            double[] weights = Play.WeightsOf(node.Count);
            double most = weights.Max();
            int[] choices = Enumerable.Range(0, node.Count).ToArray();
            new SplitMix64(seed).Shuffle(choices);
            node.Draws = 0;
            node.InOrder = new Queue<KeyValuePair<int, double>>(choices.OrderByDescending(choice => weights[choice])
                .Select(choice => new KeyValuePair<int, double>(choice, weights[choice] / most)));
        }

        private SearchNode Expand(SearchNode parent)
        {
            int action = parent.Children.Count;
            if (!Rules.IsExpandedAtRandom)
                return Grow(parent, action);
            action = Random.Untried(parent.Number, parent.Count, action);
            for (int i = 0; parent.Child(action) != null; i++)      // the number of a node changes with the root
                action = Random.Untried(parent.Number, parent.Count, i);
            return Grow(parent, action);
        }

        private SearchNode Grow(SearchNode parent, int action)
        {
            Model.Restore(parent.State);
            Model.Apply(action);
            SearchNode child = NewNode(parent, action);
            Describe(child, Model.Save());
            return child;
        }

        /// <summary>Keeps the model's state at a node.</summary>
        private void Describe(SearchNode node, object state)
        {
            node.State = state;
            if (Selection.IsFormula)
                node.Metrics = Play.Measured(CountAt(node) == 0);
        }

        /// <summary>The number of choices in the model's state, which is that of a node; 0 where the playthrough ends.</summary>
        private int CountAt(SearchNode node) => node.Depth < Reach ? Model.Count : 0;

        /// <summary>Makes the choice that a rollout drew a child, if it is none, and counts the result there.</summary>
        private void Draw(SearchNode parent, int action, double utility)
        {
            SearchNode child = parent.Child(action);
            if (child == null && !HasRoom)
                return;
            child = child ?? Grow(parent, action);
            child.Enter(utility);
            if (child.Count != SearchNode.Unknown)
                return;
            Model.Restore(child.State);
            Reveal(child, CountAt(child));
        }

        /// <summary>Goes on from the model's state by the rollout's rule; returns the utility of where that ends.</summary>
        private double Simulate(SearchNode node, ulong seed)
        {
            var choices = new SplitMix64(seed);
            rolled.Clear();
            int length = Math.Min(Rules.RolloutLength, Reach - node.Depth);
            for (int count = Model.Count; count > 0 && rolled.Count < length; count = Model.Count)
            {
                if (!Rules.IsConnected)
                    Consider(node, Play.Utility());
                int choice = Play.Roll(count, Made + node.Depth + rolled.Count, choices);
                Model.Apply(choice);
                rolled.Add(choice);
            }
            double utility = Play.Utility();
            Consider(node, utility);
            return utility;
        }

        /// <summary>Keeps the plan to here if it is the best one: by utility, then the shorter one.</summary>
        private void Consider(SearchNode node, double utility)
        {
            bool isBetter = planNode == null || utility > PlanUtility;
            if (!isBetter && (Rules.IsConnected || utility < PlanUtility
                || node.Depth + rolled.Count >= planNode.Depth + planRolled.Count))
                return;
            PlanUtility = utility;
            planNode = node;
            planRolled.Clear();
            planRolled.AddRange(rolled);
        }

        /// <summary>Fills in the number of choices at a node, and closes what has nothing new below it.</summary>
        private void Reveal(SearchNode node, int count)
        {
            if (node.Count != SearchNode.Unknown)
                return;
            node.Count = count;
            int horizon = Horizon;
            for (; node != null && !node.IsClosed; node = node.Parent)
            {
                bool isLeaf = node.Count == 0 || node.Depth >= horizon;
                if (!isLeaf && (node.Children.Count < node.Count || node.Children.Exists(child => !child.IsClosed)))
                    return;
                node.IsClosed = true;
            }
        }
    }
}
