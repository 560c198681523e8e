using PersonaEvo.Playtest;

namespace PersonaEvo.Playtest.Samples
{
    /// <summary>
    /// A whole game: walk along a corridor, pick up coins, leave by the door (D) within 60 steps. It knows nothing of
    /// Unity nor of the driver, so it can also be tried out by a search inside the game.
    /// </summary>
    public sealed class CorridorGame : IWeightedModel
    {
        public const int MostSteps = 60;
        private const int Width = 12, Coins = 3;

        private sealed class Snapshot
        {
            internal string Tiles;
            internal int At, Steps, Total;
            internal bool[] Coins;
        }

        private string tiles = "@D";
        private bool[] coins = new bool[2];
        private int at, steps, total;

        /// <summary>Sets the corridor up: from a text such as "@.$.D", or from the seed where the text is "".</summary>
        /// <exception cref="PlaytestException">The text is no corridor.</exception>
        public void Start(string map, SplitMix64 random)
        {
            tiles = string.IsNullOrEmpty(map) ? Generate(random) : map;
            at = tiles.IndexOf('@');
            if (at < 0 || tiles.IndexOf('D') < 0)
                throw new PlaytestException("the map '" + tiles
                    + "' is no corridor; expected @, D, and $ for coins, as in @.$.D");
            coins = new bool[tiles.Length];
            total = steps = 0;
            for (int i = 0; i < tiles.Length; i++)
            {
                coins[i] = tiles[i] == '$';
                total += coins[i] ? 1 : 0;
            }
        }

        public int At => at;
        public int Steps => steps;
        public bool IsOut => tiles[at] == 'D';
        public bool IsOver => IsOut || steps >= MostSteps;
        public double CoinShare => total == 0 ? 1.0 : 1.0 - Left() / (double)total;
        public double Score => (IsOut ? 1.0 : 0.0) + CoinShare - 0.01 * steps;

        /// <summary>Both ways, but one at an end of the corridor.</summary>
        public int Count => IsOver ? 0 : at == 0 || at == tiles.Length - 1 ? 1 : 2;

        /// <summary>One step: choice 0 is to the left where that is possible.</summary>
        public void Apply(int choice)
        {
            at += at > 0 && choice == 0 ? -1 : 1;
            coins[at] = false;
            steps++;
        }

        public void Measure(double[] values)
        {
            values[0] = steps;
            values[1] = CoinShare;
            values[2] = IsOut ? 1.0 : 0.0;
        }

        public object Save()
        {
            return new Snapshot { Tiles = tiles, At = at, Steps = steps, Total = total, Coins = (bool[])coins.Clone() };
        }

        public void Restore(object state)
        {
            var saved = (Snapshot)state;
            tiles = saved.Tiles;
            at = saved.At;
            steps = saved.Steps;
            total = saved.Total;
            coins = (bool[])saved.Coins.Clone();
        }

        /// <summary>What tells two states of one corridor apart.</summary>
        public ulong Hash()
        {
            ulong hash = Fnv.Add(Fnv.Start, (ulong)at);
            for (int i = 0; i < coins.Length; i++)
                hash = Fnv.Add(hash, coins[i] ? 1UL : 0UL, 1);
            return Fnv.Add(hash, (ulong)steps);
        }

        /// <summary>Declares what ReportTo reports, in the order of Measure.</summary>
        public static void Declare(PlaytestSession session)
        {
            session.Abilities = Abilities.Seed | Abilities.Weights | Abilities.Hash | Abilities.Maps
                | Abilities.Snapshots;
            session.DeclareMetric("ST", "steps so far", 0, MostSteps);
            session.DeclareMetric("COINS", "share of the coins picked up", 0, 1);
            session.DeclareMetric("OUT", "1 when through the door", 0, 1);
        }

        public void ReportTo(PlaytestSession session)
        {
            session.ReportFrom(this);
            session.ReportState(Hash());
        }

        /// <summary>How likely a guess should take each way: forward twice as likely.</summary>
        public double[] Weights()
        {
            return Count == 2 ? new[] { 1.0, 2.0 } : null;
        }

        /// <summary>Plays once, from the set-up to the outcome.</summary>
        public void Play(PlaytestSession session)
        {
            if (!session.TryRestore())
            {
                Start(session.Map, session.GameRandom);
                ReportTo(session);
            }
            while (!IsOver)
            {
                Apply(session.Select(Count, Weights()));
                ReportTo(session);
            }
            session.SupplyOutcome(Score);
        }

        private static string Generate(SplitMix64 random)
        {
            var line = new char[Width];
            for (int i = 0; i < Width; i++)
                line[i] = '.';
            line[Width / 2] = '@';
            line[Width - 1] = 'D';
            for (int placed = 0; placed < Coins;)
            {
                int cell = random.Below(Width);
                if (line[cell] != '.')
                    continue;
                line[cell] = '$';
                placed++;
            }
            return new string(line);
        }

        private int Left()
        {
            int left = 0;
            foreach (bool coin in coins)
                left += coin ? 1 : 0;
            return left;
        }
    }
}
