using System;
using System.Collections.Generic;
using System.Diagnostics;

namespace PersonaEvo.Playtest
{
    /// <summary>What a game can do beyond the minimum, as the driver is told.</summary>
    [Flags]
    public enum Abilities
    {
        /// <summary>Nothing.</summary>
        None = 0,
        /// <summary>All its chance comes from GameSeed, which every BeginPlaythrough sets.</summary>
        Seed = 1,
        /// <summary>Some of its decisions have weights.</summary>
        Weights = 2,
        /// <summary>It calls ReportState.</summary>
        Hash = 4,
        /// <summary>It looks at Settings, DesignVariant and Map anew in every playthrough.</summary>
        Maps = 8,
        /// <summary>It calls TryRestore, and Save and Restore of its Model hold all that the state is.</summary>
        Snapshots = 16
    }

    /// <summary>
    /// A game's side of a playtest. Declare the metrics, Connect, then again and again: BeginPlaythrough, set the game up
    /// from GameSeed, Select at each decision, ReportMetric when a number changes, SupplyOutcome at the end.
    /// Without a driver nothing is sent, and Select asks Player or draws at random.
    /// </summary>
    public sealed partial class PlaytestSession : IDisposable
    {
        private const int ConnectMilliseconds = 10000;
        private const int HandshakeMilliseconds = 5000;

        private readonly DriverAddress address;
        private readonly MetricTable metrics = new MetricTable();
        private readonly Trace trace = new Trace();
        private readonly Rollout rollout = new Rollout();
        private readonly Dictionary<uint, SentPolicy> policies = new Dictionary<uint, SentPolicy>();
        private readonly Stopwatch clock = new Stopwatch();
        private SplitMix64 localSeeds;
        private SplitMix64 choices = new SplitMix64(0);
        private readonly JsonValue given = JsonValue.Null;
        private DriverLink link;
        private bool playing;
        private double lastScore;
        private ulong stateHash;
        private bool hashed;

        /// <param name="game">The game's name.</param>
        /// <param name="version">The game's version; it changes when the game plays differently.</param>
        /// <param name="maxDecisions">A playthrough of more decisions is cut off there.</param>
        /// <param name="driver">Where the driver is; null looks into the environment.</param>
        /// <exception cref="PlaytestException">The environment is not one that a driver sets up.</exception>
        public PlaytestSession(string game, string version, int maxDecisions = 10000, DriverAddress driver = null)
        {
            if (maxDecisions < 1 || maxDecisions > Protocol.MostDecisions)
                throw new ArgumentOutOfRangeException("maxDecisions", maxDecisions, "expected 1 to " + Protocol.MostDecisions);
            if (string.IsNullOrWhiteSpace(game) || version == null || game.Length > 200 || version.Length > 200)
                throw new ArgumentException("a game has a name and a version of at most 200 characters");
            Game = game;
            Version = version;
            MaxDecisions = maxDecisions;
            address = driver ?? DriverAddress.FromEnvironment();
            Settings = JsonValue.Null;
            DesignVariant = Map = "";
            LocalSeed = unchecked((ulong)DateTime.UtcNow.Ticks);
            GameRandom = new SplitMix64(LocalSeed);
            if (address == null)
                return;
            given = JsonValue.Parse(address.Settings);
            TakeSettings(JsonValue.Null);
        }

        /// <summary>The game's name.</summary>
        public string Game { get; }

        /// <summary>The game's version.</summary>
        public string Version { get; }

        /// <summary>Decisions of a playthrough at most.</summary>
        public int MaxDecisions { get; }

        /// <summary>What the driver may ask for beyond plain playthroughs; set before Connect.</summary>
        public Abilities Abilities { get; set; }

        /// <summary>Whether the game was started by a driver, which then makes the choices.</summary>
        public bool IsDriverPresent => address != null;

        /// <summary>Whether choices come from this session: a driver or Player is there, so no human plays.</summary>
        public bool IsAutomated => IsDriverPresent || Player != null;

        /// <summary>The driver's number for this process, from 0.</summary>
        public int Worker => address != null ? address.Worker : 0;

        /// <summary>The experiment's settings, an object; Null without a driver.</summary>
        public JsonValue Settings { get; private set; }

        /// <summary>Which variant of the design is to be played, "" for the usual one.</summary>
        public string DesignVariant { get; set; }

        /// <summary>Which map is to be played, "" for the usual one.</summary>
        public string Map { get; set; }

        /// <summary>The seed of all chance in this playthrough.</summary>
        public ulong GameSeed { get; private set; }

        /// <summary>
        /// Random numbers from GameSeed, which BeginPlaythrough starts anew. A game should draw all chance from them.
        /// </summary>
        public SplitMix64 GameRandom { get; private set; }

        /// <summary>Makes the choices where there is no driver; null draws at random, by weights where there are any.</summary>
        public IPlayer Player { get; set; }

