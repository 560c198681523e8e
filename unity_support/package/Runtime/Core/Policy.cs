using System;
using System.Collections.Generic;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// What scores the children of a node in a tree search: UCB1, or an evolved formula over the game's metrics and the
    /// search's variables. Read from the policy files that persona-evo writes.
    /// </summary>
    public sealed class Policy
    {
        /// <summary>
        /// What a formula may read beside the metrics of the child's state: R, its utility estimate (0.75 mean + 0.25
        /// maximum, or the mean); N and P, visits of it and of its parent; D, its depth; RMAX and RSD, the largest
        /// utility and the standard deviation of those backed up through it.
        /// </summary>
        public static readonly string[] SearchVariables = { "R", "N", "P", "D", "RMAX", "RSD" };

        private const int Schema = 1;

        private Policy()
        {
            Name = "ucb1";
            Game = "";
            Constant = Math.Sqrt(2.0);
            RolloutLength = 10;
        }

        public string Name { get; private set; }

        /// <summary>The game that it was evolved in.</summary>
        public string Game { get; private set; }

        /// <summary>The formula; null for UCB1.</summary>
        public Formula Formula { get; private set; }

        /// <summary>UCB1's constant, outside the root.</summary>
        public double Constant { get; private set; }

        /// <summary>What the persona wants, over the metrics; null where the game's score is to be had.</summary>
        public Formula Utility { get; private set; }

        /// <summary>Whether R is the mean alone.</summary>
        public bool MeanOnly { get; private set; }

        /// <summary>Choices that a rollout makes at most.</summary>
        public int RolloutLength { get; private set; }

        /// <summary>Whether subtrees in which nothing new is to be found are closed.</summary>
        public bool CutOff { get; private set; }

        /// <summary>UCB1, mean + c sqrt(ln P / N).</summary>
        /// <param name="utility">Over the metrics; "" for the game's score.</param>
        /// <exception cref="FormulaException">The utility is no formula over these symbols.</exception>
        public static Policy Ucb1(double c = 1.4142135623730951, string utility = "", IList<string> symbols = null)
        {
            if (!(c >= 0.0) || double.IsInfinity(c))
                throw new ArgumentOutOfRangeException("c", c, "UCB1's constant is a finite number >= 0");
            var policy = new Policy { Constant = c };
            if (!string.IsNullOrEmpty(utility))
                policy.Utility = Formula.Parse(utility, symbols ?? new string[0]);
            return policy;
        }

        /// <summary>Reads a policy file.</summary>
        /// <param name="json">The file's text.</param>
        /// <param name="symbols">The metrics of this game, in their order.</param>
        /// <param name="utility">To be had instead of the file's own; null for the file's.</param>
        /// <exception cref="JsonException">The text is not JSON, or not a policy that this version reads.</exception>
        /// <exception cref="FormulaException">It reads metrics that the game does not have.</exception>
        public static Policy Read(string json, IList<string> symbols, string utility = null)
        {
            JsonValue file = JsonValue.Parse(json);
            if (file.Kind != JsonKind.Object || file["schema"].AsInt() != Schema)
                throw new JsonException("not a policy file of schema " + Schema + "; policies are written by persona-evo evolve");
            string kind = file["kind"].AsString();
            if (kind != "ucb1" && kind != "formula")
                throw new JsonException("a policy of kind '" + kind + "', expected ucb1 or formula");
            JsonValue search = file["search"];
            string wanted = utility ?? file["utility"].AsString();
            var policy = new Policy { Constant = file["c"].AsDouble(Math.Sqrt(2.0)) };
            policy.Name = file["name"].AsString("policy");
            policy.Game = file["game"].AsString();
            if (!(policy.Constant >= 0.0))
                throw new JsonException("the policy's constant c is " + policy.Constant + ", expected a number >= 0");
            if (wanted.Length > 0)
                policy.Utility = policy.Parse("utility", wanted, symbols);
            policy.MeanOnly = search["value"].AsString() == "mean";
            policy.RolloutLength = Math.Max(0, search["rollout"].AsInt(policy.RolloutLength));
            policy.CutOff = search["terminal"].AsString("cut_off") == "cut_off";
            if (kind == "formula")
                policy.Formula = policy.Parse("formula", file["formula"].AsString(), Variables(symbols));
            return policy;
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

        /// <summary>Every symbol that a tree policy may read: the metrics, then the search's variables.</summary>
        public static IList<string> Variables(IList<string> symbols)
        {
            var all = new List<string>(symbols);
            all.AddRange(SearchVariables);
            return all;
        }
    }

    /// <summary>A formula over the metrics and the search's variables, with a place for their values.</summary>
    internal sealed class Scorer
    {
        internal readonly Formula Formula;
        internal readonly double[] Values;
        private readonly int metrics;

        internal Scorer(Formula formula, int metrics)
        {
            Formula = formula;
            this.metrics = metrics;
            Values = new double[metrics + Policy.SearchVariables.Length];
        }

        /// <summary>Rounds the metrics to what is sent to a driver.</summary>
        internal void RoundMetrics()
        {
            for (int i = 0; i < metrics; i++)
                Values[i] = MetricTable.ToWire(Values[i]);
        }

        internal double Score(double estimate, double visits, double parentVisits, double depth, double best, double spread)
        {
            Values[metrics] = estimate;
            Values[metrics + 1] = visits;
            Values[metrics + 2] = parentVisits;
            Values[metrics + 3] = depth;
            Values[metrics + 4] = best;
            Values[metrics + 5] = spread;
            return Formula.Evaluate(Values);
        }
    }

    /// <summary>A policy that the driver sent for mode 2.</summary>
    internal sealed class SentPolicy
    {
        internal readonly Scorer Scorer;

        /// <exception cref="FormulaException">It is none.</exception>
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
            Scorer = new Scorer(Formula.FromPostfix(tokens, Policy.Variables(symbols)), symbols.Count);
        }
    }
}
