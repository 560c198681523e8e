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
        private bool hasNodeLimit;

        internal EvolvedSearch()
        {
            RolloutLength = 10;
            CutOff = true;
            Slots = 1;
            Answer = FinalChoice.Plan;
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

        /// <summary>Whether the search for a move goes on with what the tree of the move before holds, as agents do.</summary>
        public bool KeepsTree { get; private set; }

        /// <summary>
        /// Seeds that a search averages over, so that it does not know what the player cannot know, such as dice and hidden
        /// traps; 0 for a search with the seed of the game itself. The model has to be an ISeededModel.
        /// </summary>
        public int Seeds { get; private set; }

        /// <summary>Which choice a search ends in.</summary>
        public FinalChoice Answer { get; private set; }

        /// <summary>Iterations of a search; 0 where the file does not say.</summary>
        public int Iterations { get; private set; }

        /// <summary>Milliseconds of a search, 0 for no limit.</summary>
        public int Milliseconds { get; private set; }

        /// <summary>Whether Iterations is for each choice that there is, and not for the whole search.</summary>
        public bool IsPerChoice { get; private set; }

        /// <summary>Choices that a rollout makes at most.</summary>
        public int RolloutLength { get; private set; }

        /// <summary>How rollouts choose.</summary>
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

        /// <summary>Whether these choices are taken in the order of the game's weights, and not drawn.</summary>
        public bool HasPriors { get; private set; }

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

        /// <summary>Moves that a player of limited skill looks ahead, 0 for no limit.</summary>
        public int Sight { get; private set; }

        /// <summary>Whether the constant of UCB1 stands inside the root.</summary>
        public bool IsConstantInside { get; private set; }

        /// <summary>Whether UCB1 with its own constant divides utilities by the range of those seen.</summary>
        public bool IsNormalised { get; private set; }

        /// <summary>Share of the moves that are mistakes, from 0 to 1.</summary>
        public double Errors { get; private set; }

        /// <summary>Why the search cannot be played here, null if it can.</summary>
        private string Unplayable { get; set; }

        /// <summary>How little a mistake depends on what a move is worth, above 0.</summary>
        public double Temperature { get; private set; }

        /// <exception cref="JsonException">A value is out of range or unknown.</exception>
        internal static EvolvedSearch Read(JsonValue file)
        {
            JsonValue connected = file["connected"], skill = file["skill"], agent = file["agent"];
            bool isSkilled = skill["iterations"].Kind == JsonKind.Number, isAgent = agent.Kind == JsonKind.Object;
            var found = new EvolvedSearch { IsPerMove = isSkilled || isAgent, IsConnected = connected.Kind == JsonKind.Object };
            found.ReadBudget(file["budget"]);
            if (!isSkilled || !found.IsConnected)
                found.ReadSearch(isAgent ? agent["search"] : file["search"]);
            if (found.IsConnected)
                found.ReadConnected(connected);
            if (isSkilled)
                found.ReadSkill(skill);
            else if (isAgent)
                found.ReadAgent(agent);
            found.CutOff &= !(found.IsConnected && found.IsPerMove);
            if (found.Seeds > 0 && !found.IsPerMove)
                found.Answer = FinalChoice.Visits;
            found.Unplayable = found.Unplayable ?? WhyNot(file);
            return found;
        }

        /// <summary>Refuses what cannot be played here.</summary>
        /// <exception cref="PlaytestException">The message says what, and what to do.</exception>
        internal void Check(Policy policy, IForwardModel model, SearchSettings settings)
        {
            string why = Unplayable;
            if (Seeds > 0 && !(model is ISeededModel))
                why = "it averages over " + Seeds + " seeds: the model has to be an ISeededModel";
            else if ((HasPriors || Rollouts == RolloutRule.Weights) && !(model is IWeightedModel))
                why = "its rollouts go by the weights of choices: the model has to be an IWeightedModel";
            else if (hasNodeLimit && settings.Iterations == 0)
                why = "its budget is a number of nodes: set Iterations";
            else if (Seeds > 0 && !IsPerMove && Iterations == 0 && settings.Iterations == 0)
                why = "it shares a number of seconds among all moves: set Iterations";
            if (why != null)
                throw new PlaytestException("policy " + policy.Name + " was evolved under a search that cannot be played here; "
                    + why);
        }

        private void ReadBudget(JsonValue budget)
        {
            Iterations = Whole(budget, "iterations", 0, 0);
            Milliseconds = (int)Math.Min(int.MaxValue, Math.Ceiling(1000.0 * budget["seconds"].AsDouble()));
            hasNodeLimit = budget["nodes"].Kind == JsonKind.Number;
        }

        private void ReadSearch(JsonValue search)
        {
            MeanOnly = search["value"].AsString() == "mean";
            CutOff = search["terminal"].AsString("cut_off") == "cut_off";
            IsExpandedAtRandom = search["expansion"].AsString() == "random";
            Horizon = Whole(search, "horizon", 0, 0);
            RolloutLength = Whole(search, "rollout", 0, RolloutLength);
        }

        private void ReadConnected(JsonValue connected)
        {
            RolloutLength = int.MaxValue;
            Rollouts = Rule(connected["rollout"].AsString("uniform"));
            Slots = Whole(connected, "slots", 1, 1);
            Widening = Whole(connected, "widening", 0, 0);
            HasPriors = connected["priors"].AsBool();
            Seeds = Whole(connected, "seeds", 1, 0);
            IsConstantInside = connected["constant"].AsString() == "inside";
            IsNormalised = connected["scores"].AsString() == "normalised";
            MaxDecisions = Whole(connected, "max_decisions", 1, 0);
            Horizon = Horizon > 0 ? Horizon : Whole(connected, "horizon", 1, 0);
        }

        private void ReadSkill(JsonValue skill)
        {
            IsPerChoice = skill["per_legal_move"].AsBool();
            Iterations = Iterations > 0 ? Iterations : Whole(skill, "iterations", 1, 0);
            Sight = Whole(skill, "sight", 1, int.MaxValue);
            Answer = FinalChoice.Visits;
            Errors = skill["errors"].AsDouble();
            Temperature = skill["temperature"].AsDouble(1.0);
            if (!(Errors >= 0.0 && Errors <= 1.0 && Temperature > 0.0))
                throw new JsonException("the policy's skill has errors " + Errors + " and temperature " + Temperature
                    + ", expected a share from 0 to 1 and a number above 0");
        }

        private void ReadAgent(JsonValue agent)
        {
            Iterations = Iterations > 0 || Milliseconds > 0 ? Iterations : Whole(agent, "iterations", 1, 0);
            KeepsTree = Seeds == 0;
            switch (agent["answer"].AsString("visits"))
            {
                case "visits": Answer = FinalChoice.Visits; break;
                case "mean": Answer = FinalChoice.Mean; break;
                case "max": Answer = FinalChoice.Highest; break;
                default: Unplayable = "its agent chooses moves by a formula"; break;
            }
        }

        /// <summary>Returns why only the driver can play the search of a policy file, or null if that is not so.</summary>
        private static string WhyNot(JsonValue file)
        {
            JsonValue agent = file["agent"], search = agent.Kind == JsonKind.Object ? agent["search"] : file["search"];
            string variant = agent["variant"].AsString(search["variant"].AsString()), rule = search["selection_rule"].AsString();
            bool isPerMove = agent.Kind == JsonKind.Object || file["skill"].Kind == JsonKind.Object;
            if (file["run"]["opponents"].Items.Count > 0)
                return "it is for a game of two players";
            if (variant.Length > 0)
                return "it plays the variant '" + variant + "' of the rules";
            if (rule.Length > 0)
                return "it uses the selection rule '" + rule + "' of another package";
            if (search["rollout_policy"].AsString("random") != "random")
                return "it uses the rollout policy '" + search["rollout_policy"].AsString() + "' of another package";
            if (file["connected"].Kind == JsonKind.Object && !isPerMove && search["stop"].AsString() == "first_win")
                return "it ends at the first win, and its file does not say what a win is";
            return null;
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
