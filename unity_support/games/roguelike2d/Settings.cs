using System.Collections.Generic;

namespace PersonaEvo.Playtest.Games.Roguelike2d
{
    /// <summary>What an experiment sets: `variant`, `player` and `days`, all of which may be left out.</summary>
    public sealed class Settings
    {
        public static readonly IDictionary<string, Player> Players = new Dictionary<string, Player>
        {
            { "unrestricted", Player.Unrestricted },
            { "factored", Player.Factored },
            { "forward_only", Player.ForwardOnly },
        };

        private const int UsualDays = 10;

        public readonly Variant Variant;
        public readonly Player Player;
        public readonly int Days;

        /// <exception cref="PlaytestException">A setting is none that the game has; the message says what it may be.</exception>
        public Settings(PlaytestSession session)
        {
            Variant = Known(Variant.All, session.DesignVariant, "variant", "default");
            Player = Known(Players, session.Settings["player"].AsString(), "player", "unrestricted");
            Days = session.Settings["days"].AsInt(UsualDays);
            if (Days < 1 || Days > Roguelike.MostDays)
                throw new PlaytestException("the setting days is " + Days + ", expected from 1 to " + Roguelike.MostDays);
        }

        private static T Known<T>(IDictionary<string, T> known, string word, string name, string usual)
        {
            T found;
            if (known.TryGetValue(word == "" ? usual : word, out found))
                return found;
            throw new PlaytestException("the setting " + name + " is '" + word + "', expected "
                + string.Join(" or ", new List<string>(known.Keys)));
        }
    }
}
