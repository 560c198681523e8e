using System;
using System.Collections.Generic;

namespace PersonaEvo.Playtest
{
    /// <summary>A number that the game reports of its state. Low and High are NaN if there is no bound.</summary>
    public sealed class MetricInfo
    {
        internal MetricInfo(string symbol, string name, double low, double high)
        {
            Symbol = symbol;
            Name = name;
            Low = low;
            High = high;
        }

        /// <summary>How formulas call it.</summary>
        public string Symbol { get; }

        /// <summary>What it is, in words.</summary>
        public string Name { get; }

        /// <summary>The lowest value that it can have.</summary>
        public double Low { get; }

        /// <summary>The highest value that it can have.</summary>
        public double High { get; }
    }

    /// <summary>The metrics that a game declared, with their present values. They are 0 at the start of a playthrough.</summary>
    internal sealed class MetricTable
    {
        private readonly List<MetricInfo> infos = new List<MetricInfo>();
        private readonly List<string> symbols = new List<string>();
        private readonly Dictionary<string, int> index = new Dictionary<string, int>(StringComparer.Ordinal);

        internal float[] Values = new float[0];
        internal IList<MetricInfo> Infos => infos;
        internal IList<string> Symbols => symbols;
        internal int Count => infos.Count;

        internal void Declare(MetricInfo info)
        {
            if (!Formula.IsSymbol(info.Symbol))
                throw new ArgumentException("'" + info.Symbol
                    + "' is not a valid symbol; expected letters, digits and _, and not the name of a function");
            if (Array.IndexOf(Policy.SearchVariables, info.Symbol) >= 0 || info.Symbol == "AN" || info.Symbol == "AR")
                throw new ArgumentException("the symbol " + info.Symbol + " belongs to the search; give the metric another");
            if (info.Low > info.High)
                throw new ArgumentException("the metric " + info.Symbol + " has the lower bound " + info.Low + " above "
                    + info.High);
            if (index.ContainsKey(info.Symbol))
                throw new ArgumentException("the metric " + info.Symbol + " is declared twice");
            index.Add(info.Symbol, infos.Count);
            infos.Add(info);
            symbols.Add(info.Symbol);
            Values = new float[infos.Count];
        }

        internal void Clear()
        {
            Array.Clear(Values, 0, Values.Length);
        }

        internal void Set(string symbol, double value)
        {
            int at;
            if (!index.TryGetValue(symbol, out at))
                throw new ArgumentException("the metric " + symbol + " is not declared; declared are "
                    + string.Join(", ", symbols));
            if (!(Math.Abs(value) <= float.MaxValue))
                throw new ArgumentException("the metric " + symbol + " is " + value + ", no finite number of 32 bits");
            Values[at] = (float)value;
        }

        internal float Get(string symbol)
        {
            int at;
            return symbol != null && index.TryGetValue(symbol, out at) ? Values[at] : 0.0f;
        }

        /// <summary>
        /// Rounds a value to what is sent: NaN becomes 0 as in formulas, and values beyond f32 become its largest.
        /// </summary>
        internal static float ToWire(double value)
        {
            if (double.IsNaN(value))
                return 0.0f;
            if (value > float.MaxValue)
                return float.MaxValue;
            return value < -float.MaxValue ? -float.MaxValue : (float)value;
        }
    }
}
