using System;

namespace PersonaEvo.Playtest
{
    /// <summary>How a rollout chooses.</summary>
    public enum RolloutRule
    {
        /// <summary>All choices are equally likely.</summary>
        Uniform,
        /// <summary>By the weights of the game, where it gives some: see IWeightedModel.</summary>
        Weights,
        /// <summary>The choice after which a formula is highest.</summary>
        Policy
    }

    /// <summary>
    /// The search that a policy was evolved under, as its file says. A policy is only as good as it was in the evolution
    /// where it steers the same search.
    /// </summary>
    public sealed class EvolvedSearch
    {
        internal EvolvedSearch()
        {
            RolloutLength = 10;
            CutOff = true;
            Slots = 1;
            Temperature = 1.0;
        }

        /// <summary>
        /// Whether the game was connected to the driver: rollouts go to the end of the game, and only ends are compared.
        /// </summary>
        public bool IsConnected { get; private set; }

        /// <summary>
        /// Whether each move has a search of its own. If not, and if the game was connected, a single search looks for the
        /// best way to play the whole game, which is then followed.
        /// </summary>
        public bool IsPerMove { get; private set; }

        /// <summary>Iterations of a search; 0 where the file does not say.</summary>
        public int Iterations { get; private set; }

        /// <summary>Whether Iterations is for each choice that there is, and not for the whole search.</summary>
        public bool IsPerChoice { get; private set; }

        /// <summary>Choices that a rollout makes at most.</summary>
        public int RolloutLength { get; private set; }

        public RolloutRule Rollouts { get; private set; }

        /// <summary>The formula that rollouts choose by under RolloutRule.Policy, else null.</summary>
        public Formula RolloutFormula { get; internal set; }

        /// <summary>
        /// Rollouts that are under way at once. Those under way count as visits with the lowest utility seen, so that the
        /// next one goes elsewhere.
        /// </summary>
        public int Slots { get; private set; }

        /// <summary>
        /// Choices from which a decision is searched by some of its choices first, which rollouts from there draw; 0 for
        /// never.
        /// </summary>
        public int Widening { get; private set; }

        /// <summary>Whether R is the mean alone.</summary>
        public bool MeanOnly { get; private set; }

        /// <summary>Whether subtrees in which nothing new can be found are closed.</summary>
        public bool CutOff { get; private set; }

        /// <summary>Whether untried choices are taken in random order, and not in that of the game.</summary>
        public bool IsExpandedAtRandom { get; private set; }

        /// <summary>Decisions after which a playthrough was cut off; 0 where the file does not say.</summary>
        public int MaxDecisions { get; private set; }

        /// <summary>Choices from the root to the deepest node at most, 0 for no limit of their own.</summary>
        public int Horizon { get; private set; }

        /// <summary>Whether the constant of UCB1 stands inside the root.</summary>
        public bool IsConstantInside { get; private set; }

        /// <summary>Whether UCB1 with its own constant divides utilities by the range of those seen.</summary>
        public bool IsNormalised { get; private set; }

        /// <summary>Share of the moves that are mistakes, from 0 to 1.</summary>
        public double Errors { get; private set; }

        /// <summary>How little a mistake depends on what a move is worth, above 0.</summary>
        public double Temperature { get; private set; }

        /// <exception cref="JsonException">A value is out of range or unknown.</exception>
        internal static EvolvedSearch Read(JsonValue file)
        {
            JsonValue search = file["search"], connected = file["connected"], skill = file["skill"];
            var found = new EvolvedSearch();
            found.Iterations = Whole(file["budget"], "iterations", 0, 0);
            found.MeanOnly = search["value"].AsString() == "mean";
            found.CutOff = search["terminal"].AsString("cut_off") == "cut_off";
            found.IsExpandedAtRandom = search["expansion"].AsString() == "random";
            found.Horizon = Whole(search, "horizon", 0, 0);
            found.RolloutLength = Whole(search, "rollout", 0, found.RolloutLength);
            found.IsConnected = connected.Kind == JsonKind.Object;
            if (found.IsConnected)
            {
                found.RolloutLength = int.MaxValue;
                found.Rollouts = Rule(connected["rollout"].AsString("uniform"));
                found.Slots = Whole(connected, "slots", 1, 1);
                found.Widening = Whole(connected, "widening", 0, 0);
                found.IsConstantInside = connected["constant"].AsString() == "inside";
                found.IsNormalised = connected["scores"].AsString() == "normalised";
                found.MaxDecisions = Whole(connected, "max_decisions", 1, 0);
                found.Horizon = found.Horizon > 0 ? found.Horizon : Whole(connected, "horizon", 1, 0);
            }
            found.IsPerMove = skill["iterations"].Kind == JsonKind.Number;
            if (!found.IsPerMove)
                return found;
            found.CutOff &= !found.IsConnected;
            found.IsPerChoice = skill["per_legal_move"].AsBool();
            found.Iterations = found.Iterations > 0 ? found.Iterations : Whole(skill, "iterations", 1, 0);
            int sight = Whole(skill, "sight", 1, int.MaxValue);
            found.Horizon = found.Horizon == 0 ? sight : Math.Min(sight, found.Horizon);
            found.Errors = skill["errors"].AsDouble();
            found.Temperature = skill["temperature"].AsDouble(1.0);
            if (!(found.Errors >= 0.0 && found.Errors <= 1.0 && found.Temperature > 0.0))
                throw new JsonException("the policy's skill has errors " + found.Errors + " and temperature " + found.Temperature
                    + ", expected a share from 0 to 1 and a number above 0");
            return found;
        }

        private static RolloutRule Rule(string name)
        {
            switch (name)
            {
                case "uniform": return RolloutRule.Uniform;
                case "weights": return RolloutRule.Weights;
                case "policy": return RolloutRule.Policy;
                default: throw new JsonException("the policy's rollouts are '" + name + "', expected uniform, weights or policy");
            }
        }

        private static int Whole(JsonValue from, string name, int low, int otherwise)
        {
            JsonValue value = from[name];
            if (value.Kind == JsonKind.Null)
                return otherwise;
            int found = value.AsInt(low - 1);
            if (found < low)
                throw new JsonException("the policy's " + name + " is not a whole number of at least " + low);
            return found;
        }
    }
}
