using System;
using System.Collections.Generic;
using NUnit.Framework;

namespace PersonaEvo.Playtest.Tests
{
    /// <summary>Walk on a line from 0 to 9; the score is the prize of the cell where the walk ends after 8 steps.</summary>
    internal sealed class Walk : IForwardModel, IReplayable
    {
        internal const int Steps = 8;
        internal static readonly string[] Symbols = { "AT", "ST" };
        private static readonly double[] Prizes = { 0.6, 0, 0, 0, 0, 0, 0, 0, 0, 1.0 };
        private int at = 4, made;

        internal int At => at;
        internal int Resets { get; private set; }
        /// <summary>The score of all states but the last ones.</summary>
        internal double Prize { get; set; }
        public int Count => made == Steps ? 0 : 2;
        public double Score => made == Steps ? Prizes[at] : Prize;

        public void Apply(int choice)
        {
            at = Math.Max(0, Math.Min(9, at + (choice == 0 ? -1 : 1)));
            made++;
        }

        public void Measure(double[] values)
        {
            values[0] = at;
            values[1] = made;
        }

        public object Save() => new[] { at, made };

        public void Restore(object state)
        {
            at = ((int[])state)[0];
            made = ((int[])state)[1];
        }

        public void Reset()
        {
            at = 4;
            made = 0;
            Resets++;
        }
    }

    [TestFixture]
    public class SearchTests
    {
        private static Policy Read(string formula, string terminal = "cut_off", string utility = "")
        {
            string text = "{'schema': 1, 'kind': 'formula', 'name': 'p', 'formula': '" + formula + "', 'utility': '" + utility
                + "', 'search': {'terminal': '" + terminal + "', 'rollout': 3}}";
            return Policy.Read(text.Replace('\'', '"'), Walk.Symbols);
        }

        private static double Play(Walk walk, Policy policy)
        {
            return Play(walk, new TreeSearchPlayer(walk, policy, 2, new SearchSettings { Iterations = 400, Seed = 1 }));
        }

        private static double Play(Walk walk, IPlayer player)
        {
            player.Begin();
            while (walk.Count > 0)
                walk.Apply(player.Choose(walk.Count, null));
            return walk.Score;
        }

        [Test]
        public void Ucb1FindsTheFarPrize()
        {
            var walk = new Walk();
            var player = new TreeSearchPlayer(walk, Policy.Ucb1(), 2, new SearchSettings { Iterations = 400, Seed = 1 });
            Assert.AreEqual(1.0, Play(walk, player));
        }

        [Test]
        public void AFormulaSteersTheSearch()
        {
            // With one iteration per decision left over, a search sees the prize only if it looks to the right first.
            int right = 0, left = 0;
            for (ulong seed = 1; seed <= 20; seed++)
            {
                right += Sees("AT", seed) ? 1 : 0;
                left += Sees("-AT", seed) ? 1 : 0;
            }
            Assert.AreEqual(0, left);
            Assert.Greater(right, 5);
        }

        private static bool Sees(string formula, ulong seed)
        {
            var search = new TreeSearch(new Walk(), Read(formula), 2, new SearchSettings { Iterations = 14, Seed = seed });
            search.Choose();
            return search.PlanUtility == 1.0;
        }

        [Test]
        public void TheModelIsBackInItsState()
        {
            var walk = new Walk();
            walk.Apply(1);
            new TreeSearch(walk, Policy.Ucb1(), 2, new SearchSettings { Iterations = 50 }).Choose();
            CollectionAssert.AreEqual(new[] { 5, 1 }, (int[])walk.Save());
        }

