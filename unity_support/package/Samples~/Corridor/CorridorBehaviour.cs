using PersonaEvo.Playtest;
using UnityEngine;

namespace PersonaEvo.Playtest.Samples
{
    /// <summary>
    /// The corridor in a scene, next to a PlaytestBehaviour with the metrics ST, COINS and OUT (see Corridor.unity). A
    /// driver or a policy file plays it, or a human with two buttons.
    /// </summary>
    public sealed class CorridorBehaviour : MonoBehaviour
    {
        private readonly CorridorGame game = new CorridorGame();
        private PlaytestBehaviour playtest;
        private bool running;

        private void Start()
        {
            playtest = PlaytestBehaviour.Instance;
            playtest.UseModel(game);
            playtest.PlaythroughEnded += Begin;
            Begin();
        }

        private void OnDestroy()
        {
            if (playtest != null)
                playtest.PlaythroughEnded -= Begin;
        }

        private void Begin()
        {
            running = playtest.BeginPlaythrough();
            if (!running || playtest.Session.TryRestore())
                return;
            game.Start(playtest.Map, playtest.Session.GameRandom);
            game.ReportTo(playtest.Session);
        }

        private void Update()
        {
            int choice;
            if (!running || !playtest.IsAutomated || !playtest.TrySelect(game.Count, out choice, game.Weights()))
                return;
            Move(choice);
        }

        private void OnGUI()
        {
            GUILayout.Label("cell " + game.At + ", steps " + game.Steps + ", coins " + game.CoinShare);
            if (!running || playtest.IsAutomated)
                return;
            if (game.At > 0 && GUILayout.Button("left"))
                Move(0);
            else if (GUILayout.Button("right"))
                Move(game.Count - 1);
        }

        private void Move(int choice)
        {
            game.Apply(choice);
            game.ReportTo(playtest.Session);
            if (!game.IsOver)
                return;
            playtest.SupplyOutcome(game.Score);
            Begin();
        }
    }
}
