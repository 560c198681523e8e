namespace PersonaEvo.Playtest.Games.Roguelike2d
{
    /// <summary>What the game reports of each state: name, symbol in formulas, highest value.</summary>
    public static class Metrics
    {
        public struct Metric
        {
            public readonly string Name, Symbol;
            /// <summary>Most that it can be; NaN without an end. The least is 0 for all.</summary>
            public readonly double High;

            public Metric(string name, string symbol, double high = double.NaN)
            {
                Name = name;
                Symbol = symbol;
                High = high;
            }
        }

        /// <summary>In the order in which <see cref="Roguelike.Measure"/> writes them.</summary>
        public static readonly Metric[] All =
        {
            new Metric("decisions", "ST"),
            new Metric("moves", "MV"),
            new Metric("food left", "FD"),
            new Metric("days survived", "DS", Roguelike.MostDays),
            new Metric("progress", "PR", 1),
            new Metric("items eaten", "EA"),
            new Metric("food gained", "FG"),
            new Metric("hits taken", "HT"),
            new Metric("damage taken", "DT"),
            new Metric("walls destroyed", "WD"),
            new Metric("reward", "RW"),
            new Metric("dead", "DEAD", 1),
            new Metric("won", "WON", 1),
            new Metric("way to the exit", "NX", 1),
            new Metric("nearest item", "NF", 1),
            new Metric("nearest enemy", "NM", 1),
        };
    }
}
