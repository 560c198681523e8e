using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using PersonaEvo.Playtest.Samples;

namespace PersonaEvo.Playtest.Games
{
    /// <summary>
    /// The corridor as a console program: played by the driver that started it, or once by a policy file, or at random.
    /// </summary>
    internal static class Program
    {
        private const string Usage = @"corridor.exe [OPTION VALUE]...
  --policy FILE       play by a policy file of persona-evo
  --formula TEXT      play by a formula over ST, COINS, OUT and the search's variables
  --utility TEXT      what the search is to reach (the policy file's, or the game's score)
  --player NAME       search (default) or lookahead
  --iterations N      of the search before each choice (1000)
  --map TEXT          such as @..$.D
  --seed N            of the game and of the search (1)
Without --policy and --formula the choices are random. A driver that starts this program needs no options.";

        private static readonly string[] Names =
            { "--policy", "--formula", "--utility", "--player", "--iterations", "--map", "--seed" };

        private static int Main(string[] arguments)
        {
            try
            {
                Dictionary<string, string> options = Options(arguments);
                if (options == null)
                {
                    Console.WriteLine(Usage);
                    return 0;
                }
                Play(options);
                return 0;
            }
            catch (Exception e) when (e is PlaytestException || e is IOException || e is UnauthorizedAccessException)
            {
                Console.Error.WriteLine("corridor: " + e.Message);
                return 1;
            }
        }

        private static void Play(Dictionary<string, string> options)
        {
            var game = new CorridorGame();
            var session = new PlaytestSession("corridor", "1", CorridorGame.MostSteps) { Model = game };
            CorridorGame.Declare(session);
            ulong seed = Number(options, "--seed", 1);
            session.LocalSeed = seed;
            if (!session.IsDriverPresent)
            {
                session.Map = Text(options, "--map") ?? "";
                session.Player = Player(game, session, options, seed);
            }
            session.Run(() => game.Play(session));
            if (!session.IsDriverPresent)
                Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "score {0:0.00} steps {1} coins {2:0.00} out {3}",
                    session.LastScore, game.Steps, game.CoinShare, game.IsOut ? 1 : 0));
        }

        private static IPlayer Player(CorridorGame game, PlaytestSession session, Dictionary<string, string> options, ulong seed)
        {
            string file = Text(options, "--policy"), formula = Text(options, "--formula");
            if (file == null && formula == null)
                return null;
            if (file == null)
            {
                var json = new JsonWriter().BeginObject().Name("schema").Value(1).Name("kind").Value("formula");
                file = json.Name("formula").Value(formula).EndObject().ToString();
            }
            else
                file = File.ReadAllText(file);
            int metrics = session.Symbols.Count;
            Policy policy = Policy.Read(file, session.Symbols, Text(options, "--utility"));
            string player = Text(options, "--player") ?? "search";
            if (player == "lookahead")
                return new LookaheadPlayer(game, policy, metrics);
            if (player != "search")
                throw new PlaytestException("--player is '" + player + "', expected search or lookahead");
            int iterations = (int)Math.Min(int.MaxValue, Number(options, "--iterations", 1000));
            return new TreeSearchPlayer(game, policy, metrics, new SearchSettings { Iterations = iterations, Seed = seed });
        }

        private static Dictionary<string, string> Options(string[] arguments)
        {
            var options = new Dictionary<string, string>();
            for (int i = 0; i < arguments.Length; i += 2)
            {
                if (arguments[i] == "--help" || arguments[i] == "-h")
                    return null;
                if (Array.IndexOf(Names, arguments[i]) < 0)
                    throw new PlaytestException("no such option: " + arguments[i] + "; --help lists them");
                if (i + 1 == arguments.Length)
                    throw new PlaytestException(arguments[i] + " needs a value");
                options[arguments[i]] = arguments[i + 1];
            }
            return options;
        }

        private static string Text(Dictionary<string, string> options, string name)
        {
            string value;
            return options.TryGetValue(name, out value) ? value : null;
        }

        private static ulong Number(Dictionary<string, string> options, string name, ulong otherwise)
        {
            string text = Text(options, name);
            ulong value;
            if (text == null)
                return otherwise;
            if (!ulong.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out value))
                throw new PlaytestException(name + " is '" + text + "', expected a whole number >= 0");
            return value;
        }
    }
}
