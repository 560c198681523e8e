using System.Globalization;
using System.Text;

namespace PersonaEvo.Playtest
{
    /// <summary>Writes JSON and puts the commas where they belong.</summary>
    public sealed class JsonWriter
    {
        private readonly StringBuilder text = new StringBuilder();
        private bool comma;

        /// <summary>Begins an object.</summary>
        public JsonWriter BeginObject() => Open('{');

        /// <summary>Ends an object.</summary>
        public JsonWriter EndObject() => Close('}');

        /// <summary>Begins an array.</summary>
        public JsonWriter BeginArray() => Open('[');

        /// <summary>Ends an array.</summary>
        public JsonWriter EndArray() => Close(']');

        /// <summary>The name of a member, before its value.</summary>
        public JsonWriter Name(string name)
        {
            Value(name);
            text.Append(':');
            comma = false;
            return this;
        }

        /// <summary>A text, or null.</summary>
        public JsonWriter Value(string value)
        {
            if (value == null)
                return Raw("null");
            Separate();
            text.Append('"');
            foreach (char c in value)
            {
                if (c == '"' || c == '\\')
                    text.Append('\\').Append(c);
                else if (c < ' ' || c == '\u2028' || c == '\u2029' || char.IsSurrogate(c))
                    text.Append("\\u").Append(((int)c).ToString("x4", CultureInfo.InvariantCulture));
                else
                    text.Append(c);
            }
            text.Append('"');
            return this;
        }

        /// <summary>A number; null where it is not finite.</summary>
        public JsonWriter Value(double value)
        {
            bool finite = !double.IsNaN(value) && !double.IsInfinity(value);
            return Raw(finite ? value.ToString("R", CultureInfo.InvariantCulture) : "null");
        }

        /// <summary>A whole number.</summary>
        public JsonWriter Value(long value) => Raw(value.ToString(CultureInfo.InvariantCulture));

        /// <inheritdoc cref="Value(long)"/>
        public JsonWriter Value(ulong value) => Raw(value.ToString(CultureInfo.InvariantCulture));

        /// <inheritdoc cref="Value(long)"/>
        public JsonWriter Value(int value) => Value((long)value);

        /// <summary>True or false.</summary>
        public JsonWriter Value(bool value) => Raw(value ? "true" : "false");

        /// <summary>What was written.</summary>
        public override string ToString() => text.ToString();

        private JsonWriter Raw(string written)
        {
            Separate();
            text.Append(written);
            return this;
        }

        private JsonWriter Open(char bracket)
        {
            Separate();
            text.Append(bracket);
            comma = false;
            return this;
        }

        private JsonWriter Close(char bracket)
        {
            text.Append(bracket);
            comma = true;
            return this;
        }

        private void Separate()
        {
            if (comma)
                text.Append(',');
            comma = true;
        }
    }
}
