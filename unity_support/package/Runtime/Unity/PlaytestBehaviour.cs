using System;
using UnityEngine;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// The session as a component that stays when scenes change. Put it on an object of the first scene, fill in the
    /// metrics, and call it from the game's code. Documentation~/index.md shows the loop.
    /// </summary>
    [DefaultExecutionOrder(-10000)]
    [DisallowMultipleComponent]
    [AddComponentMenu("Persona Evo/Playtest")]
    public sealed class PlaytestBehaviour : MonoBehaviour
    {
        /// <summary>A metric as the Inspector shows it.</summary>
        [Serializable]
        public sealed class DeclaredMetric
        {
            /// <summary>How formulas call it.</summary>
            [Tooltip("How formulas call it: letters, digits and _")]
            public string symbol = "";
            /// <summary>What it is, in words.</summary>
            [Tooltip("What it is, in words")]
            public string meaning = "";
            /// <summary>Whether low and high hold.</summary>
            [Tooltip("Whether low and high hold")]
            public bool bounded;
            /// <summary>The lowest value that it can have.</summary>
            public double low;
            /// <summary>The highest value that it can have.</summary>
            public double high = 1.0;
        }

        [SerializeField, Tooltip("Most decisions of a playthrough; it is cut off there")]
        private int maxDecisions = 10000;
        [SerializeField, Tooltip("All chance comes from UnityEngine.Random or Session.GameRandom, after BeginPlaythrough")]
        private bool seeded = true;
        [SerializeField, Tooltip("Some decisions have weights")]
        private bool weighted;
        [SerializeField, Tooltip("The game calls Session.TryRestore, and its model holds all that the state is; needs UseModel.")]
        private bool restorable;
        [SerializeField] private DeclaredMetric[] metrics = new DeclaredMetric[0];
        [SerializeField, Tooltip("Plays the game where there is no driver; needs UseModel.")]
        private TextAsset policy;
        [SerializeField, Tooltip("Rollouts of each search of the policy; 0 for as many as it was evolved with")]
        private int iterations;

        private bool failed, quitting;

        /// <summary>The component of the running game; null before the first scene has one.</summary>
        public static PlaytestBehaviour Instance { get; private set; }

        /// <summary>
        /// Raised when a playthrough ended before the game did: it was cut off, its prefix did not fit, or the game's code
        /// threw. The game starts the next one, as after SupplyOutcome.
        /// </summary>
        public event Action PlaythroughEnded;

        /// <summary>The session, for all that this component does not wrap.</summary>
        public PlaytestSession Session { get; private set; }

        /// <inheritdoc cref="PlaytestSession.IsDriverPresent"/>
        public bool IsDriverPresent => Session.IsDriverPresent;

        /// <summary>Whether a driver or the policy makes the choices, so the game asks TrySelect and no human.</summary>
        public bool IsAutomated => Session.IsAutomated;

        /// <inheritdoc cref="PlaytestSession.GameSeed"/>
        public ulong GameSeed => Session.GameSeed;

        /// <inheritdoc cref="PlaytestSession.DesignVariant"/>
        public string DesignVariant => Session.DesignVariant;

        /// <inheritdoc cref="PlaytestSession.Map"/>
        public string Map => Session.Map;

        /// <inheritdoc cref="PlaytestSession.Settings"/>
        public JsonValue Settings => Session.Settings;

        private void Awake()
        {
            if (Instance != null)
            {
                Destroy(gameObject);
                return;
            }
            Instance = this;
            DontDestroyOnLoad(gameObject);
            Session = new PlaytestSession(Application.productName, Application.version, maxDecisions, Attached());
            Session.Abilities = (seeded ? Abilities.Seed : Abilities.None) | (weighted ? Abilities.Weights : Abilities.None)
                | (restorable ? Abilities.Snapshots : Abilities.None);
            Session.Log = Debug.Log;
            foreach (DeclaredMetric m in metrics)
                Session.DeclareMetric(m.symbol, m.meaning, m.bounded ? m.low : double.NaN, m.bounded ? m.high : double.NaN);
            if (!Session.IsDriverPresent)
            {
                WarnOfMissingSession();
                return;
            }
            Application.runInBackground = true;
            Application.targetFrameRate = -1;
            QualitySettings.vSyncCount = 0;
            Application.logMessageReceived += OnLog;
        }

#if UNITY_EDITOR
        /// <summary>The port at which persona-evo connect attach listens unless it is told another.</summary>
        public const int AttachPort = 5730;
        private const string PortKey = "PersonaEvo.AttachPort", TokenKey = "PersonaEvo.AttachToken";

        /// <summary>
        /// Lets the next Play Mode connect to a driver that waits for it (persona-evo connect attach). The token is kept by
        /// this Editor session only, and used once.
        /// </summary>
        public static void AttachNext(int port, string token)
        {
            UnityEditor.SessionState.SetInt(PortKey, port);
            UnityEditor.SessionState.SetString(TokenKey, token.Trim());
        }

        private static DriverAddress Attached()
        {
            string token = UnityEditor.SessionState.GetString(TokenKey, "");
            if (token.Length == 0)
                return null;
            UnityEditor.SessionState.EraseString(TokenKey);
            return new DriverAddress { Port = UnityEditor.SessionState.GetInt(PortKey, AttachPort), Nonce = token };
        }
#else
        private static DriverAddress Attached() => null;
#endif

        /// <summary>A driver started a build that cannot see it: its log shows why nobody connects.</summary>
        private static void WarnOfMissingSession()
        {
#if !PERSONA_EVO && !UNITY_EDITOR
            if (Environment.GetEnvironmentVariable("PE_PORT") != null)
                Debug.LogWarning("persona-evo: this build has no playtest session; build it with the define PERSONA_EVO");
#endif
        }

        private void OnDestroy()
        {
            if (Instance != this)
                return;
            Application.logMessageReceived -= OnLog;
            Session.Dispose();
            Instance = null;
        }

        /// <summary>
        /// Sets the forward model of the game, before the first playthrough. The driver's lookahead, save-states and the
        /// policy file that plays without a driver use it.
        /// </summary>
        public void UseModel(IForwardModel model)
        {
            Session.Model = model;
            if (policy == null || Session.IsDriverPresent)
                return;
            Policy read = Policy.Read(policy.text, Session.Symbols);
            Session.Player = new TreeSearchPlayer(model, read, Session.Symbols.Count,
                new SearchSettings { Iterations = iterations });
        }

        /// <summary>
        /// Waits for the driver's next order and seeds UnityEngine.Random and Session.GameRandom; the game then sets itself
        /// up. False when there are no more: the application quits, and the game does nothing any more.
        /// </summary>
        public bool BeginPlaythrough()
        {
            if (quitting)
                return false;
            try
            {
                Session.BeginPlaythrough();
            }
            catch (PlaytestException e)
            {
                Quit(e.Message);
                return false;
            }
            Reseed(0);
            return true;
        }

        /// <summary>
        /// Seeds UnityEngine.Random from GameSeed and the number of a part of the game, such as a day: its luck is then the
        /// same however often random numbers were drawn in the parts before. Does nothing where a human plays.
        /// </summary>
        public void Reseed(int part)
        {
            if (Session.IsAutomated)
            {
                ulong own = unchecked(new SplitMix64(GameSeed).Next() + (ulong)part);
                UnityEngine.Random.InitState(unchecked((int)new SplitMix64(own).Next()));
            }
        }

        /// <summary>
        /// One decision. False when the game is to return at once: the application quits, or PlaythroughEnded was raised.
        /// </summary>
        public bool TrySelect(int count, out int choice, double[] weights = null)
        {
            choice = 0;
            if (failed || quitting)
                return false;
            try
            {
                choice = Session.Select(count, weights);
                return true;
            }
            catch (ExperimentFinishedException e)
            {
                Quit(e.Message);
            }
            catch (PlaythroughEndedException)
            {
                End();
            }
            return false;
        }

        /// <summary>
        /// Reports the value of a metric from now on: before each TrySelect, and once more before SupplyOutcome, since the
        /// last reported values count for the playthrough's end.
        /// </summary>
        public void ReportMetric(string symbol, double value)
        {
            Session.ReportMetric(symbol, value);
        }

        /// <summary>Reports the score so far, which counts if the playthrough is cut off.</summary>
        public void ReportScore(double score)
        {
            Session.ReportScore(score);
        }

        /// <inheritdoc cref="PlaytestSession.ReportState"/>
        public void ReportState(ulong hash)
        {
            Session.ReportState(hash);
        }

        /// <summary>Ends the playthrough with its score; the game then starts the next one.</summary>
        public void SupplyOutcome(double score)
        {
            try
            {
                Session.SupplyOutcome(score);
            }
            catch (ExperimentFinishedException e)
            {
                Quit(e.Message);
            }
        }

        private void OnLog(string message, string trace, LogType type)
        {
            if (type != LogType.Exception || !Session.IsPlaying)
                return;
            try
            {
                Session.FailPlaythrough(message + " (" + (trace ?? "").Split('\n')[0].Trim() + ")\n" + trace);
            }
            catch (ExperimentFinishedException e)
            {
                Quit(e.Message);
                return;
            }
            failed = true;
        }

        /// <summary>The next playthrough begins in a frame of its own, and not inside of what threw.</summary>
        private void Update()
        {
            if (!failed)
                return;
            failed = false;
            End();
        }

        private void End()
        {
            Action ended = PlaythroughEnded;
            if (ended != null)
                ended();
        }

        private void Quit(string why)
        {
            quitting = true;
            Debug.Log("persona-evo: " + why);
            Application.Quit();
#if UNITY_EDITOR
            UnityEditor.EditorApplication.isPlaying = false;
#endif
        }
    }
}
