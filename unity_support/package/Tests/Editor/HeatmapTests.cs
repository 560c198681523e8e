using System.IO;
using NUnit.Framework;

namespace PersonaEvo.Playtest.Tests
{
    [TestFixture]
    public class HeatmapTests
    {
        private const string Traces = @"
{""level"": ""a"", ""player"": ""p"", ""positions"": [[0, 0], [1, 0], [1, 0]]}

{""level"": ""a"", ""player"": ""q"", ""positions"": [[0, 0], [0, 2]]}
{""level"": ""b"", ""player"": ""p"", ""positions"": []}
";

        [Test]
        public void VisitsPerPlaythrough()
        {
            Heatmap all = Heatmap.Read(new StringReader(Traces));
            Assert.AreEqual(2, all.Playthroughs);
            Assert.AreEqual(1.0, all[0, 0]);
            Assert.AreEqual(1.0, all[1, 0]);
            Assert.AreEqual(0.5, all[0, 2]);
            Assert.AreEqual(0.0, all[5, 5]);
            Assert.AreEqual("2x3 1", all.Width + "x" + all.Height + " " + all.Most);
            CollectionAssert.AreEqual(new[] { "a", "b" }, all.Levels);
            CollectionAssert.AreEqual(new[] { "p", "q" }, all.Players);
        }

        [Test]
        public void OfOnePlayerAndLevel()
        {
            Heatmap some = Heatmap.Read(new StringReader(Traces), "a", "p");
            Assert.AreEqual(1, some.Playthroughs);
            Assert.AreEqual(2.0, some[1, 0]);
            Assert.AreEqual(2.0, some.Most);
            Assert.AreEqual(2, some.Players.Count);
            Assert.AreEqual(0, Heatmap.Read(new StringReader(Traces), "b", "p").Playthroughs);
        }

        [TestCase("{}\n{", "trace 2")]
        [TestCase("{\"positions\": [[0, 0, 0]]}", "not a cell")]
        [TestCase("{\"positions\": [[-1, 0]]}", "not a cell")]
        [TestCase("{\"positions\": [[1e9, 0]]}", "not a cell")]
        [TestCase("{\"positions\": [\"x\"]}", "not a cell")]
        public void WrongTraces(string text, string message)
        {
            var error = Assert.Throws<JsonException>(() => Heatmap.Read(new StringReader(text)));
            StringAssert.Contains(message, error.Message);
        }
    }
}