        [Test]
        public void CutOffEndsWhenAllIsSeen()
        {
            var search = new TreeSearch(new Walk(), Read("R + 1.4142135623730951 * sqrt(log(P) / N)"), 2,
                new SearchSettings { Iterations = 100000 });
            search.Choose();
            Assert.IsTrue(search.Exhausted);
            Assert.Less(search.Iterations, 1000);
            Assert.AreEqual(1.0, search.PlanUtility);
            var again = new TreeSearch(new Walk(), Read("R + 1.4142135623730951 * sqrt(log(P) / N)", "revisit"), 2,
                new SearchSettings { Iterations = 2000, Choice = FinalChoice.Visits });
            int chosen = again.Choose();
            Assert.AreEqual(2000, again.Iterations);
            int[] visits = again.RootVisits();
            Assert.AreEqual(2000 - 1, visits[0] + visits[1], "the first rollout goes out from the root");
            Assert.Greater(visits[chosen], visits[1 - chosen]);
        }

        [Test]
        public void TheSameSeedIsTheSameSearch()
        {
            var plans = new List<string>();
            foreach (ulong seed in new ulong[] { 7, 7, 8, 9, 10 })
            {
                var search = new TreeSearch(new Walk(), Policy.Ucb1(), 2, new SearchSettings { Iterations = 40, Seed = seed });
                search.Choose();
                plans.Add(string.Join(",", search.Plan()) + ":" + string.Join(",", search.RootVisits()));
            }
            Assert.AreEqual(plans[0], plans[1]);
            Assert.Greater(new HashSet<string>(plans).Count, 1);
        }

        [Test]
        public void FullMemoryAndHorizonDoNotStopIt()
        {
            var search = new TreeSearch(new Walk(), Policy.Ucb1(), 2,
                new SearchSettings { Iterations = 300, Nodes = 5, Horizon = 3, Choice = FinalChoice.Mean });
            Assert.That(search.Choose(), Is.InRange(0, 1));
            Assert.AreEqual(300, search.Iterations);
            Assert.LessOrEqual(search.Plan().Count, 3);
        }

        [Test]
        public void ReplayingIsAsGoodAsSaving()
        {
            var settings = new SearchSettings { Iterations = 100, Seed = 5 };
            var saved = new TreeSearch(new Walk(), Policy.Ucb1(), 2, settings);
            var walk = new Walk();
            var replayed = new TreeSearch(new ReplayModel(walk), Policy.Ucb1(), 2, settings);
            Assert.AreEqual(saved.Choose(), replayed.Choose());
            CollectionAssert.AreEqual(saved.Plan(), replayed.Plan());
            CollectionAssert.AreEqual(saved.RootVisits(), replayed.RootVisits());
            Assert.Greater(walk.Resets, 0);
            Assert.AreEqual(4, walk.At);
        }

        [Test]
        public void OneStepAheadByAFormula()
        {
            var walk = new Walk();
            Assert.AreEqual(0.6, Play(walk, new LookaheadPlayer(walk, Read("-AT"), 2)));
            walk.Reset();
            Assert.AreEqual(1.0, Play(walk, new LookaheadPlayer(walk, Read("AT * (D > 0)"), 2)));
            walk.Reset();
            Assert.AreEqual(0, new LookaheadPlayer(walk, Read("3"), 2).Choose(2, null), "the first of equals");
            Assert.Throws<ArgumentException>(() => new LookaheadPlayer(walk, Policy.Ucb1(), 2));
        }

        [Test]
        public void AUtilityOverMetricsGoesBeforeTheScore()
        {
            var search = new TreeSearch(new Walk(), Policy.Ucb1(1.0, "0 - AT", Walk.Symbols), 2,
                new SearchSettings { Iterations = 300 });
            Assert.AreEqual(0, search.Choose());
            Assert.AreEqual(0.0, search.PlanUtility);
        }

