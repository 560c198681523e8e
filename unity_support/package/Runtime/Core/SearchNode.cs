using System;
using System.Collections.Generic;

namespace PersonaEvo.Playtest
{
    /// <summary>A node of a search tree: choices from the root, with the results of the rollouts through it.</summary>
    internal sealed class SearchNode
    {
        /// <summary>The number of choices where no rollout has come back yet.</summary>
        internal const int Unknown = -1;

        internal readonly List<SearchNode> Children = new List<SearchNode>();
        internal readonly int Action;
        internal SearchNode Parent;

        /// <summary>The place in the order in which nodes were made.</summary>
        internal int Number;
        internal int Depth;

        /// <summary>The number of choices: Unknown, or 0 where the game is over.</summary>
        internal int Count = Unknown;

        /// <summary>Results, rollouts under way, and rollouts that were to draw a choice here.</summary>
        internal int Visits, Pending, Draws;
        internal double Total, Squares, Best = double.NegativeInfinity;

        /// <summary>
        /// Whether nothing new can be found below, or, in a search of several worlds, this choice is not there now.
        /// </summary>
        internal bool IsClosed;

        /// <summary>The weight of the choice as a share of the largest one at the parent, 1 if that is not known.</summary>
        internal double Prior = 1.0;

        /// <summary>Choices without a child, with their priors, the next one first; null before the weights are known.</summary>
        internal Queue<KeyValuePair<int, double>> InOrder;

        /// <summary>Whether a rollout was sent that tells the weights.</summary>
        internal bool IsAsked;

        /// <summary>The metrics and SCORE, if the tree policy reads any.</summary>
        internal double[] Metrics;

        /// <summary>The model's state; null in a search of several worlds.</summary>
        internal object State;

        /// <summary>
        /// In a search of several worlds, for each the number of choices, and the utility where the game is over, else NaN.
        /// </summary>
        internal int[] Counts;
        internal double[] Ends;

        internal SearchNode(SearchNode parent, int action, int number)
        {
            Parent = parent;
            Action = action;
            Number = number;
            if (parent == null)
                return;
            Depth = parent.Depth + 1;
            parent.Children.Add(this);
        }

        internal double Mean => Total / Visits;

        internal SearchNode Child(int action) => Children.Find(child => child.Action == action);

        /// <summary>Counts one rollout more (1) or fewer (-1) as under way, here and above.</summary>
        internal void Await(int change)
        {
            for (SearchNode node = this; node != null; node = node.Parent)
                node.Pending += change;
        }

        /// <summary>Adds a result to this node and to all above it.</summary>
        internal void BackUp(double utility)
        {
            for (SearchNode node = this; node != null; node = node.Parent)
                node.Enter(utility);
        }

        /// <summary>Adds a result to this node alone.</summary>
        internal void Enter(double utility)
        {
            Visits++;
            Total += utility;
            Squares += utility * utility;
            Best = Math.Max(Best, utility);
        }
    }
}
