using System;

namespace PersonaEvo.Games.Roguelike2d
{
    /// <summary>Words of an experiment's settings.</summary>
    public static class Settings
    {
        public const string Players = "unrestricted, factored or forward_only";
        public const int Days = 10;

        public static bool TryPlayer(string word, out Player player)
        {
            player = word == "factored" ? Player.Factored
                : word == "forward_only" ? Player.ForwardOnly : Player.Unrestricted;
            return Array.IndexOf(new[] { "unrestricted", "factored", "forward_only" }, word) >= 0;
        }
    }
}
