using System;
using System.Linq;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// A forward model as searches play it: by the rule of their rollouts, and with metrics as a driver would get them.
    /// </summary>
    internal sealed class Simulation
    {
        internal readonly IForwardModel Model;
        private readonly Formula utility;
        private readonly IWeightedModel weighted;
        private readonly Scorer rollout;
        private readonly double[] measured;

        internal Simulation(IForwardModel model, Policy policy, int metrics)
        {
            Model = model;
            utility = policy.Utility;
            weighted = policy.Evolved.Rollouts == RolloutRule.Weights ? (IWeightedModel)model : null;
            rollout = policy.Evolved.RolloutFormula == null ? null : new Scorer(policy.Evolved.RolloutFormula, metrics);
            measured = new double[metrics + 1];
        }

        /// <summary>Returns the next choice of a rollout.</summary>
        /// <param name="made">Choices since the start of the game.</param>
        internal int Roll(int count, int made, SplitMix64 choices)
        {
            if (rollout != null)
                return Lookahead.Best(Model, rollout, made, true);
            double[] weights = weighted == null ? null : weighted.Weights();
            return weights == null ? choices.Below(count) : choices.Weighted(weights);
        }

        /// <summary>Returns the weights of so many choices, or ones where the model gives none.</summary>
        internal double[] WeightsOf(int count) => weighted.Weights() ?? Enumerable.Repeat(1.0, count).ToArray();

        /// <summary>What the state is worth if the game ends here.</summary>
        internal double Utility() => utility == null ? Model.Score : utility.Evaluate(Measure(true));

        /// <summary>Returns the metrics and, behind them, SCORE: the game's score if it is over, else 0.</summary>
        internal double[] Measured(bool isOver) => (double[])Measure(isOver).Clone();

        private double[] Measure(bool isOver)
        {
            int score = measured.Length - 1;
            Model.Measure(measured);
            for (int i = 0; i < score; i++)
                measured[i] = MetricTable.ToWire(measured[i]);
            measured[score] = isOver ? Model.Score : 0.0;
            return measured;
        }
    }
}