        [Test]
        public void ShippedPolicyFilesAreRead()
        {
            string root = System.Environment.GetEnvironmentVariable("PERSONA_EVO_REPOSITORY");
            if (root == null)
                Assert.Ignore("set PERSONA_EVO_REPOSITORY to the project's folder to read its policies");
            string[] files = System.IO.Directory.GetFiles(System.IO.Path.Combine(root, "policies/minidungeons2"), "*.json");
            Assert.Greater(files.Length, 5);
            foreach (string file in files)
            {
                string text = System.IO.File.ReadAllText(file);
                JsonValue json = JsonValue.Parse(text);
                var symbols = new List<string> { "MS", "PE", "IC", "TO", "ST", "DEAD" };
                foreach (string symbol in json["metrics"].Names)
                    if (Array.IndexOf(Policy.SearchVariables, symbol) < 0 && !symbols.Contains(symbol))
                        symbols.Add(symbol);
                Policy policy = Policy.Read(text, symbols);
                Assert.AreEqual(json["name"].AsString(), policy.Name);
                Assert.AreEqual(json["kind"].AsString() == "ucb1", policy.Formula == null, file);
                Assert.AreEqual(json["utility"].AsString() == "", policy.Utility == null, file);
                Assert.AreEqual(json["search"]["terminal"].AsString() != "revisit", policy.Evolved.CutOff, file);
            }
        }

        /// <summary>A policy file of a connected game; more: further members.</summary>
        private static string Connected(string formula, string utility, string more = "")
        {
            string text = "{'schema': 1, 'kind': 'formula', 'name': 'p', 'formula': '" + formula + "', 'utility': '" + utility
                + "', 'budget': {'iterations': 60}, 'search': {'rollout': 10}, 'connected': {'slots': 3}" + more + "}";
            return text.Replace('\'', '"');
        }

        private const string Skill =
            ", 'skill': {'name': 'full-sight', 'iterations': 9, 'sight': 1000000, 'errors': 0.0, 'temperature': 1.0}";

        [Test]
        public void PoliciesReadTheScore()
        {
            Policy policy = Policy.Read(Connected("R + SCORE", "SCORE - 0.01 * ST"), Walk.Symbols);
            CollectionAssert.AreEquivalent(new[] { "R", "SCORE" }, policy.Formula.Symbols);
            var search = new TreeSearch(new Walk(), policy, 2, new SearchSettings { Iterations = 400, Seed = 3 });
            search.Choose();
            Assert.AreEqual(1.0 - 0.01 * Walk.Steps, search.PlanUtility, 1e-12);
            Assert.AreEqual(1.0, Play(new Walk(), Policy.Ucb1(1.0, "SCORE", Walk.Symbols)));
        }

        [Test]
        public void TheScoreIsThereOnlyAtTheEnd()
        {
            // The score of every state but the last ones is 0.25, which a policy must not see before the game is over.
            var walk = new Walk { Prize = 0.25 };
            Policy policy = Policy.Read(Connected("SCORE * AT", ""), Walk.Symbols);
            Assert.AreEqual(0, new LookaheadPlayer(walk, policy, 2).Choose(2, null), "the first of equals");
            for (int i = 1; i < Walk.Steps; i++)
                walk.Apply(1);
            Assert.AreEqual(1, new LookaheadPlayer(walk, policy, 2).Choose(2, null));
        }

        [Test]
        public void AMetricCalledScoreIsTheGamesOwn()
        {
            Policy policy = Policy.Read(Connected("SCORE", ""), new[] { "SCORE", "ST" });
            Assert.AreEqual(0, new LookaheadPlayer(new Walk(), Policy.Read(Connected("0 - SCORE", ""), new[] { "SCORE", "ST" }),
                2).Choose(2, null));
            Assert.AreEqual(1, new LookaheadPlayer(new Walk(), policy, 2).Choose(2, null), "AT is measured first");
        }

        [Test]
        public void AConnectedPolicySearchesOnceAndFollowsThePlan()
        {
            var walk = new Walk();
            Policy policy = Policy.Read(Connected("R + sqrt(log(P) / N)", ""), Walk.Symbols);
            Assert.IsTrue(policy.Evolved.IsConnected);
            Assert.AreEqual(int.MaxValue, policy.Evolved.RolloutLength);
            Assert.AreEqual(3, policy.Evolved.Slots);
            var search = new TreeSearch(new Walk(), policy, 2, new SearchSettings { Seed = 4 });
            int first = search.Choose();
            Assert.AreEqual(60, search.Iterations, "as many as in the evolution");
            List<int> plan = search.Plan();
            Assert.AreEqual(Walk.Steps, plan.Count, "rollouts go to the end of the game");
            Assert.AreEqual(first, plan[0]);
            var player = new TreeSearchPlayer(walk, policy, 2, new SearchSettings { Seed = 4 });
            Assert.AreEqual(search.PlanUtility, Play(walk, player));
            Assert.AreEqual(1, player.Searches);
        }

