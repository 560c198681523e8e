using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using PersonaEvo.Playtest;

/// <summary>
/// Six decisions of 2 to 4 choices; KEY mixes all choices so far, so that no two states are alike to a policy. With the
/// word "hidden" first, a coin that nobody knows is mixed in, too.
///
///     paths.exe [hidden]                              plays for the driver that started it
///     paths.exe [hidden] search FILE ITERATIONS SEED  searches by a policy file inside the game and prints what it found
///     paths.exe [hidden] play FILE GAME_SEED SEED     plays by a policy file and prints choices, and visits before each
/// </summary>
internal sealed class Paths : IWeightedModel, ISeededModel
{
    private const int Decisions = 6;
    private readonly SplitMix64 coins = new SplitMix64(0);
    private readonly bool hidden;
    private int key, made;

    private Paths(bool hidden)
    {
        this.hidden = hidden;
    }

    public int Count => made == Decisions ? 0 : 2 + (key + made) % 3;
    public double Score => key / 997.0;

    public void Begin(ulong seed)
    {
        key = made = 0;
        coins.State = seed;
    }

    public void Apply(int choice)
    {
        key = (key * 31 + 7 * choice + 13 + (hidden ? coins.Below(2) : 0)) % 997;
        made++;
    }

    public void Measure(double[] values)
    {
        values[0] = key;
        values[1] = made;
    }

    public object Save() => new[] { (ulong)key, (ulong)made, coins.State };

    public void Restore(object state)
    {
        var saved = (ulong[])state;
        key = (int)saved[0];
        made = (int)saved[1];
        coins.State = saved[2];
    }

    public double[] Weights()
    {
        var weights = new double[Count];
        weights[key % Count] = 1.0;
        weights[key / 7 % Count] += 0.25;
        return weights;
    }

    private static void Main(string[] arguments)
    {
        var words = new List<string>(arguments);
        var game = new Paths(words.Remove("hidden"));
        var session = new PlaytestSession("paths", "1", Decisions) { Model = game };
        session.Abilities = Abilities.Seed | Abilities.Weights;
        session.DeclareMetric("KEY", "all choices so far", 0, 996);
        session.DeclareMetric("ST", "decisions so far", 0, Decisions);
        if (words.Count == 0)
        {
            session.Run(() => game.Play(session));
            return;
        }
        try
        {
            Policy policy = Policy.Read(File.ReadAllText(words[1]), session.Symbols);
            var settings = new SearchSettings { Seed = ulong.Parse(words[3]) };
            if (words[0] == "search")
                game.Search(session, policy, settings, int.Parse(words[2]));
            else
                game.PlayBy(session, policy, settings, ulong.Parse(words[2]));
        }
        catch (PlaytestException e)
        {
            Console.WriteLine(e.Message);
        }
    }

    private void Search(PlaytestSession session, Policy policy, SearchSettings settings, int iterations)
    {
        settings.Iterations = iterations;
        var search = new TreeSearch(this, policy, session.Symbols.Count, settings);
        search.Choose();
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{0} {1} {2} {3:R}",
            search.Iterations, string.Join(",", search.RootVisits()), string.Join(",", search.Plan()), search.PlanUtility));
    }

    private void PlayBy(PlaytestSession session, Policy policy, SearchSettings settings, ulong seed)
    {
        session.LocalSeed = seed;
        var player = new TreeSearchPlayer(this, policy, session.Symbols.Count, settings);
        session.Player = player;
        int searches = 0;
        session.Run(() => Play(session, choice =>
        {
            bool thought = player.Searches > searches;
            searches = player.Searches;
            Console.WriteLine(choice + " " + (thought ? string.Join(",", player.Search.RootVisits()) : "-"));
        }));
    }

    private void Play(PlaytestSession session, Action<int> tell = null)
    {
        Begin(session.GameSeed);
        session.ReportFrom(this);
        while (Count > 0)
        {
            int choice = session.Select(Count, Weights());
            if (tell != null)
                tell(choice);
            Apply(choice);
            session.ReportFrom(this);
        }
        session.SupplyOutcome(Score);
    }
}
