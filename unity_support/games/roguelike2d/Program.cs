using System;
using System.IO;
using System.Text;

namespace PersonaEvo.Playtest.Games.Roguelike2d
{
    /// <summary>
    /// 2D Roguelike as a console program: played by the driver that started it, once at random without one, or with
    /// --replay as many times as the standard input asks for (see <see cref="Replay"/>).
    /// </summary>
    internal static class Program
    {
        private const int MostFoodOfAnItem = 30;

        private static int Main(string[] arguments)
        {
            if (arguments.Length == 1 && arguments[0] == "--replay")
                using (var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false), 1 << 16))
                    return Replay.Run(Console.In, output);
            if (arguments.Length > 0)
            {
                Console.Error.WriteLine("roguelike2d: the only option is --replay; found " + string.Join(" ", arguments));
                return 2;
            }
            try
            {
                Play();
                return 0;
            }
            catch (PlaytestException e)
            {
                Console.Error.WriteLine("roguelike2d: " + e.Message);
                return 1;
            }
        }

        private static void Play()
        {
            // Every move costs a point of food and takes two decisions at most.
            int most = 2 * (Roguelike.StartFood + Roguelike.MostDays * Roguelike.MostItems * MostFoodOfAnItem);
            var model = new Model();
            using (var session = new PlaytestSession("roguelike2d", "1", most) { Model = model })
            {
                session.Abilities = Abilities.Seed | Abilities.Weights | Abilities.Hash | Abilities.Maps
                    | Abilities.Snapshots;
                session.Draw = () => Picture.Of(model.Game);
                foreach (Metrics.Metric metric in Metrics.All)
                    session.DeclareMetric(metric.Symbol, metric.Name, 0, metric.High);
                session.DeclareMetric("X", "column", 0, Roguelike.Side - 1);
                session.DeclareMetric("Y", "row from the top", 0, Roguelike.Side - 1);
                session.Connect();
                session.Run(() => Once(session, model));
                if (!session.IsDriverPresent)
                    Console.WriteLine("reward " + model.Game.Reward + ", days survived " + model.Game.Survived);
            }
        }

        private static void Once(PlaytestSession session, Model model)
        {
            var settings = new Settings(session);
            if (!session.TryRestore())
            {
                model.Start(new Roguelike(settings.Days, settings.Variant, settings.Player, session.GameRandom));
                Report(session, model);
            }
            while (!model.Game.Over)
            {
                model.Apply(session.Select(model.Count, model.Weights()));
                Report(session, model);
            }
            session.SupplyOutcome(model.Game.Reward);
        }

        private static void Report(PlaytestSession session, Model model)
        {
            session.ReportFrom(model);
            session.ReportState(model.Game.Hash());
        }
    }
}
