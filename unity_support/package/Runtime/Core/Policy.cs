using System;
using System.Collections.Generic;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// What scores the children of a node in a tree search: UCB1, or an evolved formula over the game's metrics and the
    /// search's variables. Policy files of persona-evo also say under which search the formula was evolved, and
    /// <see cref="TreeSearchPlayer"/> plays by exactly that search.
    /// </summary>
    public sealed class Policy
    {
        /// <summary>
        /// What a formula may read beside the metrics of the child's state: R, its utility estimate (0.75 mean + 0.25
        /// maximum, or the mean); N and P, the visits of the child and of its parent; D, its depth; RMAX and RSD, the
        /// largest utility and the standard deviation of the utilities that were backed up through it.
        /// </summary>
        public static readonly string[] SearchVariables = { "R", "N", "P", "D", "RMAX", "RSD" };

        /// <summary>
        /// The metric that every connected game has without declaring it: its score once the game is over, 0 before.
        /// A game that declares a metric of this name keeps its own.
        /// </summary>
        public const string Score = "SCORE";

        private const int Schema = 1;

        private Policy()
        {
            Name = "ucb1";
            Game = "";
            Constant = Math.Sqrt(2.0);
            Evolved = new EvolvedSearch();
        }

        /// <summary>The name of its file.</summary>
        public string Name { get; private set; }

        /// <summary>The game that the policy was evolved in.</summary>
        public string Game { get; private set; }

        /// <summary>The formula; null for UCB1.</summary>
        public Formula Formula { get; private set; }

        /// <summary>The constant of UCB1.</summary>
        public double Constant { get; private set; }

        /// <summary>What the persona wants, over the metrics and SCORE; null where it wants the game's score.</summary>
        public Formula Utility { get; private set; }

        /// <summary>The search that the policy was evolved under.</summary>
        public EvolvedSearch Evolved { get; private set; }

        /// <summary>UCB1, mean + c sqrt(ln P / N).</summary>
        /// <param name="c">The constant: larger values explore more.</param>
        /// <param name="utility">A formula over the metrics and SCORE; "" for the game's score.</param>
        /// <param name="symbols">The metrics of this game, in their order; null for none.</param>
        /// <exception cref="FormulaException">The utility is not a formula over these symbols.</exception>
        public static Policy Ucb1(double c = 1.4142135623730951, string utility = "", IList<string> symbols = null)
        {
            if (!(c >= 0.0) || double.IsInfinity(c))
                throw new ArgumentOutOfRangeException("c", c, "the constant of UCB1 is a finite number >= 0");
            var policy = new Policy { Constant = c };
            if (!string.IsNullOrEmpty(utility))
                policy.Utility = Formula.Parse(utility, WithScore(symbols ?? new string[0]));
            return policy;
        }

        /// <summary>Whether a node's score never changes, because the formula reads none of the search's variables.</summary>
        internal bool IsStatic =>
            Formula != null && Array.TrueForAll(SearchVariables, name => !Formula.Symbols.Contains(name));

        /// <summary>Reads a policy file.</summary>
        /// <param name="json">The file's text.</param>
        /// <param name="symbols">The metrics of this game, in their order.</param>
        /// <param name="utility">A utility that replaces the file's own; null keeps the file's.</param>
        /// <exception cref="JsonException">The text is not JSON, or not a policy that this version reads.</exception>
        /// <exception cref="FormulaException">A formula reads metrics that the game does not have.</exception>
        public static Policy Read(string json, IList<string> symbols, string utility = null)
        {
            JsonValue file = JsonValue.Parse(json);
            if (file.Kind != JsonKind.Object || file["schema"].AsInt() != Schema)
                throw new JsonException("not a policy file of schema " + Schema + "; policies are written by persona-evo evolve");
            string kind = file["kind"].AsString();
            if (kind != "ucb1" && kind != "formula")
                throw new JsonException("a policy of kind '" + kind + "', expected ucb1 or formula");
            string wanted = utility ?? file["utility"].AsString();
            var policy = new Policy { Constant = file["c"].AsDouble(Math.Sqrt(2.0)) };
            policy.Name = file["name"].AsString("policy");
            policy.Game = file["game"].AsString();
            if (!(policy.Constant >= 0.0))
                throw new JsonException("the policy's constant c is " + policy.Constant + ", expected a number >= 0");
            if (wanted.Length > 0)
                policy.Utility = policy.Parse("utility", wanted, WithScore(symbols));
            if (kind == "formula")
                policy.Formula = policy.Parse("formula", Best(file), Variables(symbols));
            policy.Evolved = EvolvedSearch.Read(file);
            if (policy.Evolved.Rollouts == RolloutRule.Policy)
                policy.Evolved.RolloutFormula = policy.Parse("rollout policy", file["connected"]["policy"].AsString(),
                    Variables(symbols));
            return policy;
        }

        /// <summary>Every symbol that a tree policy may read: the metrics, SCORE, then the search's variables.</summary>
        public static IList<string> Variables(IList<string> symbols)
        {
            List<string> all = WithScore(symbols);
            all.AddRange(SearchVariables);
            return all;
        }

        /// <summary>The simplified formula where there is one, as the driver plays it.</summary>
        private static string Best(JsonValue file)
        {
            string simplified = file["simplified"].AsString();
            return simplified.Length > 0 ? simplified : file["formula"].AsString();
        }

        /// <summary>The metrics and, behind them, SCORE.</summary>
        private static List<string> WithScore(IList<string> symbols)
        {
            return new List<string>(symbols) { Score };
        }

        private Formula Parse(string what, string text, IList<string> symbols)
        {
            try
            {
                return Formula.Parse(text, symbols);
            }
            catch (FormulaException e)
            {
                string origin = Game.Length > 0 ? " (of the game " + Game + ")" : "";
                throw new FormulaException("the " + what + " of policy " + Name + origin, e);
            }
        }
    }

    /// <summary>A formula over the metrics, SCORE and the search's variables, with a place for their values.</summary>
    internal sealed class Scorer
    {
        internal readonly Formula Formula;
        internal readonly double[] Values;
        private readonly int metrics;

        internal Scorer(Formula formula, int metrics)
        {
            Formula = formula;
            this.metrics = metrics;
            Values = new double[metrics + 1 + Policy.SearchVariables.Length];
        }

        /// <summary>Reads the metrics and SCORE of a model's state.</summary>
        internal void Measure(IForwardModel model)
        {
            model.Measure(Values);
            Values[metrics] = model.Count == 0 ? model.Score : 0.0;
        }

        /// <summary>Rounds the metrics to what is sent to a driver.</summary>
        internal void RoundMetrics()
        {
            for (int i = 0; i < metrics; i++)
                Values[i] = MetricTable.ToWire(Values[i]);
        }

        internal double Score(double estimate, double visits, double parentVisits, double depth, double best, double spread)
        {
            Values[metrics + 1] = estimate;
            Values[metrics + 2] = visits;
            Values[metrics + 3] = parentVisits;
            Values[metrics + 4] = depth;
            Values[metrics + 5] = best;
            Values[metrics + 6] = spread;
            return Formula.Evaluate(Values);
        }
    }

    /// <summary>A policy that the driver sent for mode 2, over the declared metrics and the search's variables.</summary>
    internal sealed class SentPolicy
    {
        internal readonly Scorer Scorer;

        /// <exception cref="FormulaException">The code is not a formula over these symbols.</exception>
        internal SentPolicy(JsonValue json, IList<string> symbols)
        {
            string kind = json["kind"].AsString();
            if (kind != "tree" && kind != "rollout")
                throw new FormulaException("a policy of kind '" + kind + "', expected tree or rollout");
            var tokens = new List<object>();
            foreach (JsonValue token in json["code"].Items)
            {
                if (token.Kind != JsonKind.String && token.Kind != JsonKind.Number)
                    throw new FormulaException("a token of kind " + token.Kind + ", expected a text or a number");
                tokens.Add(token.Kind == JsonKind.String ? (object)token.AsString() : token.AsDouble());
            }
            Formula formula = Formula.FromPostfix(tokens, Policy.Variables(symbols));
            if (formula.Symbols.Contains(Policy.Score) && !symbols.Contains(Policy.Score))
                throw new FormulaException("unknown symbol SCORE, expected one of " + string.Join(", ", symbols));
            Scorer = new Scorer(formula, symbols.Count);
        }
    }
}