        /// <summary>The game as a forward model. Set before Connect, it lets the driver's policies look one step ahead.</summary>
        public IForwardModel Model { get; set; }

        /// <summary>Receives messages that are no errors; null ignores them.</summary>
        public Action<string> Log { get; set; }

        /// <summary>The declared metrics.</summary>
        public IList<MetricInfo> Metrics => metrics.Infos;

        /// <summary>Their symbols, in the same order.</summary>
        public IList<string> Symbols => metrics.Symbols;

        /// <summary>Whether a playthrough has begun and has no outcome yet.</summary>
        public bool IsPlaying => playing;

        /// <summary>Decisions made in this playthrough.</summary>
        public int Decisions => trace.Count;

        /// <summary>The score supplied last, 0 if none was.</summary>
        public double LastScore => lastScore;

        /// <summary>Seeds playthroughs without a driver: the first has this seed as GameSeed, others follow from it.</summary>
        public ulong LocalSeed
        {
            get { return localSeed; }
            set
            {
                localSeed = value;
                localSeeds = null;
            }
        }

        private ulong localSeed;

        /// <summary>Declares a metric, before Connect. NaN stands for no bound.</summary>
        /// <exception cref="ArgumentException">The symbol is not valid, already declared, or used by the search.</exception>
        public void DeclareMetric(string symbol, string name = "", double low = double.NaN, double high = double.NaN)
        {
            if (link != null)
                throw new InvalidOperationException("metrics are declared before Connect");
            metrics.Declare(new MetricInfo(symbol, name ?? "", low, high));
        }

        /// <summary>Greets the driver; does nothing without one.</summary>
        /// <exception cref="PlaytestException">The driver does not answer, or rejects the game. The message says why.</exception>
        public void Connect()
        {
            if (address == null || link != null)
                return;
            string hello = Hello();
            if (FrameWriter.Utf8.GetByteCount(hello) > Protocol.MostHello)
                throw new PlaytestException("the greeting takes more than " + Protocol.MostHello
                    + " bytes; declare fewer metrics or give them shorter names");
            link = DriverLink.Connect(address, ConnectMilliseconds);
            try
            {
                link.ReadTimeout = HandshakeMilliseconds;
                link.SendText(FrameType.Hello, hello);
                Welcome();
                link.ReadTimeout = 0;
            }
            catch (PlaytestException)
            {
                Dispose();
                throw;
            }
        }

        /// <summary>
        /// Waits for the driver's next order and seeds GameRandom; the game then sets itself up. Without a driver it only
        /// draws the next seed.
        /// </summary>
        /// <exception cref="ExperimentFinishedException">There are no more orders: the game quits.</exception>
        public void BeginPlaythrough()
        {
            if (playing && link != null)
                throw new InvalidOperationException("the playthrough before has no outcome: SupplyOutcome or FailPlaythrough");
            if (IsDriverPresent)
            {
                Connect();
                AwaitRollout();
            }
            else
            {
                localSeeds = localSeeds ?? new SplitMix64(LocalSeed);
                rollout.GameSeed = localSeeds.State;
                rollout.RolloutSeed = localSeeds.Next();
                Player?.Begin();
            }
            GameSeed = rollout.GameSeed;
            GameRandom = new SplitMix64(GameSeed);
            choices = new SplitMix64(rollout.RolloutSeed);
            trace.Clear();
            metrics.Clear();
            lastScore = 0.0;
            hashed = false;
            playing = true;
            clock.Restart();
        }

        /// <summary>One decision: a choice from 0 to count - 1.</summary>
        /// <param name="count">How many choices there are, 1 to 65,534.</param>
        /// <param name="weights">How likely a guess should take each, or null; only rollouts by weights read it.</param>
        /// <exception cref="ExperimentFinishedException">There are no more orders: the game quits.</exception>
        /// <exception cref="PlaythroughEndedException">The game starts the next playthrough.</exception>
        public int Select(int count, double[] weights = null)
        {
            Check(count, weights);
            if (!playing)
                BeginPlaythrough();
            if (link == null)
                return Local(count, weights);
            int depth = trace.Count;
            if (depth >= MaxDecisions)
            {
                Show();
                throw End(PlaythroughStatus.Truncated, "", "after " + depth + " decisions");
            }
            Show();
            if (depth < rollout.Length)
                return Prescribed(depth, count);
            if (depth == rollout.Length && rollout.Snapshot != 0)
                Keep();
            int choice = ByRule(count, weights);
            Record(choice, count);
            return choice;
        }

        /// <summary>The same with whole numbers as weights.</summary>
        public int Select(int count, int[] weights) =>
            Select(count, weights == null ? null : Array.ConvertAll(weights, w => (double)w));

        /// <summary>Reports the value of a metric from now on. It is 0 at the start of every playthrough.</summary>
        /// <exception cref="ArgumentException">No such metric is declared, or the value is no finite f32.</exception>
        public void ReportMetric(string symbol, double value)
        {
            metrics.Set(symbol, value);
        }

