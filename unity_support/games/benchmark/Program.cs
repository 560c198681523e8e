using System;

namespace PersonaEvo.Playtest.Games
{
    /// <summary>
    /// A game that costs next to nothing, to measure the way to the driver: 40 decisions of 2 to 5 choices, 8 metrics.
    /// The score counts the choices that are the game's favourites, which the game seed decides.
    /// </summary>
    internal static class Benchmark
    {
        private const int Decisions = 40;
        private static readonly string[] Symbols = { "A", "B", "C", "E", "F", "G", "H", "I" };

        private static int Main()
        {
            try
            {
                var session = new PlaytestSession("benchmark", "1", Decisions) { Abilities = Abilities.Seed };
                foreach (string symbol in Symbols)
                    session.DeclareMetric(symbol, "choices of sort " + symbol, 0, Decisions);
                session.Run(() => Play(session));
                if (!session.IsDriverPresent)
                    Console.WriteLine("score " + session.LastScore);
                return 0;
            }
            catch (PlaytestException e)
            {
                Console.Error.WriteLine("benchmark: " + e.Message);
                return 1;
            }
        }

        private static void Play(PlaytestSession session)
        {
            var made = new int[Symbols.Length];
            int score = 0;
            for (int i = 0; i < Decisions; i++)
            {
                int count = session.GameRandom.Between(2, 5), favourite = session.GameRandom.Below(count);
                int choice = session.Select(count);
                int sort = (choice + i) % Symbols.Length;
                made[sort]++;
                session.ReportMetric(Symbols[sort], made[sort]);
                score += choice == favourite ? 1 : 0;
            }
            session.SupplyOutcome(score);
        }
    }
}
