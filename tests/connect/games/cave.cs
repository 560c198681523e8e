using System;
using System.Threading;
using PersonaEvo.Playtest;

/// <summary>
/// A cave of 30 forks whose every step costs the game some work, as physics would: about a tenth of a millisecond. The
/// first argument turns save-states on or off.
/// </summary>
internal sealed class Cave : IForwardModel
{
    private const int Forks = 30;
    private static long steps, restored;
    private ulong place;
    private int made;

    public int Count => made == Forks ? 0 : 2;
    public double Score => (place >> 40) % 1000;

    public void Apply(int choice)
    {
        for (int i = 0; i < 40000; i++)
            place = (place ^ (ulong)(choice + i)) * 1099511628211UL;
        made++;
        steps++;
    }

    public void Measure(double[] values) { values[0] = made; }
    public object Save() => new object[] { place, made };

    public void Restore(object state)
    {
        place = (ulong)((object[])state)[0];
        made = (int)((object[])state)[1];
        restored++;
    }

    private static int Main(string[] words)
    {
        var cave = new Cave();
        var session = new PlaytestSession("cave", "1", Forks) { Model = cave, Abilities = Abilities.Seed };
        if (words[0] == "on")
            session.Abilities |= Abilities.Snapshots;
        session.DeclareMetric("ST", "forks so far", 0, Forks);
        session.Run(() => cave.Play(session));
        Console.WriteLine("steps " + steps + " restored " + restored);
        return 0;
    }

    private void Play(PlaytestSession session)
    {
        if (!session.TryRestore())
        {
            place = session.GameSeed;
            made = 0;
        }
        for (; Count > 0; Apply(session.Select(Count)))
            session.ReportFrom(this);
        session.ReportFrom(this);
        session.SupplyOutcome(Score);
    }
}
