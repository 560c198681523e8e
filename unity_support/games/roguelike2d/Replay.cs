using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Text;

namespace PersonaEvo.Playtest.Games.Roguelike2d
{
    /// <summary>
    /// Random games as text, without the driver. Each line that is read asks for one:
    ///   GAME_SEED DAYS VARIANT PLAYER CHOICE_SEED WEIGHTED
    /// (WEIGHTED 1: choices by the game's weights, 0: all alike). Each line that is written is a decision: how many
    /// choices, the one made, then of the state after it: 0 running, 1 won, 2 lost, <see cref="Roguelike.State"/>, the
    /// metrics. The line of the start has 0 choices and 0 made; an empty line ends a game.
    /// </summary>
    public static class Replay
    {
        public static int Run(TextReader input, TextWriter output)
        {
            string line;
            while ((line = input.ReadLine()) != null)
            {
                if (line.Trim().Length == 0)
                    continue;
                string problem = Play(line.Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries), output);
                if (problem != null)
                {
                    Console.Error.WriteLine("cannot replay: " + problem + ": " + line);
                    return 2;
                }
            }
            output.Flush();
            return 0;
        }

        private static string Play(string[] words, TextWriter output)
        {
            ulong gameSeed, choiceSeed;
            int days;
            Player player;
            if (words.Length != 6)
                return "expected GAME_SEED DAYS VARIANT PLAYER CHOICE_SEED WEIGHTED";
            if (!ulong.TryParse(words[0], out gameSeed) || !ulong.TryParse(words[4], out choiceSeed))
                return "a seed is no whole number";
            if (!int.TryParse(words[1], out days) || days < 1 || days > Roguelike.MostDays)
                return "days from 1 to " + Roguelike.MostDays;
            if (!Variant.All.ContainsKey(words[2]))
                return "no such variant, expected " + string.Join(" or ", new List<string>(Variant.All.Keys));
            if (!Settings.Players.TryGetValue(words[3], out player))
                return "no such player, expected " + string.Join(" or ", new List<string>(Settings.Players.Keys));
            var luck = new SplitMix64(choiceSeed);
            var game = new Roguelike(days, Variant.All[words[2]], player, new SplitMix64(gameSeed));
            Write(output, game, 0, 0);
            while (!game.Over)
            {
                int count = game.Count;
                double[] weights = words[5] == "1" ? game.Weights : null;
                int choice = weights == null ? luck.Below(count) : luck.Weighted(weights);
                game.Choose(choice);
                Write(output, game, count, choice);
            }
            output.WriteLine();
            return null;
        }

        private static void Write(TextWriter output, Roguelike game, int count, int choice)
        {
            var line = new StringBuilder();
            line.Append(count).Append(' ').Append(choice).Append(' ').Append(game.Won ? 1 : game.Dead ? 2 : 0);
            foreach (int number in game.State())
                line.Append(' ').Append(number);
            var values = new double[Metrics.All.Length];
            game.Measure(values);
            foreach (double value in values)
            {
                line.Append(' ');
                if (value == (int)value)
                    line.Append((int)value);
                else
                    line.Append(value.ToString("R", CultureInfo.InvariantCulture));
            }
            output.WriteLine(line.ToString());
        }
    }
}
