using System.Globalization;
using System.Text;
using System.Threading;
using NUnit.Framework;

namespace PersonaEvo.Playtest.Tests
{
    [TestFixture]
    public class JsonTests
    {
        [Test]
        public void ValuesOfEveryKind()
        {
            JsonValue v = JsonValue.Parse("\uFEFF {\"a\": [1, -2.5e3, true, false, null], \"b\": {\"c\": \"\\u00e9\\n\\\"\\/\"}, "
                + "\"b2\": {}} ");
            Assert.AreEqual(1, v["a"].Items[0].AsInt());
            Assert.AreEqual(-2500.0, v["a"].Items[1].AsDouble());
            Assert.IsTrue(v["a"].Items[2].AsBool());
            Assert.IsFalse(v["a"].Items[3].AsBool(true));
            Assert.AreEqual(JsonKind.Null, v["a"].Items[4].Kind);
            Assert.AreEqual("é\n\"/", v["b"]["c"].AsString());
            Assert.AreEqual(JsonKind.Null, v["nothing"]["below"]["it"].Kind);
        }

        [Test]
        public void WholeNumbersOf64BitsAreExact()
        {
            Assert.AreEqual(ulong.MaxValue, JsonValue.Parse("18446744073709551615").AsULong());
            Assert.AreEqual(7UL, JsonValue.Parse("18446744073709551616").AsULong(7));
            Assert.AreEqual(7UL, JsonValue.Parse("-1").AsULong(7));
            Assert.AreEqual(7, JsonValue.Parse("1.5").AsInt(7));
            Assert.AreEqual(7, JsonValue.Parse("1e10").AsInt(7));
        }

        [TestCase("")]
        [TestCase("{")]
        [TestCase("[1,]")]
        [TestCase("{\"a\":1,}")]
        [TestCase("{a:1}")]
        [TestCase("01")]
        [TestCase("1.")]
        [TestCase("-")]
        [TestCase("+1")]
        [TestCase("1e")]
        [TestCase("1e999")]
        [TestCase("NaN")]
        [TestCase("tru")]
        [TestCase("\"a")]
        [TestCase("\"\\x\"")]
        [TestCase("\"\\u12g4\"")]
        [TestCase("\"\\u12\"")]
        [TestCase("\"\t\"")]
        [TestCase("1 2")]
        [TestCase("'a'")]
        public void WrongTexts(string text)
        {
            Assert.Throws<JsonException>(() => JsonValue.Parse(text));
        }

        [Test]
        public void NestingIsLimited()
        {
            Assert.Throws<JsonException>(() => JsonValue.Parse(new string('[', 1000000)));
            JsonValue.Parse(new string('[', 60) + new string(']', 60));
        }

        [Test]
        public void GarbageIsAnErrorAndNeverAnotherException()
        {
            const string Pieces = "{}[]\",:0123456789-+.eE\\u trufalsn\0é";
            var random = new SplitMix64(3);
            int read = 0;
            for (int round = 0; round < 20000; round++)
            {
                var text = new StringBuilder();
                for (int i = random.Below(12); i >= 0; i--)
                    text.Append(Pieces[random.Below(Pieces.Length)]);
                try
                {
                    JsonValue.Parse(text.ToString());
                    read++;
                }
                catch (JsonException)
                {
                }
            }
            Assert.Greater(read, 10);
        }

        [Test]
        public void WhatIsWrittenIsReadAgain()
        {
            string odd = "a\"b\\c\n\u2028é\U0001F600";
            double[] numbers = { 0.1, 1e300, 5e-324, -3.0, 1.0 / 3.0, 2.302585092994046 };
            var json = new JsonWriter().BeginObject().Name("text").Value(odd).Name("numbers").BeginArray();
            foreach (double number in numbers)
                json.Value(number);
            json.Value(double.NaN).EndArray().Name("id").Value(ulong.MaxValue).Name("yes").Value(true).EndObject();
            JsonValue v = JsonValue.Parse(json.ToString());
            Assert.AreEqual(odd, v["text"].AsString());
            for (int i = 0; i < numbers.Length; i++)
                Assert.AreEqual(numbers[i], v["numbers"].Items[i].AsDouble());
            Assert.AreEqual(JsonKind.Null, v["numbers"].Items[numbers.Length].Kind);
            Assert.AreEqual(ulong.MaxValue, v["id"].AsULong());
        }

        [Test]
        public void OtherCountriesCommasDoNotMatter()
        {
            CultureInfo before = Thread.CurrentThread.CurrentCulture;
            Thread.CurrentThread.CurrentCulture = new CultureInfo("de-DE");
            try
            {
                Assert.AreEqual(0.5, JsonValue.Parse("0.5").AsDouble());
                Assert.AreEqual("0.5", new JsonWriter().Value(0.5).ToString());
                Assert.AreEqual(1.5, Formula.Parse("1.5", new string[0]).Evaluate(new double[0]));
            }
            finally
            {
                Thread.CurrentThread.CurrentCulture = before;
            }
        }
    }
}
