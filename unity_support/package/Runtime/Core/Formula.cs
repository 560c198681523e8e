using System;
using System.Collections.Generic;
using System.Text;

namespace PersonaEvo.Playtest
{
    internal enum Op
    {
        Const, Var, Add, Sub, Mul, Div, Neg, Abs, Sqrt, Log, Exp, Min, Max, Gt, Ge, Lt, Le, If
    }

    /// <summary>
    /// An expression over named numbers, with the values that it has in Python to the last bit (where Math.Exp and
    /// Math.Log are those of the C library): every value is a number within ±1e300, whatever the variables are.
    /// </summary>
    public sealed class Formula
    {
        /// <summary>Largest magnitude of any value.</summary>
        public const double Limit = 1e300;
        /// <summary>Most operations, symbols and numbers in one formula.</summary>
        public const int MaxNodes = 1023;
        private const double ExponentLimit = 700.0;

        private static readonly Dictionary<string, Op> Operations = new Dictionary<string, Op>(StringComparer.Ordinal)
        {
            { "+", Op.Add }, { "-", Op.Sub }, { "*", Op.Mul }, { "/", Op.Div }, { "neg", Op.Neg }, { "abs", Op.Abs },
            { "sqrt", Op.Sqrt }, { "log", Op.Log }, { "exp", Op.Exp }, { "min", Op.Min }, { "max", Op.Max },
            { ">", Op.Gt }, { ">=", Op.Ge }, { "<", Op.Lt }, { "<=", Op.Le }, { "if", Op.If }
        };

        private struct Step
        {
            internal Op Op;
            internal double Value;
            internal int Index;
        }

        private readonly Step[] steps;
        private readonly double[] stack;

        private Formula(Step[] steps, int height, HashSet<string> used)
        {
            this.steps = steps;
            stack = new double[height];
            Symbols = used;
        }

        /// <summary>The symbols that the formula reads.</summary>
        public ICollection<string> Symbols { get; private set; }

        /// <summary>Number of operations, symbols and numbers.</summary>
        public int Size => steps.Length;

        /// <summary>Reads a formula as people write it, such as 0.7 * MS + 0.3 * PE.</summary>
        /// <param name="order">The symbols that it may use, in the order of the values for Evaluate.</param>
        /// <exception cref="FormulaException">The text is not a formula; with line and column.</exception>
        public static Formula Parse(string text, IList<string> order) =>
            FromPostfix(new FormulaParser(text).Run(), order);

        /// <summary>The formula of tokens in postfix order: strings are operations and symbols, doubles are numbers.</summary>
        /// <exception cref="FormulaException">The tokens do not form a formula.</exception>
        public static Formula FromPostfix(IList<object> tokens, IList<string> order)
        {
            if (tokens.Count > MaxNodes)
                throw new FormulaException(tokens.Count + " operations, symbols and numbers, expected at most " + MaxNodes);
            var steps = new Step[tokens.Count];
            var used = new HashSet<string>(StringComparer.Ordinal);
            int height = 0, most = 1;
            for (int i = 0; i < steps.Length; i++)
            {
                steps[i] = StepOf(tokens[i], order, used);
                int needed = Arity(steps[i].Op);
                if (height < needed)
                    throw new FormulaException("'" + tokens[i] + "' has too few operands, expected " + needed + " before it");
                height += 1 - needed;
                most = Math.Max(most, height);
            }
            if (height != 1)
                throw new FormulaException("the tokens leave " + height + " values, expected 1");
            return new Formula(steps, most, used);
        }

        /// <summary>Whether a name can stand for a number in a formula.</summary>
        public static bool IsSymbol(string name)
        {
            if (string.IsNullOrEmpty(name) || Operations.ContainsKey(name) || (name[0] >= '0' && name[0] <= '9'))
                return false;
            foreach (char c in name)
                if (!IsNamePart(c))
                    return false;
            return true;
        }

        /// <summary>The value where the symbols have these values, in the order given when the formula was made.</summary>
        public double Evaluate(double[] values)
        {
            double[] s = stack;
            int h = -1;
            for (int i = 0; i < steps.Length; i++)
            {
                switch (steps[i].Op)
                {
                    case Op.Const: s[++h] = steps[i].Value; break;
                    case Op.Var: s[++h] = Clean(values[steps[i].Index]); break;
                    case Op.Add: h--; s[h] = Bound(s[h] + s[h + 1]); break;
                    case Op.Sub: h--; s[h] = Bound(s[h] - s[h + 1]); break;
                    case Op.Mul: h--; s[h] = Bound(s[h] * s[h + 1]); break;
                    case Op.Div: h--; s[h] = s[h + 1] == 0.0 ? 1.0 : Bound(s[h] / s[h + 1]); break;
                    case Op.Neg: s[h] = -s[h]; break;
                    case Op.Abs: s[h] = Math.Abs(s[h]); break;
                    case Op.Sqrt: s[h] = Math.Sqrt(Math.Abs(s[h])); break;
                    case Op.Log: s[h] = s[h] == 0.0 ? 0.0 : Math.Log(Math.Abs(s[h])); break;
                    case Op.Exp: s[h] = Bound(Math.Exp(Math.Min(Math.Max(s[h], -ExponentLimit), ExponentLimit))); break;
                    case Op.Min: h--; s[h] = s[h + 1] < s[h] ? s[h + 1] : s[h]; break;
                    case Op.Max: h--; s[h] = s[h + 1] > s[h] ? s[h + 1] : s[h]; break;
                    case Op.Gt: h--; s[h] = s[h] > s[h + 1] ? 1.0 : 0.0; break;
                    case Op.Ge: h--; s[h] = s[h] >= s[h + 1] ? 1.0 : 0.0; break;
                    case Op.Lt: h--; s[h] = s[h] < s[h + 1] ? 1.0 : 0.0; break;
                    case Op.Le: h--; s[h] = s[h] <= s[h + 1] ? 1.0 : 0.0; break;
                    case Op.If: h -= 2; s[h] = s[h] > 0.0 ? s[h + 1] : s[h + 2]; break;
                    default: throw new FormulaException("unknown operation " + steps[i].Op);
                }
            }
            return s[0] + 0.0;
        }

        internal static bool IsNamePart(char c) =>
            c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        internal static bool IsOperation(string name) => Operations.ContainsKey(name);

        internal static int ArityOf(string name) => Arity(Operations[name]);

        private static int Arity(Op op)
        {
            if (op == Op.Const || op == Op.Var)
                return 0;
            if (op == Op.If)
                return 3;
            return op >= Op.Neg && op <= Op.Exp ? 1 : 2;
        }

        private static Step StepOf(object token, IList<string> order, HashSet<string> used)
        {
            var step = new Step();
            string name = token as string;
            if (name == null)
            {
                step.Value = (double)token + 0.0;
                if (!(Math.Abs(step.Value) <= Limit))
                    throw new FormulaException("the number " + step.Value + " is out of range, expected within ±1e300");
            }
            else if (!Operations.TryGetValue(name, out step.Op))
            {
                step.Op = Op.Var;
                step.Index = order.IndexOf(name);
                if (step.Index < 0)
                    throw new FormulaException("unknown symbol " + name + ", expected one of " + string.Join(", ", order));
                used.Add(name);
            }
            return step;
        }

        private static double Clean(double x) => double.IsNaN(x) ? 0.0 : Bound(x);

        private static double Bound(double x) => x > Limit ? Limit : x < -Limit ? -Limit : x;
    }
}