        /// <summary>Reports all metrics and the score as a model measures them in its present state.</summary>
        /// <exception cref="ArgumentException">A value is no finite number of 32 bits, or the score is not finite.</exception>
        public void ReportFrom(IForwardModel model)
        {
            var values = new double[metrics.Count];
            model.Measure(values);
            for (int i = 0; i < values.Length; i++)
                metrics.Set(Symbols[i], values[i]);
            ReportScore(model.Score);
        }

        /// <summary>Returns the value that was reported last for a metric.</summary>
        public float Metric(string symbol) => metrics.Get(symbol);

        /// <summary>Reports the score so far, which counts if the playthrough is cut off.</summary>
        /// <exception cref="ArgumentException">The score is not finite.</exception>
        public void ReportScore(double score)
        {
            if (!Finite(score))
                throw new ArgumentException("the score of " + Game + " is not finite: " + score);
            lastScore = score;
        }

        /// <summary>Reports a hash of the game's state (see Fnv), by which the driver tells states apart.</summary>
        public void ReportState(ulong hash)
        {
            stateHash = hash;
            hashed = true;
        }

        /// <summary>Ends the playthrough with its score, any finite number.</summary>
        /// <exception cref="ExperimentFinishedException">The driver is gone: the game quits.</exception>
        public void SupplyOutcome(double score)
        {
            if (!playing)
                throw new InvalidOperationException("there is no playthrough to end; call BeginPlaythrough first");
            lastScore = score;
            if (link == null)
                playing = false;
            else if (!Finite(score))
                Finish(PlaythroughStatus.Exception, "the score of " + Game + " is not finite: " + score);
            else if (trace.Count < rollout.Length)
                PrefixLeft();
            else
            {
                Show();
                Finish(PlaythroughStatus.Ok, "");
            }
        }

        /// <summary>Ends the playthrough, if there is one, because the game's code failed.</summary>
        /// <exception cref="ExperimentFinishedException">The driver is gone: the game quits.</exception>
        public void FailPlaythrough(Exception error)
        {
            string said = error.ToString();
            int end = (said + "\n").IndexOf('\n');
            FailPlaythrough(said.Insert(end, Place(error)));
        }

        /// <summary>
        /// The method of the game's own code in which an exception was raised, for the first line of a message.
        /// </summary>
        private static string Place(Exception error)
        {
            foreach (StackFrame frame in new StackTrace(error).GetFrames() ?? new StackFrame[0])
            {
                Type owner = frame.GetMethod() == null ? null : frame.GetMethod().DeclaringType;
                if (owner != null && owner.Assembly != typeof(object).Assembly)
                    return " (in " + owner.Name + "." + frame.GetMethod().Name + ")";
            }
            return "";
        }

        /// <summary>The same, in words.</summary>
        public void FailPlaythrough(string message)
        {
            if (playing && link != null)
                Finish(PlaythroughStatus.Exception, message);
            playing = false;
        }

        /// <summary>
        /// The loop of a console game: playthroughs until the driver has no more orders, or one without a driver.
        /// </summary>
        /// <param name="playthrough">Plays the game once, from its set-up to SupplyOutcome.</param>
        public void Run(Action playthrough)
        {
            try
            {
                do
                {
                    BeginPlaythrough();
                    Once(playthrough);
                } while (IsDriverPresent);
            }
            catch (ExperimentFinishedException e)
            {
                Tell(e.Message);
            }
        }

        /// <summary>Closes the connection.</summary>
        public void Dispose()
        {
            link?.Dispose();
        }

        private void Once(Action playthrough)
        {
            if (link == null)
            {
                playthrough();
                return;
            }
            try
            {
                playthrough();
                if (playing)
                    throw new InvalidOperationException("the game returned without SupplyOutcome");
            }
            catch (ExperimentFinishedException)
            {
                throw;
            }
            catch (PlaythroughEndedException)
            {
            }
            catch (Exception e)
            {
                FailPlaythrough(e);
            }
        }

        private int Local(int count, double[] weights)
        {
            int choice = Player != null ? Player.Choose(count, weights)
                : weights != null ? choices.Weighted(weights) : choices.Below(count);
            if (choice < 0 || choice >= count)
                throw new InvalidOperationException("the player chose " + choice + " of " + count);
            trace.Add(choice, count);
            return choice;
        }

        private static void Check(int count, double[] weights)
        {
            if (count < 1 || count > Protocol.MostChoices)
                throw new ArgumentOutOfRangeException("count", count, "a decision has 1 to " + Protocol.MostChoices + " choices");
            if (weights == null)
                return;
            if (weights.Length != count)
                throw new ArgumentException(weights.Length + " weights for " + count + " choices");
            SplitMix64.CheckedSum(weights);
        }

        private static bool Finite(double value) => !double.IsNaN(value) && !double.IsInfinity(value);

        private void Tell(string text)
        {
            if (Log != null)
                Log(text);
        }
    }
}