        [Test]
        public void APolicyEvolvedMoveByMoveSearchesForEachMove()
        {
            var walk = new Walk();
            Policy policy = Policy.Read(Connected("R + sqrt(log(P) / N)", "", Skill), Walk.Symbols);
            Assert.IsTrue(policy.Evolved.IsPerMove);
            var player = new TreeSearchPlayer(walk, policy, 2, new SearchSettings { Seed = 4 });
            Play(walk, player);
            Assert.AreEqual(Walk.Steps, player.Searches);
            var search = new TreeSearch(new Walk(), policy, 2, new SearchSettings { Seed = 4 });
            int chosen = search.Choose();
            Assert.AreEqual(60, search.Iterations);
            Assert.GreaterOrEqual(search.RootVisits()[chosen], search.RootVisits()[1 - chosen]);
            Policy erring = Policy.Read(Connected("R", "", Skill.Replace("0.0", "1")), Walk.Symbols);
            var ends = new HashSet<double>();
            for (ulong seed = 0; seed < 30; seed++)
            {
                walk.Reset();
                ends.Add(Play(walk, new TreeSearchPlayer(walk, erring, 2, new SearchSettings { Seed = seed })));
            }
            Assert.Greater(ends.Count, 1, "mistakes are made by lot");
        }

        [Test]
        public void TheBudgetOfTheSettingsGoesBeforeThatOfTheFile()
        {
            Policy policy = Policy.Read(Connected("R + sqrt(log(P) / N)", "", Skill.Replace("}", ", 'per_legal_move': true}")),
                Walk.Symbols);
            var search = new TreeSearch(new Walk(), policy, 2);
            search.Choose();
            Assert.AreEqual(2 * 60, search.Iterations);
            search = new TreeSearch(new Walk(), policy, 2, new SearchSettings { Iterations = 11 });
            search.Choose();
            Assert.AreEqual(11, search.Iterations);
        }

        [TestCase("\"slots\": 3", "\"slots\": 0", "slots")]
        [TestCase("\"slots\": 3", "\"rollout\": \"best\"", "expected uniform, weights or policy")]
        [TestCase("\"iterations\": 60", "\"iterations\": -1", "iterations")]
        [TestCase("\"errors\": 0.0", "\"errors\": 2", "errors 2")]
        public void DamagedSearchesOfPolicyFiles(string old, string damaged, string message)
        {
            string text = Connected("R", "", Skill).Replace(old, damaged);
            StringAssert.Contains(message, Assert.Throws<JsonException>(() => Policy.Read(text, Walk.Symbols)).Message);
        }

        [TestCase("\"slots\": 3", "\"seeds\": 4", "it averages over 4 seeds: the model has to be an ISeededModel")]
        [TestCase("\"slots\": 3", "\"rollout\": \"weights\"", "its rollouts go by the weights of choices")]
        [TestCase("\"iterations\": 60", "\"nodes\": 60", "its budget is a number of nodes: set Iterations")]
        [TestCase("\"rollout\": 10", "\"stop\": \"first_win\"", "it ends at the first win")]
        [TestCase("\"rollout\": 10", "\"variant\": \"swift\"", "it plays the variant 'swift' of the rules")]
        [TestCase("\"rollout\": 10", "\"selection_rule\": \"puct\"", "it uses the selection rule 'puct'")]
        [TestCase("\"rollout\": 10", "\"rollout_policy\": \"near\"", "it uses the rollout policy 'near'")]
        [TestCase("\"schema\": 1", "\"schema\": 1, \"run\": {\"opponents\": [\"other\"]}", "it is for a game of two players")]
        [TestCase("\"schema\": 1", "\"schema\": 1, \"agent\": {\"answer\": \"R\"}", "its agent chooses moves by a formula")]
        public void SearchesThatOnlyTheDriverPlaysAreRefused(string old, string changed, string message)
        {
            Policy policy = Policy.Read(Connected("R", "").Replace(old, changed), Walk.Symbols);
            string said = Assert.Throws<PlaytestException>(() => new TreeSearchPlayer(new Walk(), policy, 2)).Message;
            StringAssert.Contains("policy p was evolved under a search that cannot be played here; " + message, said);
            Assert.AreEqual(said, Assert.Throws<PlaytestException>(() => new TreeSearch(new Walk(), policy, 2)).Message);
        }

