using System.Collections.Generic;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// Reads a formula's text into postfix order, without recursion (shunting-yard): numbers, symbols, + - * /,
    /// comparisons, brackets, calls such as max(a, b), powers with a small whole exponent; # starts a comment.
    /// </summary>
    internal sealed class FormulaParser
    {
        private const int Comparison = 1, Sum = 2, Product = 3, Sign = 4;

        private struct Lexeme
        {
            internal char Kind;
            internal string Text;
            internal int Line, Column;
        }

        private struct Pending
        {
            internal string Name;
            internal int Precedence, Operands, At;
        }

        private readonly List<Lexeme> lexemes = new List<Lexeme>();
        private readonly List<object> output = new List<object>();
        private readonly List<int> begins = new List<int>();
        private readonly Stack<Pending> pending = new Stack<Pending>();
        private int at;

        internal FormulaParser(string text)
        {
            Split(text);
            if (lexemes[0].Kind == 'e')
                throw Wrong("it is empty, expected an expression such as 0.7 * MS + 0.3 * PE");
        }

        /// <summary>The tokens, strings and doubles.</summary>
        internal IList<object> Run()
        {
            bool wantsOperand = true;
            while (lexemes[at].Kind != 'e')
            {
                wantsOperand = wantsOperand ? Operand() : Operator();
                at++;
            }
            if (wantsOperand)
                throw MissingOperand();
            while (pending.Count > 0)
            {
                Pending top = pending.Pop();
                if (top.Name.EndsWith("("))
                    throw WrongAt(top.At, "the bracket " + top.Name + " is not closed");
                Apply(top);
            }
            return output;
        }

        private void Split(string text)
        {
            int line = 1, start = 0, i = 0;
            while (i < text.Length)
            {
                char c = text[i];
                int begin = i;
                if (c == '\n')
                {
                    line++;
                    start = ++i;
                }
                else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v')
                    i++;
                else if (c == '#')
                    while (i < text.Length && text[i] != '\n')
                        i++;
                else
                    i = Piece(text, i, line, begin - start + 1);
            }
            lexemes.Add(new Lexeme { Kind = 'e', Text = "", Line = line, Column = text.Length - start + 1 });
        }

        private int Piece(string text, int begin, int line, int column)
        {
            int end = NumberEnd(text, begin);
            char kind = 'n';
            if (end == begin)
            {
                kind = 's';
                while (end < text.Length && Formula.IsNamePart(text[end]))
                    end++;
            }
            if (end == begin)
            {
                kind = 'o';
                end = begin + OperatorLength(text, begin);
            }
            if (end == begin)
                throw new FormulaException("no formula contains the character '" + text[begin] + "'", line, column);
            lexemes.Add(new Lexeme { Kind = kind, Text = text.Substring(begin, end - begin), Line = line, Column = column });
            return end;
        }

        /// <summary>Returns where the number that begins here ends, or this place if none begins here.</summary>
        private static int NumberEnd(string text, int begin)
        {
            int i = Digits(text, begin), digits = i - begin;
            if (i < text.Length && text[i] == '.')
            {
                int after = Digits(text, i + 1);
                digits += after - i - 1;
                i = after;
            }
            if (digits == 0)
                return begin;
            if (i < text.Length && (text[i] == 'e' || text[i] == 'E'))
            {
                int sign = i + 1 < text.Length && (text[i + 1] == '+' || text[i + 1] == '-') ? 1 : 0;
                int after = Digits(text, i + 1 + sign);
                if (after > i + 1 + sign)
                    i = after;
            }
            return i;
        }

        private static int Digits(string text, int i)
        {
            while (i < text.Length && text[i] >= '0' && text[i] <= '9')
                i++;
            return i;
        }

        private static int OperatorLength(string text, int i)
        {
            string two = i + 1 < text.Length ? text.Substring(i, 2) : "";
            if (two == "**" || two == ">=" || two == "<=" || two == "==" || two == "!=")
                return 2;
            return "+-*/^(),<>".IndexOf(text[i]) >= 0 ? 1 : 0;
        }

        private bool Operand()
        {
            Lexeme lexeme = lexemes[at];
            if (lexeme.Kind == 'n')
                Number(lexeme);
            else if (lexeme.Kind == 's')
            {
                if (lexemes[at + 1].Text == "(")
                {
                    Call(lexeme);
                    return true;
                }
                if (Formula.IsOperation(lexeme.Text))
                    throw Wrong("the function " + lexeme.Text + " stands without its brackets");
                Push(lexeme.Text);
            }
            else if (lexeme.Text == "(" || lexeme.Text == "-")
            {
                bool minus = lexeme.Text == "-";
                pending.Push(new Pending { Name = minus ? "neg" : "(", Precedence = minus ? Sign : 0, At = at });
                return true;
            }
            else if (lexeme.Text == "+")
                return true;
            else
                throw MissingOperand();
            return false;
        }

        private bool Operator()
        {
            Lexeme lexeme = lexemes[at];
            if (lexeme.Text == "^" || lexeme.Text == "**")
            {
                Power();
                return false;
            }
            if (lexeme.Text == ")")
            {
                Close();
                return false;
            }
            if (lexeme.Text == ",")
                Comma();
            else if (lexeme.Text == "==" || lexeme.Text == "!=")
                throw Wrong("no such comparison as " + lexeme.Text + "; equal is written (a >= b) * (a <= b)");
            else if (lexeme.Kind == 'o' && Formula.IsOperation(lexeme.Text))
                Infix(lexeme);
            else
                throw Wrong("two values stand side by side; a product needs its *, as in 2 * ST");
            return true;
        }

        private void Push(object token)
        {
            begins.Add(output.Count);
            output.Add(token);
            CheckSize(output.Count);
        }

        private void Apply(Pending operation)
        {
            int arity = Formula.ArityOf(operation.Name);
            begins.RemoveRange(begins.Count - arity + 1, arity - 1);
            output.Add(operation.Name);
            CheckSize(output.Count);
        }

        private void CheckSize(int size)
        {
            if (size > Formula.MaxNodes)
                throw Wrong("more than " + Formula.MaxNodes + " operations, symbols and numbers");
        }

        private void Number(Lexeme lexeme)
        {
            double value;
            if (!Numbers.TryParse(lexeme.Text, out value) || value > Formula.Limit)
                throw Wrong("the number " + lexeme.Text + " is out of range, expected within ±1e300");
            bool negative = pending.Count > 0 && pending.Peek().Name == "neg" && pending.Peek().At == at - 1;
            string next = lexemes[at + 1].Text;
            if (negative && next != "^" && next != "**")
            {
                pending.Pop();
                value = 0.0 - value;
            }
            Push(value);
        }

        private void Call(Lexeme lexeme)
        {
            if (!Formula.IsOperation(lexeme.Text))
                throw Wrong("unknown function " + lexeme.Text + "; a product needs its *, as in ST * (...)");
            pending.Push(new Pending { Name = lexeme.Text + "(", Operands = 1, At = at });
            at++;
            if (lexemes[at + 1].Text == ")")
                throw WrongAt(at - 1, lexeme.Text + " has no arguments, expected " + Formula.ArityOf(lexeme.Text));
        }

        private void Infix(Lexeme lexeme)
        {
            string name = lexeme.Text;
            int precedence = name == "+" || name == "-" ? Sum : name == "*" || name == "/" ? Product : Comparison;
            while (pending.Count > 0 && pending.Peek().Precedence >= precedence)
            {
                Pending top = pending.Pop();
                if (top.Precedence == Comparison)
                    throw Wrong("comparisons cannot follow each other; put brackets around one");
                Apply(top);
            }
            pending.Push(new Pending { Name = name, Precedence = precedence, At = at });
        }

        private void Power()
        {
            at++;
            Lexeme exponent = lexemes[at];
            int times;
            if (exponent.Kind != 'n' || exponent.Text.Length > 9 || !int.TryParse(exponent.Text, out times))
                throw Wrong("the exponent is not a small whole number in digits");
            string after = at + 1 < lexemes.Count ? lexemes[at + 1].Text : "";
            if (after == "^" || after == "**")
                throw WrongAt(at + 1, "a power of a power needs brackets, as in (x ^ 2) ^ 3");
            int begin = begins[begins.Count - 1];
            List<object> operand = output.GetRange(begin, output.Count - begin);
            if (times > Formula.MaxNodes)
                CheckSize(times);
            CheckSize(begin + System.Math.Max(1, times * (operand.Count + 1) - 1));
            output.RemoveRange(begin, operand.Count);
            if (times == 0)
                output.Add(1.0);
            for (int i = 0; i < times; i++)
            {
                output.AddRange(operand);
                if (i > 0)
                    output.Add("*");
            }
        }

        private void Comma()
        {
            Pending call;
            if (!Unwind(out call) || call.Name == "(")
                throw Wrong("a comma stands outside of a call; numbers have a decimal point: 0.7");
            call.Operands++;
            pending.Push(call);
        }

        private void Close()
        {
            Pending opened;
            if (!Unwind(out opened))
                throw Wrong("a closing bracket has no opening one");
            if (opened.Name == "(")
                return;
            string name = opened.Name.Substring(0, opened.Name.Length - 1);
            if (opened.Operands != Formula.ArityOf(name))
                throw WrongAt(opened.At, name + " has " + opened.Operands + " arguments, expected " + Formula.ArityOf(name));
            opened.Name = name;
            Apply(opened);
        }

        private bool Unwind(out Pending bracket)
        {
            while (pending.Count > 0)
            {
                bracket = pending.Pop();
                if (bracket.Name.EndsWith("("))
                    return true;
                Apply(bracket);
            }
            bracket = new Pending();
            return false;
        }

        private FormulaException MissingOperand()
        {
            string found = lexemes[at].Text.Length > 0 ? lexemes[at].Text : "the end";
            return Wrong("a value is missing before " + found);
        }

        private FormulaException Wrong(string message) => WrongAt(at, message);

        private FormulaException WrongAt(int index, string message) =>
            new FormulaException(message, lexemes[index].Line, lexemes[index].Column);
    }
}
