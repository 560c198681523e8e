using System;
using System.Collections.Generic;
using System.Globalization;
using NUnit.Framework;

namespace PersonaEvo.Playtest.Tests
{
    [TestFixture]
    public class RandomTests
    {
        private static SplitMix64 Stream(JsonValue vector) =>
            new SplitMix64(ulong.Parse(vector["seed"].AsString(), CultureInfo.InvariantCulture));

        [Test]
        public void PublishedValues()
        {
            var random = new SplitMix64(1234567);
            ulong[] published =
            {
                6457827717110365317UL, 3203168211198807973UL, 9817491932198370423UL, 4593380528125082431UL,
                16408922859458223821UL
            };
            foreach (ulong value in published)
                Assert.AreEqual(value, random.Next());
        }

        [Test]
        public void GoldenNext()
        {
            foreach (JsonValue vector in Golden.Read("connect", "golden_random.json")["next"].Items)
            {
                SplitMix64 random = Stream(vector);
                foreach (JsonValue expected in vector["expected"].Items)
                    Assert.AreEqual(expected.AsString(), random.Next().ToString(CultureInfo.InvariantCulture));
            }
        }

        [Test]
        public void GoldenBelow()
        {
            foreach (JsonValue vector in Golden.Read("connect", "golden_random.json")["below"].Items)
            {
                SplitMix64 random = Stream(vector);
                for (int i = 0; i < vector["n"].Items.Count; i++)
                    Assert.AreEqual(vector["expected"].Items[i].AsInt(-1), random.Below(vector["n"].Items[i].AsInt()));
            }
        }

        [Test]
        public void GoldenUnit()
        {
            foreach (JsonValue vector in Golden.Read("connect", "golden_random.json")["unit"].Items)
            {
                SplitMix64 random = Stream(vector);
                foreach (JsonValue expected in vector["expected"].Items)
                    Assert.AreEqual(expected.AsDouble(-1.0), random.Unit());
            }
        }

        [Test]
        public void GoldenWeighted()
        {
            foreach (JsonValue vector in Golden.Read("connect", "golden_random.json")["weighted"].Items)
            {
                SplitMix64 random = Stream(vector);
                var weights = new List<double>();
                foreach (JsonValue weight in vector["weights"].Items)
                    weights.Add(weight.AsDouble());
                foreach (JsonValue expected in vector["expected"].Items)
                    Assert.AreEqual(expected.AsInt(-1), random.Weighted(weights.ToArray()));
            }
        }

        [Test]
        public void GoldenShuffle()
        {
            foreach (JsonValue vector in Golden.Read("connect", "golden_random.json")["shuffle"].Items)
            {
                var list = new List<int>();
                for (int i = 0; i < vector["length"].AsInt(); i++)
                    list.Add(i);
                Stream(vector).Shuffle(list);
                for (int i = 0; i < list.Count; i++)
                    Assert.AreEqual(vector["expected"].Items[i].AsInt(-1), list[i]);
            }
        }

        [Test]
        public void ASavedStateGoesOn()
        {
            var random = new SplitMix64(5);
            random.Next();
            ulong state = random.State, next = random.Next();
            random.State = state;
            Assert.AreEqual(next, random.Next());
        }

        [Test]
        public void WeightsThatAreNone()
        {
            var random = new SplitMix64(1);
            Assert.Throws<ArgumentException>(() => random.Weighted(new[] { 1.0, -1.0 }));
            Assert.Throws<ArgumentException>(() => random.Weighted(new[] { 0.0, 0.0 }));
            Assert.Throws<ArgumentException>(() => random.Weighted(new[] { double.NaN }));
            Assert.Throws<ArgumentException>(() => random.Weighted(new[] { double.PositiveInfinity }));
            Assert.Throws<ArgumentException>(() => random.Weighted(new[] { 1e308, 1e308 }));
            Assert.Throws<ArgumentException>(() => random.Weighted(new double[0]));
            Assert.Throws<ArgumentOutOfRangeException>(() => random.Below(0));
        }

        [Test]
        public void FnvOfKnownTexts()
        {
            // Published with the algorithm: the hashes of "", "a" and "foobar".
            Assert.AreEqual(0xcbf29ce484222325UL, Fnv.Start);
            Assert.AreEqual(0xaf63dc4c8601ec8cUL, Fnv.Add(Fnv.Start, 'a', 1));
            ulong hash = Fnv.Start;
            foreach (char c in "foobar")
                hash = Fnv.Add(hash, c, 1);
            Assert.AreEqual(0x85944171f73967e8UL, hash);
        }
    }
}
