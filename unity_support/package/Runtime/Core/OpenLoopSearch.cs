using System;
using System.Collections.Generic;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// A tree search that averages over several worlds, which are seeds of the game, as the driver's does. A node stands for
    /// the same choices in all worlds, which may lead to different states. Each rollout plays one world from its start.
    /// </summary>
    internal sealed class OpenLoopSearch : TreeSearch
    {
        /// <summary>
        /// A rollout of a world: its choices so far, and whether it shows if the world agrees with what was seen.
        /// </summary>
        internal sealed class WorldOrder : Order
        {
            internal int World;
            internal Line Prefix;
            internal bool IsProbe;
            internal object Start;
        }

        /// <summary>
        /// The share of the rollouts for a move that may be spent on seeds that do not agree with what was seen.
        /// </summary>
        private const double Failures = 0.2;
        /// <summary>The number of such rollouts for each world where only the time for a move is limited.</summary>
        private const int Tries = 8;

        private readonly ISeededModel game;
        private readonly Worlds worlds;
        private readonly object[] starts;
        private Line seen;
        private int misfits, decisions, played;

        internal OpenLoopSearch(ISeededModel model, Policy policy, int metrics, SearchSettings settings)
            : base(policy, metrics, settings, model)
        {
            game = model;
            starts = new object[Rules.Seeds];
            worlds = new Worlds(Rules.Seeds, new SplitMix64(SearchRandom.Derived(settings.Seed, "str:worlds")));
        }

        /// <summary>Rollouts that count towards the budget: also those that were of no use.</summary>
        internal override int Spent => Iterations + misfits;

        /// <summary>The mean number of decisions of the rollouts after what was seen, at least 1.</summary>
        internal double DecisionsLeft => Math.Max(1.0, (double)decisions / Math.Max(1, played));

        /// <summary>Counts a rollout that only shows what the player sees; returns the seed of its choices.</summary>
        internal ulong Glance()
        {
            misfits++;
            return Random.Rollouts.Next();
        }

        /// <summary>Begins a new tree at what the player sees.</summary>
        /// <param name="now">The metrics, and how many choices there are.</param>
        /// <param name="rollouts">The rollouts for the move, 0 if only the time is limited.</param>
        internal void Look(Line now, int rollouts)
        {
            seen = now;
            Made = now.Made;
            decisions = played = 0;
            Array.Clear(starts, 0, starts.Length);
            worlds.Look(now, rollouts == 0 ? Tries * Rules.Seeds : Math.Max(1, (int)(Failures * rollouts)));
            Clear(int.MaxValue);
            Root.Count = now.Counts[now.Made];
        }

        /// <summary>Makes rollouts in the present tree. The model is in its state again afterwards.</summary>
        internal void SpendHere(int rollouts)
        {
            object state = Model.Save();
            Spend(rollouts);
            Model.Restore(state);
            Root.Count = seen.Counts[seen.Made];
        }

        internal override Order Send()
        {
            int world = worlds.Next();
            if (world < 0)
                return null;
            SearchNode node = Descend(world);
            var order = new WorldOrder { Node = node, World = world, Seed = Random.Rollouts.Next(), Repeated = node.Ends[world] };
            if (!double.IsNaN(order.Repeated))
                return order;
            int count = node.Counts[world] == SearchNode.Unknown ? node.Count : node.Counts[world];
            order.Draws = Selection.IsWide(count) && node.Depth < Horizon;
            order.Prefix = PrefixOf(node, world);
            order.IsProbe = worlds.BeginProbe(world);
            return order;
        }

        internal override void Receive(Order sent)
        {
            var order = (WorldOrder)sent;
            if (!double.IsNaN(order.Repeated))
            {
                Iterations++;
                order.Node.BackUp(order.Repeated);
                return;
            }
            Line line = Simulate(order);
            if (order.IsProbe && !worlds.Accept(order, line))
            {
                misfits++;
                worlds.TakeSecondBest((best, result) =>
                {
                    misfits--;
                    Enter(best, result);
                });
                return;
            }
            Enter(order, line);
        }

        internal override SearchNode NewNode(SearchNode parent, int action)
        {
            SearchNode node = base.NewNode(parent, action);
            node.Counts = new int[Rules.Seeds];
            node.Ends = new double[Rules.Seeds];
            for (int world = 0; world < Rules.Seeds; world++)
            {
                node.Counts[world] = SearchNode.Unknown;
                node.Ends[world] = double.NaN;
            }
            return node;
        }

        private SearchNode Descend(int world)
        {
            SearchNode node = Root;
            int horizon = Horizon;
            while (true)
            {
                int count = CountIn(node, world);
                if (count <= 0 || node.Depth >= horizon)
                    return node;
                int fresh = count;
                foreach (SearchNode child in node.Children)
                {
                    child.IsClosed = child.Action >= count;
                    fresh -= child.IsClosed ? 0 : 1;
                }
                bool isWide = Selection.IsWide(count);
                if (isWide && NextDraws(node))
                    return node;
                if (!isWide && fresh > 0)
                    return HasRoom ? NewNode(node, Fresh(node, fresh)) : node;
                SearchNode unused = node.Children.Find(child => !child.IsClosed && child.Visits + child.Pending == 0);
                if (unused != null)
                    return unused;
                SearchNode best = Selection.Best(node, true);
                if (best == null)
                    return node;
                node = best;
            }
        }

        /// <summary>The number of choices at a node in a world, as far as it is known or can be guessed, else Unknown.</summary>
        private static int CountIn(SearchNode node, int world) =>
            node.Counts[world] == SearchNode.Unknown && node.Count > 0 ? node.Count : node.Counts[world];

        /// <summary>Returns one of so many choices without a child: the first, or any.</summary>
        private int Fresh(SearchNode node, int fresh)
        {
            int left = Rules.IsExpandedAtRandom ? Random.Below(fresh) : 0;
            for (int choice = 0; ; choice++)
                if (node.Child(choice) == null && left-- == 0)
                    return choice;
        }

        /// <summary>The choices that lead to a node from the start of the game, and how many are expected in a world.</summary>
        private Line PrefixOf(SearchNode node, int world)
        {
            var prefix = new Line();
            for (; node.Parent != null; node = node.Parent)
            {
                prefix.Choices.Add(node.Action);
                prefix.Counts.Add(CountIn(node.Parent, world));
            }
            prefix.Choices.Reverse();
            prefix.Counts.Reverse();
            prefix.Choices.InsertRange(0, seen.Choices);
            prefix.Counts.InsertRange(0, seen.Counts.GetRange(0, seen.Made));
            return prefix;
        }

        /// <summary>Plays a rollout in its world. A world that agrees with what was seen begins there.</summary>
        private Line Simulate(WorldOrder order)
        {
            var line = new Line();
            var choices = new SplitMix64(order.Seed);
            Line prefix = order.Prefix;
            int end = Made + Reach;
            if (starts[order.World] == null)
                game.Begin(worlds.Seeds[order.World]);
            else
            {
                Model.Restore(starts[order.World]);
                line.Choices.AddRange(seen.Choices);
                line.Counts.AddRange(prefix.Counts.GetRange(0, seen.Made));
                line.Rows.AddRange(new double[seen.Made][]);
            }
            while (true)
            {
                int made = line.Made, count = made < end ? Model.Count : 0;
                bool isPrescribed = made < prefix.Made, isRead = made <= prefix.Made + 1 || count == 0;
                if (made == seen.Made && order.IsProbe)
                    order.Start = Model.Save();
                line.See(count, isRead ? Play.Measured(count == 0) : null);
                line.IsCut = isPrescribed && (count != prefix.Counts[made] || prefix.Choices[made] >= count);
                if (count == 0 && !isPrescribed)
                    break;
                line.Choices.Add(isPrescribed ? prefix.Choices[made] : Play.Roll(count, made, choices));
                if (line.IsCut)
                    return line;
                Model.Apply(line.Choices[made]);
            }
            line.Utility = Play.Utility();
            return line;
        }

        /// <summary>Enters a result into the tree; of a rollout that was cut, only the numbers of choices.</summary>
        private void Enter(WorldOrder order, Line line)
        {
            starts[order.World] = order.Start ?? starts[order.World];
            if (line.IsCut)
            {
                misfits++;
                Learn(order.Node, order.World, line);
                return;
            }
            int depth = order.Prefix.Made;
            Selection.See(line.Utility);
            decisions += line.Made - seen.Made;
            played++;
            Describe(order.Node, order.World, line);
            order.Node.BackUp(line.Utility);
            Iterations++;
            if (order.Draws && line.Made > depth)
                Adopt(order, line.Choices[depth], line);
        }

        /// <summary>Makes the choice that was drawn at a wide node a child, if it is none, and counts the result there.</summary>
        private void Adopt(WorldOrder order, int choice, Line line)
        {
            SearchNode child = order.Node.Child(choice);
            if (child == null && !HasRoom)
                return;
            child = child ?? NewNode(order.Node, choice);
            child.Enter(line.Utility);
            Describe(child, order.World, line);
        }

        /// <summary>Keeps what a rollout shows of a node that it passed.</summary>
        private void Describe(SearchNode node, int world, Line line)
        {
            int at = seen.Made + node.Depth;
            Learn(node, world, line);
            if (Selection.IsFormula)
                node.Metrics = line.Rows[at];
            if (line.Counts[at] == 0)
                node.Ends[world] = line.Utility;
        }

        /// <summary>Keeps the numbers of choices on the way to a node in a world, as far as a rollout shows them.</summary>
        private void Learn(SearchNode node, int world, Line line)
        {
            for (; node != null; node = node.Parent)
                if (seen.Made + node.Depth < line.Counts.Count)
                    node.Count = node.Counts[world] = line.Counts[seen.Made + node.Depth];
        }
    }
}
