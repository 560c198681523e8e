using System;
using System.Collections.Generic;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// A game in which choices can be made and taken back. Policy files that play inside the game need it, and so do the
    /// driver's lookahead (mode 2) and save-states.
    /// </summary>
    public interface IForwardModel
    {
        /// <summary>How many choices there are now, 0 when the game is over.</summary>
        int Count { get; }

        /// <summary>Makes a choice, 0 to Count - 1, and goes on to the next decision or the end.</summary>
        void Apply(int choice);

        /// <summary>Writes the metrics of the state, in the order in which they were declared.</summary>
        void Measure(double[] values);

        /// <summary>The outcome that the game would supply if it ended here.</summary>
        double Score { get; }

        /// <summary>
        /// Returns everything that makes up the state, random numbers included. Later choices must not change it.
        /// </summary>
        object Save();

        /// <summary>Goes back to a state that Save returned, any number of times.</summary>
        void Restore(object state);
    }

    /// <summary>A forward model whose choices have weights, for policies that were evolved with rollouts by weights.</summary>
    public interface IWeightedModel : IForwardModel
    {
        /// <summary>How likely a rollout should take each choice of the state; null where all are alike.</summary>
        double[] Weights();
    }

    /// <summary>
    /// A forward model that can start a playthrough of any seed, for policies that were evolved with several seeds
    /// (deterministic = false in the game's description). Restore goes back to states of other seeds, too.
    /// </summary>
    public interface ISeededModel : IForwardModel
    {
        /// <summary>Sets up the present level as if the session's GameSeed were this seed.</summary>
        void Begin(ulong seed);
    }

    /// <summary>A game that can only be started again from the beginning: see ReplayModel.</summary>
    public interface IReplayable
    {
        /// <inheritdoc cref="IForwardModel.Count"/>
        int Count { get; }

        /// <inheritdoc cref="IForwardModel.Score"/>
        double Score { get; }

        /// <inheritdoc cref="IForwardModel.Apply"/>
        void Apply(int choice);

        /// <inheritdoc cref="IForwardModel.Measure"/>
        void Measure(double[] values);

        /// <summary>Goes back to the start of this playthrough, with the same seed.</summary>
        void Reset();
    }

    /// <summary>Makes a forward model of a game without save and restore: it starts anew and replays its choices.</summary>
    public sealed class ReplayModel : IForwardModel
    {
        private readonly IReplayable game;
        private readonly List<int> made = new List<int>();

        /// <param name="game">The game at its start, before the first choice that is to be replayed.</param>
        public ReplayModel(IReplayable game)
        {
            this.game = game;
        }

        /// <inheritdoc/>
        public int Count => game.Count;

        /// <inheritdoc/>
        public double Score => game.Score;

        /// <inheritdoc/>
        public void Apply(int choice)
        {
            game.Apply(choice);
            made.Add(choice);
        }

        /// <inheritdoc/>
        public void Measure(double[] values)
        {
            game.Measure(values);
        }

        /// <inheritdoc/>
        public object Save() => made.ToArray();

        /// <inheritdoc/>
        public void Restore(object state)
        {
            var wanted = (int[])state;
            if (Begins(wanted))
                return;
            game.Reset();
            made.Clear();
            foreach (int choice in wanted)
                Apply(choice);
        }

        private bool Begins(int[] wanted)
        {
            if (wanted.Length != made.Count)
                return false;
            for (int i = 0; i < wanted.Length; i++)
                if (wanted[i] != made[i])
                    return false;
            return true;
        }
    }

    /// <summary>Makes the choices of a game that runs without a driver.</summary>
    public interface IPlayer
    {
        /// <summary>A playthrough begins; the game is about to set itself up.</summary>
        void Begin();

        /// <summary>A choice, 0 to count - 1; weights is null where the game gives none.</summary>
        int Choose(int count, double[] weights);
    }
}
