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

        internal int At { get { return at; } }
        internal int Resets { get; private set; }
        public int Count { get { return made == Steps ? 0 : 2; } }
        public double Score { get { return made == Steps ? Prizes[at] : 0.0; } }

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

        public object Save() { return new[] { at, made }; }

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
            var json = new JsonWriter().BeginObject().Name("schema").Value(1).Name("kind").Value("formula").Name("name").Value("p");
            json.Name("formula").Value(formula).Name("utility").Value(utility).Name("search").BeginObject();
            json.Name("terminal").Value(terminal).Name("rollout").Value(3).EndObject().EndObject();
            return Policy.Read(json.ToString(), Walk.Symbols);
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
            // With one iteration per decision left over, only a search that looks to the right first sees the prize.
            var settings = new SearchSettings { Iterations = 14, Seed = 1 };
            var right = new TreeSearch(new Walk(), Read("AT"), 2, settings);
            var left = new TreeSearch(new Walk(), Read("-AT"), 2, settings);
            right.Choose();
            left.Choose();
            Assert.AreEqual(1.0, right.PlanUtility);
            Assert.AreEqual(0.6, left.PlanUtility);
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
            Assert.AreEqual(1, again.Choose());
            Assert.AreEqual(2000, again.Iterations);
            int[] visits = again.RootVisits();
            Assert.AreEqual(2000, visits[0] + visits[1]);
            Assert.Greater(visits[1], visits[0]);
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
