using System;
using System.Collections.Generic;
using System.IO;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// How often the avatar stood on each cell, per playthrough. It is read from the traces.jsonl of a playtest, which has
    /// one JSON object a line with level, player and positions: (x, y) before the first action and after each.
    /// </summary>
    public sealed class Heatmap
    {
        private const int MostCoordinate = 100000;
        private readonly Dictionary<long, int> visits = new Dictionary<long, int>();

        private Heatmap()
        {
            Levels = new SortedSet<string>(StringComparer.Ordinal);
            Players = new SortedSet<string>(StringComparer.Ordinal);
        }

        /// <summary>Every level of the file, whether asked for or not.</summary>
        public SortedSet<string> Levels { get; private set; }
        /// <summary>Every player of the file, whether asked for or not.</summary>
        public SortedSet<string> Players { get; private set; }

        /// <summary>Playthroughs counted.</summary>
        public int Playthroughs { get; private set; }

        /// <summary>The width of the smallest rectangle from (0, 0) that holds every cell.</summary>
        public int Width { get; private set; }
        /// <summary>The height of this rectangle.</summary>
        public int Height { get; private set; }

        /// <summary>The most visits of a cell per playthrough.</summary>
        public double Most { get; private set; }

        /// <summary>Visits of a cell per playthrough.</summary>
        public double this[int x, int y]
        {
            get
            {
                int found;
                visits.TryGetValue(Key(x, y), out found);
                return Playthroughs == 0 ? 0.0 : found / (double)Playthroughs;
            }
        }

        /// <summary>Reads traces.</summary>
        /// <param name="level">Only of this level; "" or null for all.</param>
        /// <param name="player">Only by this player; "" or null for all.</param>
        /// <exception cref="JsonException">A line is not JSON, with its number.</exception>
        public static Heatmap Read(TextReader lines, string level = null, string player = null)
        {
            var map = new Heatmap();
            string line;
            for (int number = 1; (line = lines.ReadLine()) != null; number++)
            {
                if (line.Trim().Length == 0)
                    continue;
                try
                {
                    map.Add(JsonValue.Parse(line), level, player);
                }
                catch (JsonException e)
                {
                    throw new JsonException("trace " + number + ": " + e.Message);
                }
            }
            return map;
        }

        private void Add(JsonValue trace, string level, string player)
        {
            string where = trace["level"].AsString(), who = trace["player"].AsString();
            Levels.Add(where);
            Players.Add(who);
            if ((!string.IsNullOrEmpty(level) && level != where) || (!string.IsNullOrEmpty(player) && player != who))
                return;
            if (trace["positions"].Items.Count == 0)
                return;
            Playthroughs++;
            foreach (JsonValue position in trace["positions"].Items)
            {
                int x = position.Items.Count == 2 ? position.Items[0].AsInt(-1) : -1;
                int y = position.Items.Count == 2 ? position.Items[1].AsInt(-1) : -1;
                if (x < 0 || y < 0 || x > MostCoordinate || y > MostCoordinate)
                    throw new JsonException("a position is not a cell; expected [x, y] from 0 to " + MostCoordinate);
                Count(x, y);
            }
            Most = 0.0;
            foreach (int times in visits.Values)
                Most = Math.Max(Most, times / (double)Playthroughs);
        }

        private void Count(int x, int y)
        {
            int before;
            visits.TryGetValue(Key(x, y), out before);
            visits[Key(x, y)] = before + 1;
            Width = Math.Max(Width, x + 1);
            Height = Math.Max(Height, y + 1);
        }

        private static long Key(int x, int y) => ((long)y << 32) | (uint)x;
    }
}