        [Test]
        public void ABudgetInSecondsIsKept()
        {
            Policy policy = Policy.Read(Connected("R", "").Replace("\"iterations\": 60", "\"seconds\": 0.05"), Walk.Symbols);
            var search = new TreeSearch(new Walk(), policy, 2);
            search.Choose();
            Assert.Greater(search.Iterations, 0);
            search = new TreeSearch(new Walk(), policy, 2, new SearchSettings { Iterations = 40 });
            search.Choose();
            Assert.AreEqual(40, search.Iterations);
        }

        [Test]
        public void EachPlaythroughHasASeedOfItsOwn()
        {
            Policy policy = Policy.Read(Connected("R", "", Skill.Replace("0.0", "1")), Walk.Symbols);
            var walk = new Walk();
            var player = new TreeSearchPlayer(walk, policy, 2, new SearchSettings { Seed = 1 });
            var seen = new HashSet<string>();
            for (ulong seed = 1; seed <= 5; seed++)
            {
                string choices = Choices(walk, player);
                Assert.AreEqual(Choices(walk, new TreeSearchPlayer(walk, policy, 2, new SearchSettings { Seed = seed })),
                    choices);
                seen.Add(choices);
            }
            Assert.Greater(seen.Count, 1);
        }

        private static string Choices(Walk walk, IPlayer player)
        {
            var made = new List<int>();
            walk.Reset();
            player.Begin();
            while (walk.Count > 0)
            {
                made.Add(player.Choose(walk.Count, null));
                walk.Apply(made[made.Count - 1]);
            }
            return string.Join(",", made);
        }

        [Test]
        public void PolicyFilesThatAreNone()
        {
            Assert.Throws<JsonException>(() => Policy.Read("[]", Walk.Symbols));
            Assert.Throws<JsonException>(() => Policy.Read("{\"schema\": 2}", Walk.Symbols));
            Assert.Throws<JsonException>(() => Policy.Read("{\"schema\": 1, \"kind\": \"other\"}", Walk.Symbols));
            var error = Assert.Throws<FormulaException>(() => Read("AT + XX"));
            StringAssert.Contains("policy p", error.Message);
            StringAssert.Contains("XX", error.Message);
            Assert.Throws<FormulaException>(() => Read("AT", "cut_off", "YY"));
        }

        [Test]
        public void ASessionWithoutDriverAsksThePlayer()
        {
            var walk = new Walk();
            var session = new PlaytestSession("walk", "1", 100, null) { LocalSeed = 77 };
            Assert.IsFalse(session.IsDriverPresent);
            Assert.IsFalse(session.IsAutomated);
            session.Player = new TreeSearchPlayer(walk, Policy.Ucb1(), 2, new SearchSettings { Iterations = 400, Seed = 1 });
            Assert.IsTrue(session.IsAutomated);
            var seeds = new List<ulong>();
            for (int i = 0; i < 2; i++)
            {
                session.Run(() =>
                {
                    walk.Reset();
                    seeds.Add(session.GameSeed);
                    while (walk.Count > 0)
                        walk.Apply(session.Select(walk.Count));
                    session.SupplyOutcome(walk.Score);
                });
                Assert.AreEqual(1.0, session.LastScore);
            }
            Assert.AreEqual(77UL, seeds[0]);
            Assert.AreNotEqual(seeds[0], seeds[1]);
        }
    }
}
