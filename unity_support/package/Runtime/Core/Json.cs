using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace PersonaEvo.Playtest
{
    /// <summary>What a JSON value is.</summary>
    public enum JsonKind
    {
        /// <summary>Nothing.</summary>
        Null,
        /// <summary>True or false.</summary>
        Bool,
        /// <summary>A number.</summary>
        Number,
        /// <summary>A text.</summary>
        String,
        /// <summary>Values in their order.</summary>
        Array,
        /// <summary>Values by their names.</summary>
        Object
    }

    /// <summary>A value of a JSON text. A missing member reads as Null, so chains of [] need no checks.</summary>
    public sealed class JsonValue
    {
        private static readonly List<JsonValue> NoItems = new List<JsonValue>();
        private static readonly Dictionary<string, JsonValue> NoMembers = new Dictionary<string, JsonValue>();
        /// <summary>Stands for what is not there.</summary>
        public static readonly JsonValue Null = new JsonValue(JsonKind.Null);

        private readonly bool truth;
        private readonly double number;
        private readonly string text;
        private readonly List<JsonValue> items = NoItems;
        private readonly Dictionary<string, JsonValue> members = NoMembers;

        private JsonValue(JsonKind kind)
        {
            Kind = kind;
        }

        internal JsonValue(bool value) : this(JsonKind.Bool)
        {
            truth = value;
        }

        internal JsonValue(string value) : this(JsonKind.String)
        {
            text = value;
        }

        internal JsonValue(double value, string written) : this(JsonKind.Number)
        {
            number = value;
            text = written;
        }

        internal JsonValue(List<JsonValue> value) : this(JsonKind.Array)
        {
            items = value;
        }

        internal JsonValue(Dictionary<string, JsonValue> value) : this(JsonKind.Object)
        {
            members = value;
        }

        /// <summary>What the value is.</summary>
        public JsonKind Kind { get; private set; }

        /// <summary>The items of an array, none for anything else.</summary>
        public IList<JsonValue> Items => items;

        /// <summary>The names of an object's members, none for anything else.</summary>
        public ICollection<string> Names => members.Keys;

        /// <summary>A member of an object, Null where there is none.</summary>
        public JsonValue this[string name]
        {
            get
            {
                JsonValue found;
                return members.TryGetValue(name, out found) ? found : Null;
            }
        }

        /// <summary>A text; otherwise where it is none.</summary>
        public string AsString(string otherwise = "") => Kind == JsonKind.String ? text : otherwise;

        /// <summary>A number; otherwise where it is none.</summary>
        public double AsDouble(double otherwise = 0.0) => Kind == JsonKind.Number ? number : otherwise;

        /// <summary>True or false; otherwise where it is neither.</summary>
        public bool AsBool(bool otherwise = false) => Kind == JsonKind.Bool ? truth : otherwise;

        /// <summary>A whole number within an int; otherwise where it is none.</summary>
        public int AsInt(int otherwise = 0)
        {
            bool whole = Kind == JsonKind.Number && number == Math.Floor(number) && Math.Abs(number) <= int.MaxValue;
            return whole ? (int)number : otherwise;
        }

        /// <summary>A whole number of 64 bits, exact, written as a number or as a text; otherwise where it is none.</summary>
        public ulong AsULong(ulong otherwise = 0)
        {
            ulong value;
            return ulong.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out value) ? value : otherwise;
        }

        /// <summary>Parses a text.</summary>
        /// <exception cref="JsonException">It is not JSON, or nested too deeply.</exception>
        public static JsonValue Parse(string text) => new JsonReader(text).Whole();
    }

    /// <summary>Reads JSON (RFC 8259), strictly; nesting is limited, so no text can exhaust the stack.</summary>
    internal sealed class JsonReader
    {
        internal const int MostDepth = 64;

        private readonly string text;
        private int at;
        private int depth;

        internal JsonReader(string text)
        {
            if (text == null)
                throw new ArgumentNullException("text");
            this.text = text;
        }

        internal JsonValue Whole()
        {
            if (text.Length > 0 && text[0] == '\uFEFF')
                at = 1;
            JsonValue value = Value();
            SkipSpace();
            if (at < text.Length)
                throw Wrong("the end of the text");
            return value;
        }

        private JsonValue Value()
        {
            SkipSpace();
            char c = at < text.Length ? text[at] : '\0';
            if (c == '{')
                return Object();
            if (c == '[')
                return Array();
            if (c == '"')
                return new JsonValue(String());
            if (c == '-' || (c >= '0' && c <= '9'))
                return Number();
            if (Take("true"))
                return new JsonValue(true);
            if (Take("false"))
                return new JsonValue(false);
            if (Take("null"))
                return JsonValue.Null;
            throw Wrong("a value");
        }

        private JsonValue Object()
        {
            Enter();
            var members = new Dictionary<string, JsonValue>();
            SkipSpace();
            if (!Take("}"))
            {
                do
                {
                    SkipSpace();
                    if (at >= text.Length || text[at] != '"')
                        throw Wrong("a member's name in quotes");
                    string name = String();
                    SkipSpace();
                    if (!Take(":"))
                        throw Wrong("a colon");
                    members[name] = Value();
                    SkipSpace();
                } while (Take(","));
                if (!Take("}"))
                    throw Wrong("a comma or }");
            }
            depth--;
            return new JsonValue(members);
        }

        private JsonValue Array()
        {
            Enter();
            var items = new List<JsonValue>();
            SkipSpace();
            if (!Take("]"))
            {
                do
                {
                    items.Add(Value());
                    SkipSpace();
                } while (Take(","));
                if (!Take("]"))
                    throw Wrong("a comma or ]");
            }
            depth--;
            return new JsonValue(items);
        }

        private void Enter()
        {
            at++;
            depth++;
            if (depth > MostDepth)
                throw Wrong("at most " + MostDepth + " levels of nesting");
        }

        private string String()
        {
            at++;
            var found = new StringBuilder();
            while (at < text.Length && text[at] != '"')
            {
                char c = text[at];
                if (c < ' ')
                    throw Wrong("no control character inside a string");
                if (c == '\\')
                {
                    found.Append(Escape());
                    continue;
                }
                found.Append(c);
                at++;
            }
            if (at >= text.Length)
                throw Wrong("the closing quote of a string");
            at++;
            return found.ToString();
        }

        private char Escape()
        {
            const string Letters = "\"\\/bfnrt";
            const string Meant = "\"\\/\b\f\n\r\t";
            at++;
            char c = at < text.Length ? text[at] : '\0';
            int which = c == '\0' ? -1 : Letters.IndexOf(c);
            if (which >= 0)
            {
                at++;
                return Meant[which];
            }
            ushort code;
            if (c != 'u' || at + 5 > text.Length || !ushort.TryParse(
                text.Substring(at + 1, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out code))
                throw Wrong("an escape such as \\n or \\u00e9");
            at += 5;
            return (char)code;
        }

        private JsonValue Number()
        {
            int begin = at;
            Take("-");
            if (!Take("0"))
                Digits();
            if (Take("."))
                Digits();
            if (Take("e") || Take("E"))
            {
                if (!Take("+"))
                    Take("-");
                Digits();
            }
            string written = text.Substring(begin, at - begin);
            double value;
            if (!Numbers.TryParse(written, out value))
                throw new JsonException("JSON: the number " + written + " is too large");
            return new JsonValue(value, written);
        }

        private void Digits()
        {
            int begin = at;
            while (at < text.Length && text[at] >= '0' && text[at] <= '9')
                at++;
            if (at == begin)
                throw Wrong("a digit");
        }

        private bool Take(string wanted)
        {
            if (string.CompareOrdinal(text, at, wanted, 0, wanted.Length) != 0)
                return false;
            at += wanted.Length;
            return true;
        }

        private void SkipSpace()
        {
            while (at < text.Length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r'))
                at++;
        }

        private JsonException Wrong(string expected)
        {
            int line = 1, column = 1;
            for (int i = 0; i < at && i < text.Length; i++)
            {
                column = text[i] == '\n' ? 1 : column + 1;
                line += text[i] == '\n' ? 1 : 0;
            }
            string found = at < text.Length ? "'" + text[at] + "'" : "the end";
            return new JsonException("JSON, line " + line + ", column " + column + ": " + expected + " expected, found " + found);
        }
    }

    /// <summary>Reads numbers the same way in every culture.</summary>
    internal static class Numbers
    {
        /// <summary>Reads a number; false where it is none or too large for a double.</summary>
        internal static bool TryParse(string text, out double value)
        {
            try
            {
                value = double.Parse(text, NumberStyles.Float, CultureInfo.InvariantCulture);
                return !double.IsInfinity(value) && !double.IsNaN(value);
            }
            catch (FormatException)
            {
                value = 0.0;
                return false;
            }
            catch (OverflowException)
            {
                value = 0.0;
                return false;
            }
        }
    }
}
