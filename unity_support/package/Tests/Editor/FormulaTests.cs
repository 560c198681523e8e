using System;
using System.Collections.Generic;
using NUnit.Framework;

namespace PersonaEvo.Playtest.Tests
{
    [TestFixture]
    public class FormulaTests
    {
        private static double Number(JsonValue value)
        {
            if (value.Kind == JsonKind.Null)
                return double.NaN;
            if (value.AsString() == "inf")
                return double.PositiveInfinity;
            return value.AsString() == "-inf" ? double.NegativeInfinity : value.AsDouble(double.NaN);
        }

        [Test]
        public void GoldenVectors()
        {
            Replay(Golden.Read("formula", "golden.json")["vectors"].Items);
        }

        /// <summary>Random formulas with the values that Python found, written by the test that starts this one.</summary>
        [Test]
        public void ValuesThatPythonFound()
        {
            string file = Environment.GetEnvironmentVariable("PERSONA_EVO_VECTORS");
            if (file == null)
                Assert.Ignore("set PERSONA_EVO_VECTORS to a file of vectors as in tests/formula/golden.json");
            Replay(JsonValue.Parse(System.IO.File.ReadAllText(file))["vectors"].Items);
        }

        private static void Replay(IList<JsonValue> vectors)
        {
            Assert.Greater(vectors.Count, 30);
            foreach (JsonValue vector in vectors)
            {
                var order = new List<string>(vector["values"].Names);
                var values = new double[order.Count];
                for (int i = 0; i < values.Length; i++)
                    values[i] = Number(vector["values"][order[i]]);
                double expected = Number(vector["expected"]);
                double found = Formula.Parse(vector["formula"].AsString(), order).Evaluate(values);
                double within = vector["rel"].AsDouble(0.0) * Math.Abs(expected);
                Assert.AreEqual(expected, found, within, vector["formula"].AsString());
            }
        }

        [TestCase("", 1, 1)]
        [TestCase("MS +", 1, 5)]
        [TestCase("MS +\n  PE PE", 2, 6)]
        [TestCase("(MS", 1, 1)]
        [TestCase("MS)", 1, 3)]
        [TestCase("min(MS)", 1, 1)]
        [TestCase("min()", 1, 1)]
        [TestCase("1, 2", 1, 2)]
        [TestCase("MS > PE > 1", 1, 9)]
        [TestCase("MS == PE", 1, 4)]
        [TestCase("MS ^ PE", 1, 6)]
        [TestCase("MS ^ 2 ^ 2", 1, 8)]
        [TestCase("MS ^ 2000", 1, 6)]
        [TestCase("((MS ^ 40) ^ 40) ^ 999999999", 1, 14)]
        [TestCase("1e301", 1, 1)]
        [TestCase("max + 1", 1, 1)]
        [TestCase("foo(MS)", 1, 1)]
        [TestCase("MS $ PE", 1, 4)]
        public void WrongTextsAreToldWithTheirPlace(string text, int line, int column)
        {
            var error = Assert.Throws<FormulaException>(() => Formula.Parse(text, new[] { "MS", "PE" }));
            Assert.AreEqual(line + ":" + column, error.Line + ":" + error.Column, error.Message);
        }

        [Test]
        public void AnUnknownSymbolIsNamed()
        {
            var error = Assert.Throws<FormulaException>(() => Formula.Parse("MS + XX", new[] { "MS" }));
            StringAssert.Contains("XX", error.Message);
            StringAssert.Contains("MS", error.Message);
        }

        [Test]
        public void PostfixAsTheDriverSendsIt()
        {
            Formula formula = Formula.FromPostfix(new object[] { 0.5, "MS", "*", "PE", "neg", 2.0, "if" }, new[] { "MS", "PE" });
            Assert.AreEqual(2.0, formula.Evaluate(new[] { 0.0, 7.0 }));
            Assert.AreEqual(-7.0, formula.Evaluate(new[] { 1.0, 7.0 }));
            Assert.Throws<FormulaException>(() => Formula.FromPostfix(new object[] { 1.0, "+" }, new string[0]));
            Assert.Throws<FormulaException>(() => Formula.FromPostfix(new object[] { 1.0, 1.0 }, new string[0]));
            Assert.Throws<FormulaException>(() => Formula.FromPostfix(new object[0], new string[0]));
            Assert.Throws<FormulaException>(() => Formula.FromPostfix(new object[] { double.NaN }, new string[0]));
        }

        [Test]
        public void NoFormulaIsTooDeepAndNoValueIsNoNumber()
        {
            string deep = new string('(', 100000) + "MS" + new string(')', 100000);
            Assert.AreEqual(3.0, Formula.Parse(deep, new[] { "MS" }).Evaluate(new[] { 3.0 }));
            var random = new SplitMix64(11);
            double[] odd = { 0, -0.0, 1, -1, 1e300, -1e300, 5e-324, 0 / 0.0, double.PositiveInfinity, double.NegativeInfinity };
            string[] operations = "+ - * / neg abs sqrt log exp min max > >= < <= if".Split();
            for (int round = 0; round < 3000; round++)
            {
                var tokens = new List<object>();
                int height = 0;
                while (tokens.Count < 40 || height != 1)
                {
                    string operation = operations[random.Below(operations.Length)];
                    int place = Array.IndexOf(operations, operation);
                    int arity = operation == "if" ? 3 : place >= 4 && place <= 8 ? 1 : 2;
                    bool apply = height >= arity && (tokens.Count >= 40 || random.Below(2) == 0);
                    tokens.Add(apply ? operation : height > 20 || random.Below(2) == 0 ? (object)"A" : "B");
                    height += apply ? 1 - arity : 1;
                }
                double value = Formula.FromPostfix(tokens, new[] { "A", "B" })
                    .Evaluate(new[] { odd[random.Below(odd.Length)], odd[random.Below(odd.Length)] });
                Assert.LessOrEqual(Math.Abs(value), 1e300, string.Join(" ", tokens));
            }
        }
    }
}
