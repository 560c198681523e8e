using System;
using System.Globalization;
using System.IO;
using PersonaEvo.Playtest;

/// <summary>
/// Six decisions of 2 to 4 choices; KEY mixes all choices so far, so that no two states are alike to a policy.
///
///     paths.exe                               plays for the driver that started it
///     paths.exe search FILE ITERATIONS SEED   searches by a policy file inside the game and prints what it found
/// </summary>
internal sealed class Paths : IWeightedModel
{
    private const int Decisions = 6;
    private int key, made;

    public int Count { get { return made == Decisions ? 0 : 2 + (key + made) % 3; } }
    public double Score { get { return key / 997.0; } }

    public void Apply(int choice)
    {
        key = (key * 31 + 7 * choice + 13) % 997;
        made++;
    }

    public void Measure(double[] values)
    {
        values[0] = key;
        values[1] = made;
    }

    public object Save() { return new[] { key, made }; }

    public void Restore(object state)
    {
        key = ((int[])state)[0];
        made = ((int[])state)[1];
    }

    public double[] Weights()
    {
        var weights = new double[Count];
        weights[key % Count] = 1.0;
        return weights;
    }

    private static int Main(string[] words)
    {
        var game = new Paths();
        var session = new PlaytestSession("paths", "1", Decisions) { Abilities = Abilities.Seed | Abilities.Weights, Model = game };
        session.DeclareMetric("KEY", "all choices so far", 0, 996);
        session.DeclareMetric("ST", "decisions so far", 0, Decisions);
        if (words.Length == 4)
        {
            var settings = new SearchSettings { Iterations = int.Parse(words[2]), Seed = ulong.Parse(words[3]) };
            game.Search(session, Policy.Read(File.ReadAllText(words[1]), session.Symbols), settings);
        }
        else
            session.Run(() => game.Play(session));
        return 0;
    }

    private void Search(PlaytestSession session, Policy policy, SearchSettings settings)
    {
        var search = new TreeSearch(this, policy, session.Symbols.Count, settings);
        search.Choose();
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{0} {1} {2} {3:R}",
            search.Iterations, string.Join(",", search.RootVisits()), string.Join(",", search.Plan()), search.PlanUtility));
    }

    private void Play(PlaytestSession session)
    {
        key = made = 0;
        Report(session);
        while (Count > 0)
        {
            Apply(session.Select(Count, Weights()));
            Report(session);
        }
        session.SupplyOutcome(Score);
    }

    private void Report(PlaytestSession session)
    {
        session.ReportMetric("KEY", key);
        session.ReportMetric("ST", made);
    }
}
